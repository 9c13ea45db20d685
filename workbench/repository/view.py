"""Restricted access to a repository: hidden paths cannot be read or listed, and no path leads outside.

An agent's two tools use `View`; the app reads whole snapshots through `read_text`. Both resolve all links in a path,
and its final target must be visible and inside the root.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from workbench.base.errors import WorkbenchError
from workbench.repository.sources import reason, shown
from workbench.repository.tree import FileEntry

DEFAULT_HIDDEN: tuple[str, ...] = (
    "README*",
    "!README*.py",  # A program that processes READMEs is code.
    "CHANGELOG*",
    "!CHANGELOG*.py",
    "docs/",
    "doc/",
    "documentation/",
    # Package metadata repeats the README as its description.
    "PKG-INFO",
    "*.egg-info/",
    "*.dist-info/",
    ".*",
    "ground_truth/",
    "ground_truth",
)


class Hidden:
    """A compiled list of patterns; the last pattern that matches a path decides."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._rules = [rule for pattern in patterns if (rule := _compile(pattern)) is not None]
        self._names: dict[tuple[str, bool], bool] = {}
        self._anchored = any(anchored for _, _, _, anchored in self._rules)

    def matches(self, path: str, *, is_folder: bool) -> bool:
        """Return whether this path itself (POSIX, relative to the root) is hidden, regardless of its parent folders."""
        name = path.rpartition("/")[2]
        # Most patterns depend only on the name, and names such as __init__.py repeat thousands of times.
        if self._anchored:
            return self._decide(path, name, is_folder)
        known = self._names.get((name, is_folder))
        if known is None:
            known = self._names[name, is_folder] = self._decide(path, name, is_folder)
        return known

    def covers(self, path: str, *, is_folder: bool) -> bool:
        parts = path.split("/")
        above = any(self.matches("/".join(parts[:depth]), is_folder=True) for depth in range(1, len(parts)))
        return above or self.matches(path, is_folder=is_folder)

    def _decide(self, path: str, name: str, is_folder: bool) -> bool:
        path, name = path.casefold(), name.casefold()
        for expression, hides, folders_only, anchored in reversed(self._rules):
            if (is_folder or not folders_only) and expression.fullmatch(path if anchored else name):
                return hides
        return False


def _compile(pattern: str) -> tuple[re.Pattern[str], bool, bool, bool] | None:
    hides = not pattern.startswith("!")
    body = pattern.removeprefix("!").strip()
    folders_only = body.endswith("/")
    body = body.rstrip("/")
    anchored = "/" in body
    body = body.removeprefix("/").casefold()
    if not body:
        return None
    parts: list[str] = []
    position = 0
    while position < len(body):
        if body.startswith("**/", position):
            parts.append("(?:.*/)?")
            position += 3
        elif body.startswith("**", position):
            parts.append(".*")
            position += 2
        elif body[position] == "*":
            parts.append("[^/]*")
            position += 1
        elif body[position] == "?":
            parts.append("[^/]")
            position += 1
        else:
            parts.append(re.escape(body[position]))
            position += 1
    return re.compile("".join(parts), re.DOTALL), hides, folders_only, anchored


DEFAULT_LIMIT = 60_000
"""Maximum number of characters read from a file by default, about 15,000 tokens."""

LISTING_LIMIT = 500
"""Maximum number of names in a listing; further names are only counted."""


class ViewError(WorkbenchError):
    """A path cannot be listed or read; the message is safe to show to an agent."""


class OutsideRepository(ViewError):
    """The path, or a link in it, points outside the repository."""


class NotVisible(ViewError):
    """The path is hidden in this view, regardless of whether it exists."""


class NoSuchPath(ViewError):
    """The path does not exist."""


class NotAFolder(ViewError):
    """A directory was expected, but the path is a file."""


class NotAFile(ViewError):
    """A file was expected, but the path is a directory or a device."""


class NotText(ViewError):
    """The file is binary, or the operating system refuses to read it."""


@dataclass(frozen=True, slots=True)
class FileText:
    """The beginning of the text of a file."""

    text: str
    size: int  # size of the whole file in bytes
    truncated: bool  # whether the file is longer than ``text``


