"""The table of sessions: one row a file, numbers right-aligned under their heading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from workbench.app.sessions.listing import SessionEntry, size_text
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.times import age
from workbench.app.toolkit.virtual_view import Part
from workbench.glyphs import STATES
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


class SessionTable(RowList):
    """Rows are session files, the user's own first, then the examples that came with the program."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "open", id="sessions.open"),
        Binding("u", "screen.resume", "resume", id="sessions.resume"),
        Binding("c", "screen.cancel", "cancel run", id="sessions.cancel"),
        Binding("x", "screen.export", "export report", id="sessions.export"),
        Binding("d,delete", "screen.delete", "delete", id="sessions.delete"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.entries: list[SessionEntry] = []
        self.open_path: object = None

    def show(self, entries: Sequence[SessionEntry]) -> None:
        """Show these sessions, the cursor staying on its file."""
        current = self.entry
        self.entries = list(entries)
        at = next((i + 1 for i, entry in enumerate(entries) if current and entry.path == current.path), self.cursor)
        self.rows_changed(cursor=max(1, at))

    @property
    def entry(self) -> SessionEntry | None:
        """The session under the cursor."""
        at = self.cursor - 1
        return self.entries[at] if 0 <= at < len(self.entries) else None

    def row_count(self) -> int:
        """Return how many rows there are, the heading included."""
        return len(self.entries) + 1 if self.entries else 0

    def selectable(self, index: int) -> bool:
        """The heading is passed over."""
        return index > 0

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return the heading or a session."""
        wide = width >= 88
        columns = (
            (("age", 7), ("trials", 7), ("tasks", 6), ("spend $", 8), ("size", 9))
            if wide
            else (("age", 7), ("trials", 7))
        )
        state_width = 16
        room = width - 3 - state_width - sum(size + 1 for _, size in columns)
        # As wide as the longest name, so that its state stands beside it; what is left tells the models.
        name_width = max(8, min(room, max([30, *(len(_name(entry)) + 2 for entry in self.entries)])))
        left = room - name_width - 2
        if index == 0:
            head = fit("name", name_width) + " " + fit("state", state_width)
            head += "".join(" " + fit(title, size, right=True) for title, size in columns)
            head += "  " + fit("models", left) if left > 8 else ""
            return [(f" {head} ", "dim")]
        entry = self.entries[index - 1]
        name = _name(entry)
        if entry.path == self.open_path:
            name = "● " + name
        lead: list[Part] = [(" " + fit(name, name_width) + " ", "")]
        if entry.problem:
            rest = width - name_width - state_width - 3
            problem = fit(one_line(entry.problem, 400), rest)
            return [*lead, (fit("! unusable", state_width), "failed"), (f" {problem}", "dim")]
        if entry.facts is None:
            return [*lead, (fit("reading…", state_width), "dim")]
        facts = entry.facts
        word, style = _STATES[facts.state]
        if facts.state == "done" and facts.trials_failed:
            word, style = f"✓ done, {facts.trials_failed} failed", "paused"
        if facts.alarm:
            word, style = f"{word[:1]} ✗ self-check", "failed"
        values = {
            "age": age(entry.changed_at),
            "trials": _progress(facts.trials_done, facts.trials),
            "tasks": f"{facts.tasks:,}" if facts.tasks else "–",
            "spend $": f"{facts.spend_usd:.3f}",
            "size": size_text(entry.size),
        }
        numbers = "".join(" " + fit(values[title], size, right=True) for title, size in columns)
        models = "  " + fit(one_line(", ".join(facts.models), 300), left) if left > 8 else ""
        return [*lead, (fit(word, state_width), style), (numbers, ""), (models, "dim")]


def _name(entry: SessionEntry) -> str:
    return one_line(entry.path.stem, 300) + (" (example)" if entry.example else "")


def _progress(done: int, total: int) -> str:
    if not total:
        return "–"
    return f"{total:,}" if done == total else f"{done:,}/{total:,}"
