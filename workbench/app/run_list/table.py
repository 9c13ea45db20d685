"""The table of runs: what was asked for first, numbers right-aligned under their heading."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType

from workbench.app.keys import bind
from workbench.app.marks import Marked, Marks
from workbench.app.toolkit.amounts import age, duration, spend_in_figures
from workbench.app.toolkit.columns import Column
from workbench.app.toolkit.table import Table
from workbench.app.toolkit.virtual_view import Part
from workbench.glyphs import STATES
from workbench.results.runs import RunLine
from workbench.text import clean, one_line, shortened

_STYLES = {
    "done": "passed", "failed": "failed", "running": "running", "unscored": "unscored", "interrupted": "paused",
    "cancelled": "waiting", "queued": "waiting",
}  # fmt: skip


def _state(line: RunLine) -> Part:
    if line.put_away:
        return "put away", "dim"
    if line.paused:
        return f"{STATES['interrupted']} paused", "paused"
    if line.place:
        return f"{STATES['queued']} queued {line.place}", "waiting"
    partly = line.state == "done" and line.failed
    return f"{STATES.get(line.state, '?')} {line.state}", "paused" if partly else _STYLES.get(line.state, "dim")


def so_far(line: RunLine) -> str:
    """Return how far a run is: ``12 of 40 samples``, or ``40 samples`` once nothing is missing, and how many failed."""
    unit = line.unit if line.total != 1 else line.unit.removesuffix("s")
    if not line.total:
        return "–"
    if line.done < line.total:
        return f"{line.done:,} of {line.total:,} {unit}"
    return f"{line.total:,} {unit}, {line.failed:,} failed" if line.failed else f"{line.total:,} {unit}"


def title_within(title: str, width: int) -> str:
    """Return a title in at most ``width`` cells: the cases give way first, for agent and model tell runs apart."""
    what, dot, rest = title.partition(" · ")
    room = width - len(dot) - len(rest)
    return f"{shortened(what, room)}{dot}{rest}" if dot and 8 <= room < len(what) else shortened(title, width)


COLUMNS: tuple[Column[RunLine], ...] = (
    Column(title="run", cell=lambda run: clean(run.title), width=36, widest=200, text=True, shorten=title_within,
           sort=lambda run: run.title.casefold()),
    Column(title="state", cell=_state, width=14, widest=14, text=True,
           sort=lambda run: list(STATES).index(run.state) if run.state in STATES else len(STATES)),
    Column(title="so far", cell=so_far, width=22, widest=24, priority=1, sort=lambda run: run.done / run.total if run.total else None),
    Column(title="spend $", cell=lambda run: spend_in_figures(run.spend_usd), width=8, priority=2,
           sort=lambda run: run.spend_usd, descending=True),
    Column(title="age", cell=lambda run: age(run.created_at), width=7, priority=3, sort=lambda run: run.created_at,
           descending=True),
    Column(title="took", cell=lambda run: "–" if run.seconds is None else duration(run.seconds), width=8, priority=4,
           sort=lambda run: run.seconds, descending=True),
)  # fmt: skip


class RunTable(Table[RunLine]):
    """Runs; those that were put away are shown on request.

    Attributes:
        with_put_away: Whether those that were put away are shown too.
        current: The run that is shown behind this table.
        marks: What is marked to be compared.
        session: The file that the runs are of.
    """

    KEPT = (*Table.KEPT, "with_put_away", "session")
    BINDINGS: ClassVar[list[BindingType]] = [bind("runs.open", "choose", "open")]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(COLUMNS, key=lambda run: run.id, order="age", id=id)
        self.with_put_away = False
        self.current = ""
        self.marks = Marks()
        self.session = Path()

    def filtered(self, rows: Sequence[RunLine]) -> list[RunLine]:
        return [run for run in rows if self.with_put_away or not run.put_away]

    def marked(self, line: RunLine) -> Marked:
        return Marked(self.session, "run", line.id, one_line(line.title, 100), line.id, line.kind == "document")

    def lead_of(self, row: RunLine) -> str:
        return self.marks.letter(self.marked(row)) or ("›" if row.id == self.current else "")

    def style_of(self, row: RunLine) -> str:
        return "dim" if row.put_away else ""

    def words_of_row(self, row: RunLine) -> str:
        return f"{row.id} {row.kind} {row.title} {row.asked} {'put away' if row.put_away else row.state} {row.error}"
