"""Entries in a repository's file list, without their content; cheap to import."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from workbench.repository.sources import UnsafeArchive, shown

Mode = Literal["-", "x", "l"]
"""How an entry is stored: as a plain file, an executable file or a link."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file in a repository."""

    path: str  # POSIX path, relative to the repository's root
    size: int  # size in bytes; for a link, that of its target


@dataclass(frozen=True, slots=True)
class SnapshotLimits:
    """The maximum size of a repository; larger ones are rejected."""

    total_bytes: int = 500_000_000
    entries: int = 50_000  # maximum number of files, folders and links
    ratio: int = 200  # maximum unpacked bytes per packed byte of an archive, checked above ``ratio_from``
    # unpacked bytes below which the ratio is ignored, because small files of zeros are harmless
    ratio_from: int = 20_000_000


@dataclass(frozen=True, slots=True)
class SnapshotTree:
    """A completed tree."""

    digest: str  # hex SHA-256 over the sorted (path, mode, content) triples
    # sorted (path, bytes, mode) triples; ``-`` is plain, ``x`` executable, ``l`` a link
    entries: tuple[tuple[str, int, Mode], ...]

    @property
    def files(self) -> tuple[FileEntry, ...]:
        return tuple(FileEntry(path, size) for path, size, _ in self.entries)


def safe_path(path: str, origin: str) -> str:
    """Return ``path`` normalised. Raises UnsafeArchive if it is absolute, contains ``..`` or is not a valid name."""
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if path.startswith("/") or ".." in parts or "\0" in path:
        raise UnsafeArchive(f"{origin} was refused: its entry '{shown(path)}' would be written outside its folder.")
    if not parts:
        raise UnsafeArchive(f"{origin} was refused: it has an entry without a name.")
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise UnsafeArchive(f"{origin} was refused: the name '{shown(path)}' in it is not UTF-8.") from None
    return "/".join(parts)


