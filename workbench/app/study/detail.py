"""What stands beside the matrix: the cell's items, a comparison, rankings, the leaderboard, the studies of the session; one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.widget import Widget

from workbench.app.keys import bind
from workbench.app.study.comparison_list import ComparisonList
from workbench.app.study.leader_list import LeaderList
from workbench.app.study.loading import StudyLine
from workbench.app.study.matrix import StudyMatrix
from workbench.app.study.ranking_list import RankingList
from workbench.app.study.wording import ITEMS, NOTHING, SCORE, figure, shape
from workbench.app.toolkit.columns import Column, Columns
from workbench.app.toolkit.pane import TabLine
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.table import Table
from workbench.app.toolkit.virtual_view import Part
from workbench.glyphs import DOUBTFUL, STATES, UNSCORED
from workbench.studies.cells import Cell
from workbench.studies.declaration import AGENTS
from workbench.studies.outcome import StudyOutcome
from workbench.studies.reading import TaskTally, TrialTally
from workbench.studies.values import missing_of, pass_of, value_of
from workbench.text import one_line, shortened


def _about(line: StudyLine) -> Part:
    if line.problem:
        return one_line(f"{STATES['failed']} {line.problem}", 400), "failed"
    return one_line(line.study.title, 400) if line.study is not None else "", "dim"


def _shape(line: StudyLine) -> Part:
    return shape(line.study, len(line.study.columns)) if line.study is not None else "", "dim"


COLUMNS: tuple[Column[StudyLine], ...] = (
    Column(title="study", cell=lambda line: one_line(line.name, 200), width=12, widest=60, text=True, shorten=shortened),
    Column(title="what is compared", cell=_shape, width=20, widest=120, text=True),
    Column(title="", cell=_about, width=12, widest=400, text=True, priority=1),
)  # fmt: skip


class StudyList(Table[StudyLine]):
    """Studies, the newest first."""

    BINDINGS: ClassVar[list[BindingType]] = [bind("study.open-study", "choose", "show it")]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(COLUMNS, key=lambda line: line.name, id=id)
        self._current = ""

    def show(self, lines: Sequence[StudyLine], current: str) -> None:
        """Show studies, oldest first; ``current`` is the one that is shown."""
        self._current = current
        to = self.selected.name if self.selected is not None else current
        self.put(tuple(reversed(lines)))
        self.go_to(to)

    def lead_of(self, row: StudyLine) -> str:
        return "›" if row.name == self._current else ""

    def words_of_row(self, row: StudyLine) -> str:
        return f"{row.name} {row.study.title if row.study is not None else ''}"


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
        if isinstance(row, TaskTally):
            return row.name
        return " ".join(missing_of(row, self._measure, self._scale) or (row.state, row.error))


CELL, COMPARISON, RANKINGS, LEADERBOARD, STUDIES = TABS = ("Cell", "Comparison", "Rankings", "Leaderboard", "Studies")


class Detail(Container):
    """A line of tabs over the list that is chosen."""

    def compose(self) -> ComposeResult:
        yield TabLine(TABS, id="study-tabs")
        self.cell_items = CellItems(id="study-cell")
        self.comparison = ComparisonList(id="study-comparison")
        self.rankings = RankingList(id="study-rankings")
        self.leaders = LeaderList(id="study-leaders")
        self.studies = StudyList(id="study-list")
        for name, one in self._lists().items():
            one.set_class(name != CELL, "-off", update=False)
            yield one

    def _lists(self) -> dict[str, RowList]:
        lists = (self.cell_items, self.comparison, self.rankings, self.leaders, self.studies)
        return dict(zip(TABS, lists, strict=True))

    @property
    def current(self) -> str:
        return self.query_one(TabLine).current

    @property
    def shown(self) -> RowList:
        return self._lists()[self.current]

    def turn(self, step: int) -> str:
        """Go to the next (1) or previous (-1) tab; returns which."""
        return self.choose(self.query_one(TabLine).beside(step))

    def choose(self, name: str) -> str:
        """Show a tab; the focus moves along where it is in here."""
        inside = isinstance(self.screen.focused, Widget) and self in self.screen.focused.ancestors
        self.query_one(TabLine).current = name
        for known, one in self._lists().items():
            one.set_class(known != name, "-off")
        if inside:
            self.shown.focus()
        return name

    def mark_empty(self, names: frozenset[str]) -> None:
        """Show these tabs as having nothing."""
        self.query_one(TabLine).empty = names


_ORDERS = {"declared": "", "name": "by name", "spread": "by how far columns are apart", "column": "by "}


def matrix_title(outcome: StudyOutcome, matrix: StudyMatrix, grouped_by: str) -> str:
    """Return ``pass@1 · 3 of 30 repositories · grouped by domain · sorted by name``."""
    order = matrix.order
    titles = {one.column.name: one.title for one in outcome.by_column}
    by = _ORDERS[order.by] + (titles.get(order.column, "") if order.by == "column" else "")
    by += ", the other way round" if order.reverse and by else ""
    rows = len(outcome.rows)
    shown = matrix.narrow_counts()[0] if matrix.narrowed and not grouped_by else rows
    count = f"{shown:,} of {rows:,}" if shown != rows else f"{rows:,}"
    noun = ITEMS[outcome.study.kind == AGENTS][2 if rows == 1 else 3]
    in_groups = f"grouped by {grouped_by}" if grouped_by else ""
    parts = [matrix.measure, f"{count} {noun}", in_groups, f"sorted {by}" if by else ""]
    return one_line(" · ".join(filter(None, parts)), 200)


def detail_title(outcome: StudyOutcome | None, matrix: StudyMatrix, detail: Detail) -> tuple[str, str]:
    """Return the title of what stands beside the matrix, and what its figures are."""
    tab = title = detail.current
    cell, found = matrix.selected, detail.comparison.comparison
    titles = {one.column.name: one.title for one in outcome.by_column} if outcome is not None else {}
    if tab == CELL and cell is not None:
        title = f"{matrix.part or cell.row} · {titles[cell.column.name]} · {len(detail.cell_items.rows):,}"
    elif tab == COMPARISON and found is not None and found.right.name in titles and found.left.name in titles:
        right, left = (shortened(titles[one.name], 30) for one in (found.right, found.left))
        title = f"B {right} − A {left}"
    elif tab == RANKINGS and detail.rankings.weighting:
        title = f"Rankings by {detail.rankings.weighting}"
    return one_line(title, 200), "items, tau" if tab == RANKINGS else ""
