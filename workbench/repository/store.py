"""The snapshot cache: content-addressed trees, and an index from source to tree.

``snapshots/DIGEST/tree`` contains the files, ``snapshots/DIGEST/manifest.json`` lists them, and ``sources/KEY.json``
records which tree a source resolved to. A tree is written to a temporary folder and then renamed. Any number of
processes can therefore fetch the same source at once, and an incomplete tree is never visible. The cache may be deleted
at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import typed_json
from workbench.base.disks import says_full
from workbench.base.files import replaced
from workbench.repository.sources import ChecksumMismatch, FetchError, no_room, reason
from workbench.repository.tree import FileEntry

if TYPE_CHECKING:
    from workbench.repository.tree import SnapshotTree

_VERSION = 1
_STALE_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An immutable copy of a repository."""

    root: Path
    digest: str  # hex SHA-256 over the sorted (path, mode, content) triples; identifies the content
    source: str  # the source in a form that `parse_source` accepts
    revision: str  # git commit, ``sha256:…`` of an archive or source distribution, or "" for a folder
    files: tuple[FileEntry, ...]  # files sorted by path, including links to a file inside the repository


@dataclass(frozen=True, slots=True)
class ResolvedSource:
    """An index entry, which records the tree that a source resolved to."""

    source: str
    digest: str
    revision: str  # same meaning as in `Snapshot`
    # digest of a folder's names, sizes and times, which must match for reuse; "" if the source is immutable
    signature: str
    recorded_at: float  # Unix time in seconds


class Store:
    """The cache in one folder, which is created on first use."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._snapshots = folder / "snapshots"
        self._sources = folder / "sources"

    @contextlib.contextmanager
    def workspace(self) -> Iterator[Path]:
        import tempfile

        try:
            self._snapshots.mkdir(parents=True, exist_ok=True)
            self._delete_stale()
            folder = Path(tempfile.mkdtemp(prefix=".part-", dir=self._snapshots))
        except OSError as error:
            raise self._write_error(error) from None
        try:
            yield folder
        except OSError as error:
            raise self._write_error(error) from error
        finally:
            _delete(folder)

    def _write_error(self, error: OSError) -> FetchError:
        if says_full(error):
            return no_room(self._snapshots)
        return FetchError(
            f"The cache folder {self._snapshots} cannot be written: {reason(error)}; fix that, or set "
            "WORKBENCH_CACHE_DIR to another folder."
        )

    def publish(self, workspace: Path, tree: SnapshotTree, known: ResolvedSource) -> Snapshot:
        manifest = {"version": _VERSION, "digest": tree.digest, "files": tree.entries}
        (workspace / "tree").mkdir(exist_ok=True)
        bundle = workspace / "bundle"
        bundle.mkdir()
        (workspace / "tree").rename(bundle / "tree")
        (bundle / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        place = self._snapshots / tree.digest
        for _ in range(3):
            try:
                bundle.rename(place)
                break
            except OSError as error:
                if says_full(error):
                    raise
                # Another process was faster: its tree has the same content, unless it was damaged later.
                if self._intact(tree.digest) is not None:
                    break
                with contextlib.suppress(OSError):
                    place.rename(workspace / f"damaged-{time.monotonic_ns()}")
        else:
            raise FetchError(f"The snapshot {place} is damaged and cannot be replaced; delete that folder.")
        self._remember(known)
        return Snapshot(place / "tree", tree.digest, known.source, known.revision, tree.files)

    def recall(self, source: str) -> ResolvedSource | None:
        try:
            return typed_json.decode(ResolvedSource, self._index_file(source).read_bytes())
        except (OSError, ValueError):
            return None

    def load(self, known: ResolvedSource) -> Snapshot | None:
        """Return the snapshot of a source if all its files are present with the right size, or None otherwise."""
        files = self._intact(known.digest)
        if files is None:
            return None
        return Snapshot(self._snapshots / known.digest / "tree", known.digest, known.source, known.revision, files)

    def forget(self, source: str) -> None:
        """Delete a source's index entry but not its tree, so that it is fetched again."""
        self._index_file(source).unlink(missing_ok=True)

    def _index_file(self, source: str) -> Path:
        key = hashlib.sha256(source.encode("utf-8", "surrogateescape")).hexdigest()
        return self._sources / f"{key[:40]}.json"

    def _remember(self, known: ResolvedSource) -> None:
        with replaced(self._index_file(known.source)) as part:
            part.write_text(json.dumps(asdict(known)), encoding="utf-8")

    def _intact(self, digest: str) -> tuple[FileEntry, ...] | None:
        try:
            manifest = self._manifest(digest)
            if manifest["version"] != _VERSION or manifest["digest"] != digest:
                return None
            files = tuple(FileEntry(path, size) for path, size, _ in manifest["files"])
            expected = {path: -1 if mode == "l" else size for path, size, mode in manifest["files"]}
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return files if expected == dict(_sizes(str(self._snapshots / digest / "tree"))) else None

    def _manifest(self, digest: str) -> Any:
        return json.loads((self._snapshots / digest / "manifest.json").read_text(encoding="utf-8"))

    def text(self, digest: str, path: str) -> str:
        """Return the text of a regular file in a tree, or "" if there is none; both arguments may be untrusted."""
        return (self.texts(digest, lambda name: name == path) or {}).get(path, "")

    def texts(self, digest: str, wanted: Callable[[str], bool]) -> dict[str, str] | None:
        """Return the texts of regular files in a tree by path, or None if the tree or one of the files is gone."""
        if not re.fullmatch(r"[0-9a-f]{64}", digest):
            return None
        tree = self._snapshots / digest / "tree"
        try:
            regular = [
                str(name) for name, _, mode in self._manifest(digest)["files"] if mode != "l" and wanted(str(name))
            ]
            return {name: (tree / name).read_text(encoding="utf-8", errors="replace") for name in regular}
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _delete_stale(self) -> None:
        # These folders belong to killed processes; no fetch takes anywhere near a day.
        oldest = time.time() - _STALE_SECONDS
        for left in self._snapshots.glob(".part-*"):
            with contextlib.suppress(OSError):
                if left.stat().st_mtime < oldest:
                    _delete(left)


def require_digest(snapshot: Snapshot, pin: str) -> Snapshot:
    if pin and snapshot.digest != pin:
        raise ChecksumMismatch(
            f"{snapshot.source} has the digest {snapshot.digest[:12]}…, but {pin[:12]}… is pinned; it was changed, or the "
            "pin is wrong."
        )
    return snapshot


def _sizes(root: str) -> Iterator[tuple[str, int]]:
    """Yield (path, bytes) for every file below ``root``, with -1 for links."""
    pending = [(root, "")]
    while pending:
        folder, prefix = pending.pop()
        for entry in os.scandir(folder):
            if entry.is_symlink():
                yield prefix + entry.name, -1
            elif entry.is_dir():
                pending.append((entry.path, f"{prefix}{entry.name}/"))
            else:
                yield prefix + entry.name, entry.stat().st_size


def _delete(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
