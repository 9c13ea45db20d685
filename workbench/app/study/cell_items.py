"""What is behind a cell: its trials, or its tasks; enter opens one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from workbench.app.study.wording import NOTHING, SCORE, figure
from workbench.app.toolkit.headed_list import HeadedList
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.virtual_view import Part
from workbench.glyphs import DOUBTFUL, STATES, UNSCORED
from workbench.studies.cells import Cell
from workbench.studies.outcome import StudyOutcome
from workbench.studies.reading import TaskTally, TrialTally
from workbench.studies.values import missing_of, pass_of, value_of
from workbench.text import one_line, shortened

_STYLES = {"done": "passed", "failed": "failed", "running": "running", "interrupted": "paused"}
_TRIAL, _TASK = 40, 24
"""Cells of the figures of a row."""


class CellItems(HeadedList):
    """Row 0 is the heading; below it the trials or tasks of the cell under the matrix's cursor."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "choose", "open", id="study.open-item")]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.cell: Cell | None = None
        self._measure = SCORE
        self._scale = ("", "")
        self._items: tuple[TrialTally | TaskTally, ...] = ()

    def put(self, outcome: StudyOutcome | None, cell: Cell | None, measure: str) -> None:
        """Show the items of a cell; the cursor stays on its row while it is the same cell."""
        before, how = self.cell, (self._measure, self._scale)
        self.cell, self._measure = cell, measure
        self._scale = outcome.scale if outcome is not None else ("", "")
        self._items = (cell.work.trials or cell.work.tasks) if cell is not None else ()
        if before is not None and before is cell and how == (self._measure, self._scale):
            return  # the study goes on elsewhere
        same = before is not None and cell is not None and (before.row, before.column) == (cell.row, cell.column)
        self.rows_changed(cursor=self.cursor if same and self.cursor > 0 else 1)

    @property
    def selected(self) -> TrialTally | TaskTally | None:
        """The item under the cursor."""
        at = self.cursor - 1
        return self._items[at] if 0 <= at < len(self._items) else None

    @property
    def items(self) -> Sequence[TrialTally | TaskTally]:
        """All of them."""
        return self._items

    def row_count(self) -> int:
        """Return how many rows there are, the heading included."""
        return len(self._items) + 1

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return the names of the columns, or that nothing is behind the cell."""
        if not self._items:
            said = "Nothing is behind this cell yet." if self.cell is not None else "No cell is chosen."
            return [(f" {said}", "dim")]
        if isinstance(self._items[0], TaskTally):
            return [(f"{fit(' function', max(8, width - _TASK))}{self._measure:>8}{'passed':>9}{'tests':>6} ", "group")]
        return [(f" {'repeat':<7}{self._measure:>6}{'steps':>6}{'tokens':>9}{'$':>8}   {'state'}", "group")]

    def words_of(self, index: int) -> str:
        """Return a task's name, or a trial's state and error."""
        item = self._items[index - 1]
        if isinstance(item, TaskTally):
            return item.name
        return " ".join(missing_of(item, self._measure, self._scale) or (item.state, item.error))

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return an item."""
        item = self._items[index - 1]
        return self._task_parts(item, width) if isinstance(item, TaskTally) else self._trial_parts(item, width)

    def _task_parts(self, task: TaskTally, width: int) -> Sequence[Part]:
        names = max(8, width - _TASK)
        value = figure(pass_of(task, int(self._measure.removeprefix("pass@"))), self._measure)
        passed = f"{task.passed}{DOUBTFUL if task.doubtful else ''}/{task.counted}"
        passed += f" {STATES['queued']}{task.waiting}" if task.waiting else ""
        name = fit(f" {shortened(one_line(task.name, 400), names - 2)}", names)
        return [(name, ""), (f"{value:>8}", "score"), (f"{passed:>9}", ""), (f"{task.tests:>6} ", "dim")]

    def _trial_parts(self, trial: TrialTally, width: int) -> Sequence[Part]:
        value = figure(value_of(trial, self._measure, self._scale), self._measure)
        cost = f"{trial.cost_usd:.3f}" if trial.cost_usd is not None else NOTHING
        state, why = missing_of(trial, self._measure, self._scale) or (trial.state, trial.error)
        said = f"{STATES.get(state, UNSCORED)} {state}"
        figures = f"{trial.steps:>6,}{trial.tokens:>9,}{cost:>8}   "
        room = max(len(said), width - _TRIAL)
        said = said if not why else shortened(one_line(f"{said}: {why}", 400), room)
        return [
            (f" {trial.repeat:<7}", ""), (f"{value:>6}", "score"), (figures, ""), (said, _STYLES.get(state, "dim")),
        ]  # fmt: skip
