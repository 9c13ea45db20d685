"""The repository as the agent saw it: files that it read, listed or never opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from textual import events
from textual.message import Message

from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.texts import Static
from workbench.app.toolkit.virtual_view import Part, fit
from workbench.base.text import shortened

if TYPE_CHECKING:
    from workbench.session.rows import AccessedFileRow

READ, LISTED, NEVER = "●", "○", "·"


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A directory or file; ``step`` is the first one that read (else listed) it."""

    path: str
    name: str
    depth: int
    directory: bool
    mark: str
    step: int | None


def entries_of(
    files: tuple[tuple[str, int], ...], seen: Mapping[tuple[str, str], AccessedFileRow]
) -> tuple[list[TreeEntry], str]:
    """Return the tree as rows, directories first, and a legend with signs and the share that was read."""
    sizes = dict(files)
    read = {path.rstrip("/"): row for (path, how), row in seen.items() if how == "read"}
    listed = {path.rstrip("/"): row for (path, how), row in seen.items() if how == "listed"}
    # Until the snapshot is known the tree consists of what the agent saw.
    names = set(sizes) | set(read) | {p.rstrip("/") for (p, _) in seen if not p.endswith("/") and p != "."}
    tree: dict[str, set[str]] = {"": set()}
    for path in names - {"", "."}:
        for parent, child in pairwise(("", *accumulate(filter(None, path.split("/")), "{}/{}".format))):
            tree.setdefault(parent, set()).add(child)
    rows: list[TreeEntry] = []

    def walk(folder: str, depth: int) -> None:
        for path in sorted(tree[folder], key=lambda item: (item not in tree, item)):
            directory = path in tree
            row = read.get(path) or listed.get(path)
            mark = READ if path in read else LISTED if path in listed else NEVER
            rows.append(TreeEntry(path, path.rpartition("/")[2], depth, directory, mark, row.step if row else None))
            if directory:
                walk(path, depth + 1)

    walk("", 0)
    lines = ["● read  ○ listed", "· never opened"]
    if sizes:
        # Each file counts once, up to what was shown of it.
        shown = sum(min(row.size, sizes.get(path, row.size)) for path, row in read.items())
        share = round(100 * shown / (sum(sizes.values()) or 1))
        percent = "<1" if shown and not share else str(min(share, 100))
        lines += ["", f"seen {len(read.keys() & sizes):,} of {len(sizes):,} files", f"{percent} % of the bytes"]
    return rows, "\n".join(lines)


class RepositoryPane(RowList):
    """The tree with its marks; enter goes to the step that read or listed a file."""

    ALLOW_SELECT = False
    narrows = False

    @dataclass
    class Opened(Message):
        """A file was chosen; ``step`` is where the agent read or listed it."""

        path: str
        step: int | None

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.entries: list[TreeEntry] = []
        self.current_path = ""
        self._empty = ""
        self._places: dict[str, int] = {}

    def show(self, entries: list[TreeEntry], legend: str, empty: str) -> None:
        """Show other rows and the legend below; ``empty`` is shown without rows."""
        below = self.query_ancestor(Pane).query_one("#legend", Static)
        below.update(legend, layout=below.size.height != legend.count("\n") + 1)
        if entries == self.entries and empty == self._empty:
            return
        chosen = self.current.path if self.current is not None else ""
        top, height = self.scroll_offset.y, self.page_height()
        before = self.cursor, self.entries[top : top + height]
        self.entries, self._empty = entries, empty
        self._places = {entry.path: index for index, entry in enumerate(entries)}
        self.cursor = self._places.get(chosen, 0)
        if before == (self.cursor, entries[top : top + height]) and len(before[1]) == height:
            self.grow_below(self.row_count())
            return
        self.set_size(self.row_count())
        self.refresh()

    @property
    def current(self) -> TreeEntry | None:
        return self.entries[self.cursor] if 0 <= self.cursor < len(self.entries) else None

    def plain_text(self) -> str:
        return "".join(f"{entry.mark} {entry.path}\n" for entry in self.entries)

    def point_at(self, path: str) -> None:
        """Highlight the file of the selected step and scroll to it."""
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
            if not top <= at < top + height:  # with room for the next steps
                self.scroll_to(y=max(0, at - height // 3), animate=False, immediate=True)

    def row_count(self) -> int:
        return len(self.entries) or 1

    def selectable(self, index: int) -> bool:
        return bool(self.entries)

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        if not self.entries:
            return [(fit(self._empty, width), "dim")], ""
        entry = self.entries[y]
        indent = " " * min(entry.depth * 2, max(0, width - 12))
        mark = "▾" if entry.directory and entry.mark == NEVER else entry.mark
        fill = "cursor" if y == self.cursor and self.has_focus else ""
        if not fill and entry.path == self.current_path:
            fill = "cursor-blurred"
        style = {READ: "seen-read", LISTED: "seen-listed", NEVER: "seen-unopened"}[entry.mark]
        # Cut in the middle: the start of a name says what it is about, the end the file type.
        name = shortened(entry.name, max(4, width - 3 - len(indent) - entry.directory)) + "/" * entry.directory
        return [(f" {indent}", ""), (mark, style), (" ", ""), (name, "" if entry.mark == READ else "dim")], fill

    def action_choose(self) -> None:
        if self.current is not None:
            self.post_message(self.Opened(self.current.path, self.current.step))

    def on_click(self, event: events.Click) -> None:
        event.prevent_default()  # one click opens
        y = event.y + self.scroll_offset.y
        if y < len(self.entries):
            self.set_cursor(y)
            self.action_choose()

    def on_resize(self) -> None:
        self.set_size(self.row_count())
