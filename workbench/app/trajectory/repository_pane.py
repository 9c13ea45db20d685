"""The repository as the agent met it: what it read, what it only saw in a list, what it never opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events
from textual.message import Message

from workbench.app.toolkit.virtual_view import Part, VirtualView, fit
from workbench.text import shortened

if TYPE_CHECKING:
    from workbench.session.rows import AccessedFileRow

READ, LISTED, NEVER = "●", "○", "·"


@dataclass(frozen=True, slots=True)
class Entry:
    """One row: a directory or a file; ``step`` is where the agent read (else listed) it first."""

    path: str
    name: str
    depth: int
    directory: bool
    mark: str
    step: int | None


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the repository the agent read; ``bytes_read`` counts each file once, as far as it was shown."""

    files: int
    read: int
    listed: int
    bytes: int
    bytes_read: int


def entries_of(
    files: tuple[tuple[str, int], ...], seen: Mapping[tuple[str, str], AccessedFileRow]
) -> tuple[list[Entry], Coverage]:
    """Return the tree as rows, directories first in each directory, and the sums."""
    sizes = dict(files)
    read = {path.rstrip("/"): row for (path, how), row in seen.items() if how == "read"}
    listed = {path.rstrip("/"): row for (path, how), row in seen.items() if how == "listed"}
    # Until the snapshot is known the tree grows out of what the agent saw.
    names = set(sizes) | set(read) | {p.rstrip("/") for (p, _) in seen if not p.endswith("/") and p != "."}
    tree: dict[str, set[str]] = {"": set()}
    for path in names - {"", "."}:
        parent = ""
        for part in path.split("/")[:-1]:
            child = f"{parent}/{part}".lstrip("/")
            tree.setdefault(parent, set()).add(child)
            tree.setdefault(child, set())
            parent = child
        tree.setdefault(parent, set()).add(path)
    rows: list[Entry] = []

    def walk(folder: str, depth: int) -> None:
        for path in sorted(tree[folder], key=lambda item: (item not in tree, item)):
            directory = path in tree
            row = read.get(path) or listed.get(path)
            mark = READ if path in read else LISTED if path in listed else NEVER
            rows.append(Entry(path, path.rpartition("/")[2], depth, directory, mark, row.step if row else None))
            if directory:
                walk(path, depth + 1)

    walk("", 0)
    total = sum(sizes.values())
    shown = sum(min(row.size, sizes.get(path, row.size)) for path, row in read.items())
    files_listed = sum(1 for path in listed if path in sizes and path not in read)
    return rows, Coverage(len(sizes), sum(1 for path in read if path in sizes or not sizes), files_listed, total, shown)


class RepositoryPane(VirtualView):
    """The tree with its marks; enter goes to the step that read or listed the file."""

    ALLOW_SELECT = False

    class Opened(Message):
        """A file was chosen; ``step`` is where the agent met it."""

        def __init__(self, path: str, step: int | None) -> None:
            super().__init__()
            self.path = path
            self.step = step

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.entries: list[Entry] = []
        self.cursor = 0
        self.current_path = ""
        self.empty_text = ""
        self._places: dict[str, int] = {}

    def show(self, entries: list[Entry], empty_text: str) -> None:
        """Show these rows; ``empty_text`` stands there if there are none."""
        if entries == self.entries and empty_text == self.empty_text:
            return
        chosen = self.entries[self.cursor].path if self.cursor < len(self.entries) else None
        top, height = self.scroll_offset.y, self.page_height()
        before = self.cursor, self.entries[top : top + height]
        self.entries = entries
        self.empty_text = empty_text
        self._places = {entry.path: index for index, entry in enumerate(entries)}
        self.cursor = self._places.get(chosen or "", 0)
        if before == (self.cursor, entries[top : top + height]) and len(before[1]) == height:
            self.grow_below(self.row_count())
            return
        self.set_size(self.row_count())
        self.refresh()

    @property
    def current(self) -> Entry | None:
        return self.entries[self.cursor] if 0 <= self.cursor < len(self.entries) else None

    def plain_text(self) -> str:
        return "".join(f"{entry.mark} {entry.path}\n" for entry in self.entries)

    def point_at(self, path: str) -> None:
        """Mark the file that the selected step is about and bring it into sight."""
        path = path.rstrip("/").removeprefix("./")
        if path == self.current_path:
            return
        before, at = self._places.get(self.current_path), self._places.get(path)
        self.current_path = path
        for place in (before, at, self.cursor):
            if place is not None:
                self.refresh_lines(place)
        if at is not None:
            self.cursor = at
            top, height = self.scroll_offset.y, self.page_height()
            if not top <= at < top + height:  # far enough that the next steps need no scrolling
                self.scroll_to(y=max(0, at - height // 3), animate=False, immediate=True)

    def row_count(self) -> int:
        return len(self.entries) or 1

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        if not self.entries:
            return [(fit(self.empty_text, width), "dim")], ""
        entry = self.entries[y]
        indent = " " * min(entry.depth * 2, max(0, width - 12))
        mark = "▾" if entry.directory and entry.mark == NEVER else entry.mark
        fill = "cursor" if y == self.cursor and self.has_focus else ""
        if not fill and entry.path == self.current_path:
            fill = "cursor-blurred"
        style = {READ: "seen-read", LISTED: "seen-listed", NEVER: "seen-unopened"}[entry.mark]
        # Its middle goes where there is no room: the beginning says what it is about, the end which kind of file it is.
        name = shortened(entry.name, max(4, width - 3 - len(indent) - entry.directory)) + "/" * entry.directory
        return [(f" {indent}", ""), (mark, style), (" ", ""), (name, "" if entry.mark == READ else "dim")], fill

    def move(self, rows: int) -> None:
        if self.entries:
            self.cursor = max(0, min(self.cursor + rows, len(self.entries) - 1))
            self.keep_in_sight(self.cursor)
            self.refresh()

    def go_to_end(self, last: bool) -> None:
        self.move(len(self.entries) if last else -len(self.entries))

    def open_current(self) -> None:
        """Choose the row under the cursor."""
        if self.cursor < len(self.entries):
            entry = self.entries[self.cursor]
            self.post_message(self.Opened(entry.path, entry.step))

    def on_click(self, event: events.Click) -> None:
        y = event.y + self.scroll_offset.y
        if y < len(self.entries):
            self.cursor = y
            self.refresh()
            self.open_current()

    def on_resize(self) -> None:
        self.set_size(self.row_count())

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()
