"""From a source to an immutable snapshot in the cache.

What needs the network or an archive format lives in a module of its own, imported when it is needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import paths
from workbench.repository.problems import ChecksumMismatch
from workbench.repository.sources import Source, checked_sha256, parse_source
from workbench.repository.store import Known, Snapshot, Store, require_digest

if TYPE_CHECKING:
    from workbench.repository.tree import Limits

# A file changed within this time of being copied may have been changed again within one tick of its clock.
_RACY_SECONDS = 1.0


def fetch(
    source: Source | str,
    *,
    cache: Path | None = None,
    expected_sha256: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Snapshot:
    """Copy a repository into the cache, or find it there.

    A pinned release, a git revision and an unchanged folder are fetched once; afterwards no network is used. A branch
    stays at the commit that was fetched until `forget` is called.

    Args:
        source: A source or its text.
        cache: Folder of the cache; `paths.cache_dir()` unless given.
        expected_sha256: Checksum that the archive (of an archive or source distribution) or the snapshot (of a folder
            or git source) must have.
        progress: Called with short sentences while it runs.

    Raises:
        BadSource: The text names no source.
        SourceUnavailable: It is out of reach.
        ChecksumMismatch: Something else than the pinned content arrived.
        UnsafeArchive: It is oversized, or would write outside its folder.
        FetchError: Anything else that went wrong, such as a full disk.
    """
    from workbench.repository.tree import Limits

    source = parse_source(source) if isinstance(source, str) else source
    pins = {checked_sha256(pin) for pin in (expected_sha256, source.sha256) if pin}
    if len(pins) > 1:
        raise ChecksumMismatch(f"{source.name} is pinned to two different checksums; correct one of them.")
    pin = pins.pop() if pins else ""
    cache = Path(cache or paths.cache_dir()).absolute()
    tell = progress or (lambda _: None)
    limits = Limits()
    if source.kind == "folder":
        return _fetch_folder(source, Store(cache), cache, limits, pin, tell)
    if source.kind == "git":
        from workbench.repository.clones import fetch_revision

        return fetch_revision(source, Store(cache), limits, pin, tell)
    from workbench.repository.archives import fetch_archive

    return fetch_archive(source, Store(cache), limits, pin, tell)


def cached(source: Source | str, *, cache: Path | None = None, expected_sha256: str | None = None) -> Snapshot | None:
    """Return the snapshot of a source that was fetched before and cannot have changed, or None; uses no network.

    Folders, local archives and local branches are never answered from here: `fetch` looks whether they changed.
    """
    source = parse_source(source) if isinstance(source, str) else source
    pin = checked_sha256(expected_sha256) if expected_sha256 else source.sha256
    if source.kind in {"folder", "archive"} or source.location.startswith("file://"):
        return None
    store = Store(Path(cache or paths.cache_dir()).absolute())
    known = store.recall(str(replace(source, sha256="")))
    if known is None or (source.kind == "sdist" and pin and known.revision != f"sha256:{pin}"):
        return None
    if source.kind == "git" and pin and known.digest != pin:
        return None
    return store.load(known)


def forget(source: Source | str, *, cache: Path | None = None) -> None:
    """Make the next `fetch` of a source look for it anew: a branch may have moved on."""
    source = parse_source(source) if isinstance(source, str) else source
    Store(Path(cache or paths.cache_dir()).absolute()).forget(str(replace(source, sha256="")))


def _fetch_folder(
    source: Source, store: Store, cache: Path, limits: Limits, pin: str, tell: Callable[[str], None]
) -> Snapshot:
    from workbench.repository import folders

    started = time.time()
    found = folders.scan(Path(source.location), without=cache, limits=limits, tell=tell)
    signature, latest = folders.signature(found)
    known = store.recall(str(source))
    if known is not None and known.signature == signature and (snapshot := store.load(known)) is not None:
        return require_digest(snapshot, pin)
    tell(f"Copying {len(found):,} files of {source.name}…")
    with store.workspace() as workspace:
        origin = f"The folder {source.location}"
        tree = folders.copy(found, workspace / "tree", origin=origin, limits=limits, tell=tell)
        unchanging = signature if started - latest > _RACY_SECONDS else "just changed"
        known = Known(str(source), tree.digest, "", unchanging, started)
        return require_digest(store.publish(workspace, tree, known), pin)
