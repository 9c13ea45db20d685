"""What is behind a cell: its trials, or its tasks; enter opens one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from workbench.app.keys import bind
from workbench.app.study.wording import NOTHING, SCORE, figure
from workbench.app.toolkit.columns import Column, Columns
from workbench.app.toolkit.table import Table
from workbench.app.toolkit.virtual_view import Part
from workbench.glyphs import DOUBTFUL, STATES, UNSCORED
from workbench.studies.cells import Cell
from workbench.studies.outcome import StudyOutcome
from workbench.studies.reading import TaskTally, TrialTally
from workbench.studies.values import missing_of, pass_of, value_of
from workbench.text import one_line, shortened

_STYLES = {"done": "passed", "failed": "failed", "running": "running", "interrupted": "paused"}
Item = TrialTally | TaskTally


class CellItems(Table[Item]):
    """The trials or tasks of the cell under the matrix's cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [bind("study.open-item", "choose", "open")]
    LEAD = 1

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__((), key=lambda item: item.task if isinstance(item, TaskTally) else item.trial, id=id)
        self.cell: Cell | None = None
        self._measure = SCORE
        self._scale = ("", "")

    def show(self, outcome: StudyOutcome | None, cell: Cell | None, measure: str) -> None:
        """Show the items of a cell; the cursor stays on its row while it is the same cell."""
        before, how = self.cell, (self._measure, self._scale)
        self.cell, self._measure = cell, measure
        self._scale = outcome.scale if outcome is not None else ("", "")
        if before is not None and before is cell and how == (self._measure, self._scale):
            return  # the study goes on elsewhere
        self.empty = "Nothing is behind this cell yet." if cell is not None else "No cell is chosen."
        self.columns = Columns(self._of_tasks() if cell is not None and cell.work.tasks else self._of_trials())
        if before is None or cell is None or (before.row, before.column) != (cell.row, cell.column):
            self.cursor = -1
        self.put((cell.work.trials or cell.work.tasks) if cell is not None else ())

    def _of_tasks(self) -> Sequence[Column[Item]]:
        def of(task: Item) -> TaskTally:
            assert isinstance(task, TaskTally)
            return task

        def value(task: Item) -> Part:
            return figure(pass_of(of(task), int(self._measure.removeprefix("pass@"))), self._measure), "score"

        def passed(task: Item) -> str:
            one = of(task)
            waiting = f" {STATES['queued']}{one.waiting}" if one.waiting else ""
            return f"{one.passed}{DOUBTFUL if one.doubtful else ''}/{one.counted}{waiting}"

        return (
            Column(title="function", cell=lambda task: one_line(of(task).name, 400), width=8, widest=200, text=True,
                   shorten=shortened, sort=lambda task: of(task).name),
            Column(title=self._measure, cell=value, width=8,
                   sort=lambda task: pass_of(of(task), int(self._measure.removeprefix("pass@")))),
            Column(title="passed", cell=passed, width=8),
            Column(title="tests", cell=lambda task: (f"{of(task).tests}", "dim"), width=5, sort=lambda task: of(task).tests),
        )  # fmt: skip

    def _of_trials(self) -> Sequence[Column[Item]]:
        def of(trial: Item) -> TrialTally:
            assert isinstance(trial, TrialTally)
            return trial

        def cost(trial: Item) -> str:
            usd = of(trial).cost_usd
            return NOTHING if usd is None else f"{usd:.3f}"

        def state(trial: Item) -> Part:
            word, why = missing_of(of(trial), self._measure, self._scale) or (of(trial).state, of(trial).error)
            shown = f"{STATES.get(word, UNSCORED)} {word}"
            return one_line(f"{shown}: {why}" if why else shown, 400), _STYLES.get(word, "dim")

        def value(trial: Item) -> float | None:
            return value_of(of(trial), self._measure, self._scale)

        return (
            Column(title="repeat", cell=lambda trial: f"{of(trial).repeat}", width=6, sort=lambda trial: of(trial).repeat),
            Column(title=self._measure, cell=lambda trial: (figure(value(trial), self._measure), "score"), width=6, sort=value,
                   descending=True),
            Column(title="steps", cell=lambda trial: f"{of(trial).steps:,}", width=5, priority=1),
            Column(title="tokens", cell=lambda trial: f"{of(trial).tokens:,}", width=8, priority=2),
            Column(title="$", cell=cost, width=7, priority=3),
            Column(title="state", cell=state, width=14, widest=400, text=True, shorten=shortened),
        )  # fmt: skip

    def words_of_row(self, row: Item) -> str:
        """Return a task's name, or a trial's state and error."""
        if isinstance(row, TaskTally):
            return row.name
        return " ".join(missing_of(row, self._measure, self._scale) or (row.state, row.error))
