"""Fetch a source as an immutable snapshot in the cache; network and archive code is imported on demand."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import paths
from workbench.base.read_only import must_write
from workbench.repository.problems import ChecksumMismatch
from workbench.repository.sources import Source, checked_sha256, parse_source
from workbench.repository.store import Known, Snapshot, Store, require_digest

if TYPE_CHECKING:
    from workbench.repository.tree import Limits

# A file modified less than this before being copied may change again without its time stamp changing.
_RACY_SECONDS = 1.0


def fetch(
    source: Source | str,
    *,
    cache: Path | None = None,
    expected_sha256: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Snapshot:
    """Return a repository's snapshot, copying it into the cache unless it is already there.

    A pinned release, a git revision and an unchanged folder are fetched once and then need no network. A remote branch
    stays at the fetched commit until `forget` is called. ``expected_sha256`` is the checksum of the archive or source
    distribution, else of the snapshot.

    Raises:
        BadSource: The text is not a valid source.
        SourceUnavailable: The source cannot be reached.
        ChecksumMismatch: The content differs from the pinned one.
        UnsafeArchive: The content is too large, or would be written outside its folder.
        FetchError: Anything else went wrong, such as a full disk.
    """
    from workbench.repository.tree import Limits

    source = parse_source(source) if isinstance(source, str) else source
    pins = {checked_sha256(pin) for pin in (expected_sha256, source.sha256) if pin}
    if len(pins) > 1:
        raise ChecksumMismatch(f"{source.name} is pinned to two different checksums; correct one of them.")
    pin = pins.pop() if pins else ""
    cache = Path(cache or paths.cache_dir()).absolute()
    progress = progress or (lambda _: None)
    limits = Limits()
    if source.kind == "folder":
        return _fetch_folder(source, Store(cache), cache, limits, pin, progress)
    must_write("fetch sources")
    if source.kind == "git":
        from workbench.repository.clones import fetch_revision

        return fetch_revision(source, Store(cache), limits, pin, progress)
    from workbench.repository.archives import fetch_archive

    return fetch_archive(source, Store(cache), limits, pin, progress)


def cached(source: Source | str, *, cache: Path | None = None, expected_sha256: str | None = None) -> Snapshot | None:
    """Return the cached snapshot of a source that cannot have changed, or None; never uses the network.

    None for folders, local archives and local repositories: `fetch` checks whether they changed.
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
    """Make the next `fetch` of a source ignore the cache, for example because a branch has moved."""
    source = parse_source(source) if isinstance(source, str) else source
    Store(Path(cache or paths.cache_dir()).absolute()).forget(str(replace(source, sha256="")))


def text_in_cache(digest: str, path: str, *, cache: Path | None = None) -> str:
    return Store(Path(cache or paths.cache_dir()).absolute()).text(digest, path)


def texts_in_cache(digest: str, wanted: Callable[[str], bool], *, cache: Path | None = None) -> dict[str, str] | None:
    """Return the wanted texts of a snapshot by path; None if the cache does not have all of them."""
    return Store(Path(cache or paths.cache_dir()).absolute()).texts(digest, wanted)


def _fetch_folder(
    source: Source, store: Store, cache: Path, limits: Limits, pin: str, progress: Callable[[str], None]
) -> Snapshot:
    from workbench.repository import folders

    started = time.time()
    found = folders.scan(Path(source.location), without=cache, limits=limits, progress=progress)
    signature, latest = folders.signature(found)
    known = store.recall(str(source))
    if known is not None and known.signature == signature and (snapshot := store.load(known)) is not None:
        return require_digest(snapshot, pin)
    progress(f"Copying {len(found):,} files of {source.name}…")
    with store.workspace() as workspace:
        origin = f"The folder {source.location}"
        tree = folders.copy(found, workspace / "tree", origin=origin, limits=limits, progress=progress)
        unchanging = signature if started - latest > _RACY_SECONDS else "just changed"
        known = Known(str(source), tree.digest, "", unchanging, started)
        return require_digest(store.publish(workspace, tree, known), pin)
