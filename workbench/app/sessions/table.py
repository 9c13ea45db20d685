"""The table of sessions: one row a file, numbers right-aligned under their heading."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from workbench.app.sessions.listing import SessionEntry, size_text
from workbench.app.sessions.wording import in_order, words
from workbench.app.toolkit.amounts import spend_in_figures
from workbench.app.toolkit.headed_list import HeadedList
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.times import age
from workbench.app.toolkit.virtual_view import Part
from workbench.glyphs import STATES
from workbench.session.labels import in_words
from workbench.text import one_line

_STATES = {
    "running": (f"{STATES['running']} running", "running"),
    "queued": (f"{STATES['queued']} waiting", "waiting"),
    "interrupted": (f"{STATES['interrupted']} interrupted", "paused"),
    "unscored": (f"{STATES['unscored']} unscored", "unscored"),
    "failed": (f"{STATES['failed']} failed", "failed"),
    "cancelled": (f"{STATES['cancelled']} cancelled", "waiting"),
    "done": (f"{STATES['done']} done", "passed"),
    "empty": ("  empty", "dim"),
}
_STATE_WIDTH = 16


class SessionTable(HeadedList):
    """Row 0 is the heading; below it the user's own sessions, then the examples that came with the program.

    Attributes:
        entries: The sessions in the order in which they are listed.
        order: What they are sorted by, see :data:`workbench.app.sessions.wording.ORDERS`; ``reverse`` turns it round.
        marked: The paths of those that are marked.
        open_path: The session that is open.
        chosen: The session that was chosen for the next run.
    """

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "open", id="sessions.open"),
        Binding("u", "screen.resume", "resume", id="sessions.resume"),
        Binding("d,delete", "screen.delete", "delete", id="sessions.delete"),
        Binding("space", "mark", "mark", id="sessions.mark", show=False),
    ]

    class HeadingClicked(Message):
        """A column's heading was clicked; ``order`` is what it sorts by."""

        def __init__(self, order: str) -> None:
            super().__init__()
            self.order = order

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.entries: list[SessionEntry] = []
        self.order, self.reverse = "age", False
        self.marked: list[Path] = []
        self.open_path: Path | None = None
        self.chosen: Path | None = None
        self._names = self._tags = 0

    def show(self, entries: Sequence[SessionEntry]) -> None:
        """Show these sessions, the cursor staying on its file."""
        current = self.entry
        self.entries = in_order(entries, self.order, reverse=self.reverse)
        there = {entry.path for entry in self.entries}
        self.marked = [path for path in self.marked if path in there]
        self._names = max((cell_len(_name(entry)) for entry in self.entries), default=0)
        self._tags = max((cell_len(in_words(entry.labels)) for entry in self.entries if entry.labels), default=0)
        at = next((i for i, entry in enumerate(self.entries, 1) if current and entry.path == current.path), self.cursor)
        self.rows_changed(cursor=max(1, at))

    def sort(self, order: str, *, reverse: bool = False) -> None:
        """Put the sessions into another order and go to the first: that is what one sorts for."""
        self.order, self.reverse = order, reverse
        self.cursor = -1
        self.show(self.entries)

    @property
    def entry(self) -> SessionEntry | None:
        """The session under the cursor."""
        at = self.cursor - 1
        return self.entries[at] if 0 <= at < len(self.entries) else None

    def go_to(self, path: Path) -> None:
        """Put the cursor on a session."""
        at = next((i for i, entry in enumerate(self.entries, 1) if entry.path == path), 0)
        if at:
            self.set_cursor(at)

    def row_count(self) -> int:
        """Return how many rows there are, the heading included."""
        return len(self.entries) + 1 if self.entries else 0

    def words_of(self, index: int) -> str:
        """Return name, state, tags, remarks and what is in it."""
        return words(self.entries[index - 1])

    def action_mark(self) -> None:
        """Mark or unmark the session under the cursor and go on."""
        entry = self.entry
        if entry is None or entry.deleted is not None:
            return
        if entry.path in self.marked:
            self.marked.remove(entry.path)
        else:
            self.marked.append(entry.path)
        self.action_move_cursor(1)
        self.refresh()
        self.post_message(self.Moved(self, self.cursor))

    # -- painting

    def _layout(self, width: int) -> tuple[int, list[tuple[str, int]], int, int]:
        """Return the width of the name, the columns of numbers that have room, and the widths of tags and models."""
        columns = [("age", 7), ("trials", 7)]
        columns += [("tasks", 6), ("spend $", 8), ("size", 9)] if width >= 88 else []
        tags = min(self._tags, 24 if width >= 88 else 12)
        room = width - 3 - _STATE_WIDTH - sum(size + 1 for _, size in columns) - (tags + 2 if tags else 0)
        # As wide as the longest name, so that its state stands beside it; what is left tells the models.
        name = max(8, min(room, max(30, self._names + 2)))
        return name, columns, tags, max(0, room - name - 2)

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return the columns' names, that of the order marked."""
        name, columns, tags, left = self._layout(width)
        parts: list[Part] = [
            (" " + fit("name", name) + " ", self._mark("name")),
            (fit("state", _STATE_WIDTH), self._mark("state")),
        ]
        parts += [(" " + fit(title, size, right=True), self._mark(title)) for title, size in columns]
        parts += [("  " + fit("tags", tags), self._mark("tags"))] if tags else []
        return [*parts, ("  " + fit("models", left) if left > 8 else "", "dim")]

    def _mark(self, order: str) -> str:
        return "strong" if order == self.order else "dim"

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return the heading or a session."""
        if index == 0:
            return self.heading_parts(width)
        name_width, columns, tag_width, left = self._layout(width)
        entry = self.entries[index - 1]
        name = (
            ("→ " if entry.path == self.chosen else "") + ("● " if entry.path == self.open_path else "") + _name(entry)
        )
        mark = "■" if entry.path in self.marked else " "
        lead: list[Part] = [(mark, "marked"), (fit(name, name_width) + " ", "hidden" if entry.deleted else "")]
        if entry.deleted is not None:
            when = age(entry.deleted.at)
            said = f"deleted {'just now' if when == 'now' else f'{when} ago'}, from {entry.deleted.was.parent}"
            return [*lead, (fit(one_line(said, 300), max(0, width - name_width - 3)), "hidden")]
        if entry.problem:
            rest = width - name_width - _STATE_WIDTH - 3
            problem = fit(one_line(entry.problem, 400), rest)
            return [*lead, (fit("! unusable", _STATE_WIDTH), "failed"), (f" {problem}", "dim")]
        if entry.facts is None:
            return [*lead, (fit("reading…", _STATE_WIDTH), "dim")]
        facts = entry.facts
        word, style = _STATES[facts.state]
        failed = facts.trials_failed or facts.left
        if facts.state == "done" and failed:
            word, style = f"✓ done, {failed} failed", "paused"
        if facts.alarm:
            word, style = f"{word[:1]} ✗ self-check", "failed"
        values = {
            "age": age(entry.changed_at),
            "trials": _progress(facts.trials_done, facts.trials),
            "tasks": f"{facts.tasks:,}" if facts.tasks else "–",
            "spend $": spend_in_figures(facts.spend_usd),
            "size": size_text(entry.size),
        }
        numbers = "".join(" " + fit(values[title], size, right=True) for title, size in columns)
        tags = "  " + fit(in_words(entry.labels), tag_width) if tag_width else ""
        models = "  " + fit(one_line(", ".join(facts.models), 300), left) if left > 8 else ""
        return [*lead, (fit(word, _STATE_WIDTH), style), (numbers, ""), (tags, "marked"), (models, "dim")]

    def on_click(self, event: events.Click) -> None:
        """Sort by the column whose heading is clicked; elsewhere Textual calls the handler of the list as well."""
        if event.y != 0 or not self.entries:
            return
        event.prevent_default()
        name, columns, tags, _ = self._layout(self.text_width)
        at = 1
        for title, size in (
            ("name", name),
            ("state", _STATE_WIDTH),
            *columns,
            *((("tags", tags + 1),) if tags else ()),
        ):
            at += size + 1
            if event.x < at:
                self.post_message(self.HeadingClicked(title))
                return


def _name(entry: SessionEntry) -> str:
    return one_line(entry.path.stem, 300) + (" (example)" if entry.example else "")


def _progress(done: int, total: int) -> str:
    if not total:
        return "–"
    return f"{total:,}" if done == total else f"{done:,}/{total:,}"