class View:
    """A repository as an agent may see it: without anything that matches the gitignore-like patterns ``hidden``."""

    def __init__(self, root: Path, *, hidden: Sequence[str] = DEFAULT_HIDDEN) -> None:
        self.root = Path(os.path.realpath(root))
        self.hidden = tuple(hidden)
        self._hidden = Hidden(self.hidden)
        self._prefix = str(self.root).rstrip("/") + "/"

    @cached_property
    def files(self) -> tuple[FileEntry, ...]:
        """Every visible file, sorted by path, including links to visible files inside the repository."""
        return tuple(sorted(self._walk(self.root, ""), key=lambda entry: entry.path))

    def list_directory(self, path: str = ".", *, limit: int | None = None) -> tuple[str, ...]:
        """Return the visible names in a directory, sorted, with ``/`` after each directory name.

        Beyond `LISTING_LIMIT` names, or ``limit`` characters of names, further names are only counted, and the last
        item is ``… N more``. The first name is always listed. Raises a subclass of `ViewError`, as does `read_file`.
        """
        folder, relative = self._resolve(path)
        if not folder.is_dir():
            raise NotAFolder(f"'{shown(path)}' is not a directory.")
        try:
            found = [(e.name, kind) for e in os.scandir(folder) if (kind := self._kind(e, relative)) is not None]
        except OSError as error:
            raise NotText(f"'{shown(path)}' cannot be listed: {reason(error)}.") from None
        names = [name + "/" if kind == "folder" else name for name, kind in sorted(found)]
        sizes = accumulate(len(name) for name in names[:LISTING_LIMIT])
        listed = sum(1 for count, size in enumerate(sizes) if not count or limit is None or size <= limit)
        return tuple(names) if listed == len(names) else (*names[:listed], f"… {len(names) - listed:,} more")

    def read_file(self, path: str, *, limit: int | None = None) -> FileText:
        """Return at most ``limit`` characters of a file's text. Raises `NotText` for a binary file."""
        limit = DEFAULT_LIMIT if limit is None else max(0, limit)
        file_path, _ = self._resolve(path)
        if file_path.is_dir():
            raise NotAFile(f"'{shown(path)}' is a directory, not a file.")
        try:
            # The path is already resolved, so a link here is new and must be rejected. Opening a pipe must not block.
            handle = os.open(file_path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
            with open(handle, "rb") as file:  # noqa: PTH123  a descriptor, not a path
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode):
                    raise NotAFile(f"'{shown(path)}' is not a regular file.")
                data = file.read(4 * limit + 4)
        except OSError as error:
            raise NotText(f"'{shown(path)}' cannot be read: {reason(error)}.") from None
        text = _decode(data, whole=len(data) >= status.st_size)
        if text is None:
            raise NotText(f"'{shown(path)}' is a binary file of {status.st_size:,} bytes; it has no text to read.")
        return FileText(text[:limit], status.st_size, len(text) > limit or len(data) < status.st_size)

    def _resolve(self, path: str) -> tuple[Path, str]:
        """Return a visible path resolved, both absolute and relative to the root; raise if it is inaccessible."""
        parts: list[str] = []
        for part in path.split("/"):
            if part == ".." and not parts:
                raise OutsideRepository(f"'{shown(path)}' is outside the repository.")
            if part == "..":
                parts.pop()
            elif part not in {"", "."}:
                parts.append(part)
        if path.startswith("/") or "\0" in path:
            raise OutsideRepository(
                f"'{shown(path)}' is not a path inside the repository; give it relative to the root."
            )
        self._require_visible("/".join(parts), path)
        try:
            # Use the path as written, not its normalised parts: after a link, `..` is relative to the link's target.
            place = os.path.realpath(f"{self._prefix}{path}")
        except (OSError, ValueError):
            raise NoSuchPath(f"'{shown(path)}' does not exist.") from None
        if place != str(self.root) and not place.startswith(self._prefix):
            raise OutsideRepository(f"'{shown(path)}' leads outside the repository.")
        relative = place[len(self._prefix) :]
        self._require_visible(relative, path)
        try:
            status = os.lstat(place)
        except (OSError, ValueError):
            raise NoSuchPath(f"'{shown(path)}' does not exist.") from None
        if stat.S_ISLNK(status.st_mode):
            raise NoSuchPath(f"'{shown(path)}' is a link that leads to itself.")
        return Path(place), relative

    def _require_visible(self, relative: str, path: str) -> None:
        # Check the path as a folder, too, because the answer for a nonexistent path must not depend on its type.
        if relative and (
            self._hidden.covers(relative, is_folder=True) or self._hidden.covers(relative, is_folder=False)
        ):
            raise NotVisible(f"'{shown(path)}' is not available.")

    def _kind(self, entry: os.DirEntry[str], folder: str) -> str | None:
        path = f"{folder}/{entry.name}" if folder else entry.name
        try:
            entry.name.encode("utf-8")
            if entry.is_symlink():
                place, _ = self._resolve(path)
                return "folder" if place.is_dir() else "file" if place.is_file() else None
            is_folder = entry.is_dir(follow_symlinks=False)
            if self._hidden.matches(path, is_folder=is_folder):
                return None
            return "folder" if is_folder else "file" if entry.is_file(follow_symlinks=False) else None
        except (OSError, UnicodeEncodeError, ViewError):
            return None

    def _walk(self, folder: Path | str, relative: str) -> Iterator[FileEntry]:
        pending = [(str(folder), relative)]
        while pending:
            folder, relative = pending.pop()
            try:
                entries = list(os.scandir(folder))
            except OSError:
                continue
            for entry in entries:
                kind = self._kind(entry, relative)
                path = f"{relative}/{entry.name}" if relative else entry.name
                if kind == "file":
                    yield FileEntry(path, entry.stat().st_size)
                elif kind == "folder" and not entry.is_symlink():
                    pending.append((entry.path, path))


def read_text(root: Path, path: str, *, limit: int | None = None) -> FileText:
    """Read one file below ``root`` for browsing a whole snapshot; nothing is hidden, but paths outside are rejected."""
    return View(root, hidden=()).read_file(path, limit=limit)


_TEXT_CONTROLS = frozenset(b"\t\n\r\f\b\x1b")


def _decode(data: bytes, *, whole: bool) -> str | None:
    """Return ``data`` as text, or None if it is binary; an incomplete character at the end is dropped."""
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if data.startswith(mark):
            return codecs.getincrementaldecoder(encoding)("replace").decode(data[len(mark) :], whole)
    head = data[:8192]
    if b"\0" in head:
        return None
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(data, whole)
    except UnicodeDecodeError:
        controls = sum(byte < 32 and byte not in _TEXT_CONTROLS for byte in head)
        return None if controls * 20 > len(head) else data.decode("latin-1")
