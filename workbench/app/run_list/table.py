"""The table of runs: what was asked for first, numbers right-aligned under their heading."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from workbench.app.marks import Marked, Marks
from workbench.app.run_list.lines import RunLine, in_order
from workbench.app.toolkit.amounts import spend_in_figures
from workbench.app.toolkit.headed_list import HeadedList
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.times import age, duration
from workbench.app.toolkit.virtual_view import Part
from workbench.glyphs import STATES
from workbench.text import clean, one_line, shortened

_STYLES = {
    "done": "passed", "failed": "failed", "running": "running", "unscored": "unscored", "interrupted": "paused",
    "cancelled": "waiting", "queued": "waiting",
}  # fmt: skip
_STATE = 14
# Title and width; the last ones go first where there is no room.
_NUMBERS = (("so far", 22), ("spend $", 8), ("age", 7), ("took", 8))
_LEAST = 36


class RunTable(HeadedList):
    """Row 0 is the heading; below it the runs.

    Attributes:
        lines: All runs of the session.
        shown: Those that are shown, in their order.
        order: What they are sorted by, see :data:`workbench.app.run_list.lines.ORDERS`; ``reverse`` turns it round.
        with_put_away: Whether those that were put away are shown too.
        current: The run that is shown behind this table.
        marks: What is marked to be compared.
        session: The file that the runs are of.
    """

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "open", id="runs.open"),
    ]

    class HeadingClicked(Message):
        """A column's heading was clicked; ``order`` is what it sorts by."""

        def __init__(self, order: str) -> None:
            super().__init__()
            self.order = order

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: tuple[RunLine, ...] = ()
        self.shown: list[RunLine] = []
        self.order, self.reverse = "age", False
        self.with_put_away = False
        self.current = ""
        self.marks = Marks()
        self.session = Path()

    @property
    def selected(self) -> RunLine | None:
        """The run under the cursor."""
        at = self.cursor - 1
        return self.shown[at] if 0 <= at < len(self.shown) else None

    def marked(self, line: RunLine) -> Marked:
        """Return a run as it is marked."""
        return Marked(self.session, "run", line.id, one_line(line.title, 100), line.id, line.kind == "document")

    def put(self, lines: tuple[RunLine, ...]) -> None:
        """Show these runs; the cursor stays on its run."""
        self.lines = lines
        self.rearrange()

    def rearrange(self, to: str = "") -> None:
        """Sort anew; the cursor stays on its run, or goes to the one that is named."""
        kept = to or (self.selected.id if self.selected is not None else "")
        wanted = [line for line in self.lines if self.with_put_away or not line.put_away]
        self.shown = in_order(wanted, self.order, reverse=self.reverse)
        at = next((place for place, line in enumerate(self.shown, 1) if line.id == kept), None)
        self.rows_changed(cursor=at if at is not None else max(1, min(self.cursor, len(self.shown))))

    def row_count(self) -> int:
        """Return how many rows there are, the heading included."""
        return len(self.shown) + 1 if self.shown else 0

    def words_of(self, index: int) -> str:
        """Return what a run is called, what was asked for, its state and why it failed."""
        line = self.shown[index - 1]
        state = "put away" if line.put_away else line.state
        return f"{line.id} {line.kind} {line.title} {line.asked} {state} {line.error}"

    def _layout(self, width: int) -> tuple[int, list[tuple[str, int]]]:
        """Return the width of the title and the columns of numbers that have room."""
        numbers = list(_NUMBERS)
        while numbers and width - 3 - _STATE - sum(size + 1 for _, size in numbers) < _LEAST:
            numbers.pop()
        return max(8, width - 4 - _STATE - sum(size + 1 for _, size in numbers)), numbers

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return the columns' names, that of the order marked."""
        room, numbers = self._layout(width)
        parts: list[Part] = [("  ", "")]
        parts += [(fit("run", room) + " ", self._mark("run")), (fit("state", _STATE), self._mark("state"))]
        return [*parts, *((" " + fit(name, size, right=True), self._mark(name)) for name, size in numbers)]

    def _mark(self, order: str) -> str:
        return "strong" if order == self.order else "dim"

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return a run."""
        if index == 0:
            return self.heading_parts(width)
        line = self.shown[index - 1]
        room, numbers = self._layout(width)
        values = {
            "so far": so_far(line),
            "spend $": spend_in_figures(line.spend_usd),
            "age": age(line.created_at),
            "took": "–" if line.seconds is None else duration(line.seconds),
        }
        mark = self.marks.letter(self.marked(line)) or ("›" if line.id == self.current else " ")
        name = fit(title_within(clean(line.title), room), room)
        if line.put_away:
            state, style = "put away", "dim"
        elif line.paused:
            state, style = f"{STATES['interrupted']} paused", "paused"
        elif line.place:
            state, style = f"{STATES['queued']} queued {line.place}", "waiting"
        else:
            state, style = f"{STATES.get(line.state, '?')} {line.state}", _STYLES.get(line.state, "dim")
            if line.state == "done" and line.failed:
                style = "paused"
        quiet = "dim" if line.put_away else ""
        parts: list[Part] = [(f"{mark} ", "marked"), (f"{name} ", quiet), (fit(state, _STATE), style)]
        return [*parts, *((" " + fit(values[title], size, right=True), quiet) for title, size in numbers)]

    def on_click(self, event: events.Click) -> None:
        """Sort by the column whose heading is clicked; elsewhere Textual calls the handler of the list as well."""
        if event.y != 0 or not self.shown:
            return
        event.prevent_default()
        room, numbers = self._layout(self.text_width)
        at = 2
        for title, size in (("run", room), ("state", _STATE), *numbers):
            at += size + 1
            if event.x < at:
                self.post_message(self.HeadingClicked(title))
                return


def title_within(title: str, width: int) -> str:
    """Return a title in at most ``width`` cells: the cases give way first, for agent and model tell runs apart."""
    what, dot, rest = title.partition(" · ")
    room = width - len(dot) - len(rest)
    return f"{shortened(what, room)}{dot}{rest}" if dot and 8 <= room < len(what) else shortened(title, width)


def so_far(line: RunLine) -> str:
    """Return how far a run is: ``12 of 40 samples``, or ``40 samples`` once nothing is missing, and how many failed."""
    unit = line.unit if line.total != 1 else line.unit.removesuffix("s")
    if not line.total:
        return "–"
    if line.done < line.total:
        return f"{line.done:,} of {line.total:,} {unit}"
    return f"{line.total:,} {unit}, {line.failed:,} failed" if line.failed else f"{line.total:,} {unit}"