@dataclass(slots=True)
class TreeBuilder:
    """Writes a single tree into an empty folder."""

    root: Path
    origin: str  # the subject of messages, such as a description of the archive
    on_escaping_link: Callable[[str, str], None]  # called with (path, target); raises an error to reject the tree
    limits: SnapshotLimits = field(default_factory=SnapshotLimits)
    packed_bytes: int = 0  # size of the archive, or 0 if there is none
    _files: dict[str, tuple[int, Mode, bytes]] = field(default_factory=dict)
    _links: dict[str, str] = field(default_factory=dict)
    _bytes: int = 0
    _count: int = 0

    def count(self) -> None:
        self._count += 1
        if self._count > self.limits.entries:
            raise UnsafeArchive(
                f"{self.origin} was refused: it has more than {self.limits.entries:,} files and folders."
            )

    def announce(self, size: int) -> None:
        """Check the declared size of a file before anything is written; `add_file` counts the actual size."""
        if size < 0 or self._bytes + size > self.limits.total_bytes:
            raise self._oversized()

    def add_folder(self, path: str) -> None:
        """Check and count a folder; as in git, it is created together with the first file in it."""
        self.count()
        if path.strip("./") or ".." in path:
            safe_path(path, self.origin)

    def add_file(self, path: str, chunks: Iterable[bytes], *, executable: bool) -> None:
        """Write a file from its chunks; if a path occurs twice, the later content wins."""
        path = safe_path(path, self.origin)
        self.count()
        target = self.root / path
        size, digest = 0, hashlib.sha256()
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as out:
                for chunk in chunks:
                    size += len(chunk)
                    self._bytes += len(chunk)
                    if self._bytes > self._max_bytes():
                        raise self._oversized()
                    digest.update(chunk)
                    out.write(chunk)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            raise self._conflicting(path) from None
        if executable:
            target.chmod(0o755)
        self._files[path] = (size, "x" if executable else "-", digest.digest())

    def copy_file(self, path: str, existing: str, *, executable: bool) -> None:
        """Write a hard link as a copy of the file written earlier."""
        path, existing = safe_path(path, self.origin), safe_path(existing, self.origin)
        if existing not in self._files or path == existing:
            raise UnsafeArchive(f"{self.origin} was refused: its hard link '{shown(path)}' leads to no file in it.")
        with (self.root / existing).open("rb") as source:
            self.add_file(path, iter(lambda: source.read(1 << 20), b""), executable=executable)

    def add_link(self, path: str, target: str) -> None:
        """Record a symbolic link; `finish` creates it if it points inside the tree."""
        path = safe_path(path, self.origin)
        self.count()
        self._links[path] = target

    def unwrap(self) -> None:
        """Strip a single top-level folder, as found in release archives; call this before `finish`."""
        tops = {path.split("/", 1)[0] for path in (*self._files, *self._links)}
        if len(tops) != 1 or not self._files or any("/" not in path for path in (*self._files, *self._links)):
            return
        top = tops.pop()
        outer = self.root.with_name(f"{self.root.name}-wrapped")
        self.root.rename(outer)
        (outer / top).rename(self.root)
        outer.rmdir()
        self._files = {path[len(top) + 1 :]: value for path, value in self._files.items()}
        self._links = {path[len(top) + 1 :]: value for path, value in self._links.items()}

    def finish(self) -> SnapshotTree:
        """Create the links that point inside the tree, and return a description of what was written."""
        folders = {str(parent) for path in self._files for parent in PurePosixPath(path).parents}
        links = dict(self._links)
        for path in links:
            # A known attack creates a link and then writes a file through it.
            if path in self._files or path in folders:
                raise self._conflicting(path)
        for path, target in list(links.items()):
            if _resolve(path, links) is None:
                self.on_escaping_link(path, target)
                del links[path]
        entries: list[tuple[str, int, Mode]] = [(path, size, mode) for path, (size, mode, _) in self._files.items()]
        digests = {path: content for path, (_, _, content) in self._files.items()}
        for path, target in links.items():
            end = _resolve(path, links)
            under_link = any(str(parent) in links for parent in PurePosixPath(path).parents)
            # Skip dangling links, and links located below another link.
            if end is None or under_link or (end not in self._files and end not in folders):
                continue
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).symlink_to(target)
            entries.append((path, self._files[end][0] if end in self._files else 0, "l"))
            digests[path] = hashlib.sha256(target.encode("utf-8", "surrogateescape")).digest()
        entries.sort()
        tree_digest = hashlib.sha256()
        for path, _, mode in entries:
            tree_digest.update(path.encode("utf-8", "surrogateescape") + b"\0" + mode.encode() + b"\0" + digests[path])
        return SnapshotTree(tree_digest.hexdigest(), tuple(entries))

    def _max_bytes(self) -> int:
        if not self.packed_bytes:
            return self.limits.total_bytes
        by_ratio = max(self.limits.ratio * self.packed_bytes, self.limits.ratio_from)
        return min(self.limits.total_bytes, by_ratio)

    def _conflicting(self, path: str) -> UnsafeArchive:
        return UnsafeArchive(
            f"{self.origin} was refused: '{shown(path)}' occurs in it as two different kinds of entry."
        )

    def _oversized(self) -> UnsafeArchive:
        limit = self._max_bytes()
        if limit < self.limits.total_bytes:
            problem = f"it unpacks to more than {self.limits.ratio} times its size"
        else:
            problem = f"it contains more than {limit // 1_000_000:,} MB"
        return UnsafeArchive(f"{self.origin} was refused: {problem}.")


def _resolve(path: str, links: dict[str, str]) -> str | None:
    """Return the final target of a link, as resolved by the kernel, or None if it is circular or leaves the tree."""
    todo = path.split("/")[::-1]
    done: list[str] = []
    jumps = 0
    while todo:
        part = todo.pop()
        if part in {"", "."}:
            continue
        if part == "..":
            if not done:
                return None
            done.pop()
            continue
        done.append(part)
        target = links.get("/".join(done))
        if target is not None:
            jumps += 1
            if jumps > 40 or target.startswith("/") or "\0" in target:
                return None
            done.pop()
            todo.extend(target.split("/")[::-1])
    return "/".join(done) or "."
