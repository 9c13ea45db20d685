"""Fetch a source as an immutable snapshot in the cache; network and archive code is imported on demand."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import paths
from workbench.base.read_only import must_write
from workbench.repository.sources import (
    ChecksumMismatch,
    Source,
    SourceUnavailable,
    UnsafeArchive,
    checked_sha256,
    parse_source,
    reason,
    shown,
)
from workbench.repository.store import ResolvedSource, Snapshot, Store, require_digest
from workbench.repository.tree import SnapshotLimits, SnapshotTree, TreeBuilder

if TYPE_CHECKING:
    from workbench.repository.tree import SnapshotLimits


_SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".svn", "__pycache__", "node_modules", ".tox", ".nox", ".eggs", ".mypy_cache", ".pytest_cache"}
    | {".ruff_cache", ".hypothesis", ".ipynb_checkpoints", "__pypackages__", ".venv", ".import_linter_cache"}
)
_SKIPPED_FILES = frozenset({".git", ".DS_Store", ".coverage"})
_SKIPPED_ENDINGS = (".pyc", ".pyo", ".egg-info")


@dataclass(frozen=True, slots=True)
class ScannedEntry:
    """An entry of a scanned folder with its ``stat`` result; links are not followed."""

    path: str
    place: str
    status: os.stat_result


def scan(folder: Path, *, without: Path, limits: SnapshotLimits, progress: Callable[[str], None]) -> list[ScannedEntry]:
    """Return the files and links in a project's folder, sorted by path.

    ``without`` is a folder to skip, because the cache itself may be inside the project. ``progress`` receives a
    sentence about each unreadable entry.

    Raises:
        SourceUnavailable: The folder does not exist or cannot be listed.
        UnsafeArchive: The folder exceeds the size limits.
    """
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "does not exist"
        raise SourceUnavailable(f"The folder {shown(str(folder))} {what}; check the path.")
    found: list[ScannedEntry] = []
    total = 0
    for entry in _walk(str(folder), str(without), progress):
        found.append(entry)
        total += entry.status.st_size
        if len(found) > limits.entries or total > limits.total_bytes:
            raise UnsafeArchive(
                f"The folder {shown(str(folder))} has more than {limits.entries:,} files or "
                f"{limits.total_bytes // 1_000_000:,} MB; name the project's own folder inside it."
            )
    return sorted(found, key=lambda item: item.path)


def signature(found: list[ScannedEntry]) -> tuple[str, float]:
    """Return a digest of all names, sizes, modes and times, and the latest modification time (Unix seconds)."""
    digest = hashlib.sha256()
    latest = 0
    for item in found:
        status = item.status
        latest = max(latest, status.st_mtime_ns, status.st_ctime_ns)
        line = f"{item.path}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ctime_ns}\0{status.st_mode}\n"
        digest.update(line.encode())
    return digest.hexdigest(), latest / 1e9


def copy(
    found: list[ScannedEntry], root: Path, *, origin: str, limits: SnapshotLimits, progress: Callable[[str], None]
) -> SnapshotTree:
    def leave_out(path: str, target: str) -> None:
        progress(f"Left out the link '{shown(path)}': it leads out of the folder, to '{shown(target)}'.")

    builder = TreeBuilder(root, origin, leave_out, limits)
    for item in found:
        if stat.S_ISLNK(item.status.st_mode):
            builder.add_link(item.path, os.readlink(item.place))  # noqa: PTH115  a plain string, on a hot path
            continue
        try:
            file = open(item.place, "rb")  # noqa: SIM115, PTH123  opened separately, so that only this error is caught
        except OSError as error:
            progress(f"Left out '{shown(item.path)}': {reason(error)}.")
            continue
        with file:
            builder.add_file(
                item.path, iter(partial(file.read, 1 << 20), b""), executable=bool(item.status.st_mode & stat.S_IXUSR)
            )
    return builder.finish()


def _walk(root: str, without: str, progress: Callable[[str], None]) -> Iterator[ScannedEntry]:
    pending = [(root, "")]
    while pending:
        folder, prefix = pending.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError as error:
            if folder == root:
                raise SourceUnavailable(f"The folder {shown(root)} cannot be read: {reason(error)}.") from None
            progress(f"Left out the folder '{shown(prefix)}': {reason(error)}.")
            continue
        for entry in entries:
            path = prefix + entry.name
            try:
                path.encode("utf-8")
            except UnicodeEncodeError:
                progress(f"Left out '{shown(path)}': its name is not UTF-8.")
                continue
            if entry.name.endswith(_SKIPPED_ENDINGS):
                continue
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _SKIPPED_FOLDERS and entry.path != without and not _is_leftover(entry.path, path):
                    pending.append((entry.path, f"{path}/"))
            elif entry.name not in _SKIPPED_FILES and (entry.is_symlink() or entry.is_file(follow_symlinks=False)):
                yield ScannedEntry(path, entry.path, entry.stat(follow_symlinks=False))


def _is_leftover(place: str, path: str) -> bool:
    """Return whether a folder is a virtual environment, or build output at the top level of the project."""
    if os.path.isfile(f"{place}/pyvenv.cfg"):  # noqa: PTH113  a plain string, on a hot path
        return True
    if path == "build":
        return any(name == "lib" or name.startswith(("bdist.", "lib.", "temp.")) for name in os.listdir(place))  # noqa: PTH208
    if path == "dist":
        names = os.listdir(place)  # noqa: PTH208
        return bool(names) and all(name.endswith((".whl", ".tar.gz", ".zip")) for name in names)
    return False


# A file modified less than this long before being copied may change again without a new time stamp.
_RACY_SECONDS = 1.0


def fetch(
    source: Source | str,
    *,
    cache: Path | None = None,
    expected_sha256: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Snapshot:
    """Return a repository's snapshot, copying it into the cache unless it is already there.

    A pinned release, a git revision or an unchanged folder is fetched once and then needs no network. A remote branch
    stays at the fetched commit until `forget` is called. ``expected_sha256`` is the checksum of the archive or source
    distribution, or of the snapshot for any other source.

    Raises:
        BadSource: The text is not a valid source.
        SourceUnavailable: The source cannot be reached.
        ChecksumMismatch: The content differs from the pinned one.
        UnsafeArchive: The content is too large, or would be written outside its folder.
        FetchError: Something else went wrong, such as a full disk.
    """
    source = parse_source(source) if isinstance(source, str) else source
    pins = {checked_sha256(pin) for pin in (expected_sha256, source.sha256) if pin}
    if len(pins) > 1:
        raise ChecksumMismatch(f"{source.name} is pinned to two different checksums; correct one of them.")
    pin = pins.pop() if pins else ""
    store, limits, progress = _store(cache), SnapshotLimits(), progress or (lambda _: None)
    if source.kind == "folder":
        return _fetch_folder(source, store, limits, pin, progress)
    must_write("fetch sources")
    if source.kind == "git":
        from workbench.repository.clones import fetch_revision

        return fetch_revision(source, store, limits, pin, progress)
    from workbench.repository.archives import fetch_archive

    return fetch_archive(source, store, limits, pin, progress)


def _store(cache: Path | None) -> Store:
    return Store(Path(cache or paths.cache_dir()).absolute())


def cached(source: Source | str, *, cache: Path | None = None, expected_sha256: str | None = None) -> Snapshot | None:
    """Return the cached snapshot of a source that cannot have changed, or None; never uses the network.

    Always returns None for folders, local archives and local repositories, which `fetch` checks for changes.
    """
    source = parse_source(source) if isinstance(source, str) else source
    pin = checked_sha256(expected_sha256) if expected_sha256 else source.sha256
    if source.kind in {"folder", "archive"} or source.location.startswith("file://"):
        return None
    store = _store(cache)
    known = store.recall(str(replace(source, sha256="")))
    if known is None or (source.kind == "sdist" and pin and known.revision != f"sha256:{pin}"):
        return None
    if source.kind == "git" and pin and known.digest != pin:
        return None
    return store.load(known)


def forget(source: Source | str, *, cache: Path | None = None) -> None:
    """Make the next `fetch` of a source ignore the cache, for example because a branch has moved."""
    source = parse_source(source) if isinstance(source, str) else source
    _store(cache).forget(str(replace(source, sha256="")))


def text_in_cache(digest: str, path: str, *, cache: Path | None = None) -> str:
    return _store(cache).text(digest, path)


def texts_in_cache(digest: str, wanted: Callable[[str], bool], *, cache: Path | None = None) -> dict[str, str] | None:
    """Return the texts of a snapshot's ``wanted`` paths, or None if the cache does not have all of them."""
    return _store(cache).texts(digest, wanted)


def _fetch_folder(
    source: Source, store: Store, limits: SnapshotLimits, pin: str, progress: Callable[[str], None]
) -> Snapshot:

    started = time.time()
    found = scan(Path(source.location), without=store.folder, limits=limits, progress=progress)
    stamp, latest = signature(found)
    known = store.recall(str(source))
    if known is not None and known.signature == stamp and (snapshot := store.load(known)) is not None:
        return require_digest(snapshot, pin)
    progress(f"Copying {len(found):,} files of {source.name}…")
    with store.workspace() as workspace:
        origin = f"The folder {source.location}"
        tree = copy(found, workspace / "tree", origin=origin, limits=limits, progress=progress)
        unchanging = stamp if started - latest > _RACY_SECONDS else "just changed"
        known = ResolvedSource(str(source), tree.digest, "", unchanging, started)
        return require_digest(store.publish(workspace, tree, known), pin)
