"""The right side of the Study mode, and its empty state.

The tabs show the items of a cell, a comparison, rankings, the leaderboard and the list of studies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget

from workbench.app.keys import bindings
from workbench.app.study.comparison_lists import ComparisonList, RankingList
from workbench.app.study.matrix import SPREAD, StudyMatrix
from workbench.app.study.view import (
    CELL,
    COMPARISON,
    LEADERBOARD,
    RANKINGS,
    SCORE,
    STYLES,
    TABS,
    StudyLine,
    StudyView,
    progress,
    shape,
)
from workbench.app.toolkit.columns import ColumnLayout, TableColumn, number_column
from workbench.app.toolkit.fields import PickOption
from workbench.app.toolkit.pane import TabLine
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.table import VirtualTable
from workbench.app.toolkit.text_widgets import Static
from workbench.app.toolkit.virtual_view import Part
from workbench.base.glyphs import DOUBTFUL, STATES, UNSCORED
from workbench.base.text import NOTHING, fixed, many, one_line, percent, plural, shortened
from workbench.studies.cell_work import TaskTally, TrialTally
from workbench.studies.cells import StudyCell, missing_of, pass_of, value_of
from workbench.studies.declaration import AGENTS, PAPER
from workbench.studies.leaderboard import GOOD, JudgeAgreement, LeaderLine
from workbench.studies.outcome import StudyOutcome
from workbench.studies.wording import bounds, figure, judge_words, signed


def _about(line: StudyLine) -> Part:
    if line.problem:
        return one_line(f"{STATES['failed']} {line.problem}", 400), "failed"
    return one_line(line.study.title, 400) if line.study is not None else "", "dim"


def _shape(line: StudyLine) -> Part:
    return shape(line.study, len(line.study.columns)) if line.study is not None else "", "dim"


COLUMNS: tuple[TableColumn[StudyLine], ...] = (
    TableColumn(title="study", cell=lambda line: one_line(line.name, 200), width=12, widest=60, text=True, shorten=shortened),
    TableColumn(title="what is compared", cell=_shape, width=20, widest=120, text=True),
    TableColumn(title="", cell=_about, width=12, widest=400, text=True, priority=1),
)  # fmt: skip


class StudyList(VirtualTable[StudyLine]):
    """The studies of the session, newest first."""

    BINDINGS = bindings("study.open-study")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(COLUMNS, key=lambda line: line.name, id=id)
        self._current = ""

    def show(self, lines: Sequence[StudyLine], current: str) -> None:
        self._current = current
        to = self.selected.name if self.selected is not None else current
        self.put(tuple(reversed(lines)))
        self.go_to(to)

    def lead_of(self, row: StudyLine) -> str:
        return "›" if row.name == self._current else ""


Item = TrialTally | TaskTally


def _task_columns(measure: str) -> tuple[TableColumn[Any], ...]:
    def value(task: TaskTally) -> float | None:
        return pass_of(task, int(measure.removeprefix("pass@")))

    def passed(task: TaskTally) -> str:
        waiting = f" {STATES['queued']}{task.waiting}" if task.waiting else ""
        return f"{task.passed}{DOUBTFUL if task.doubtful else ''}/{task.counted}{waiting}"

    return (
        TableColumn(title="function", cell=lambda task: one_line(task.name, 400), width=8, widest=200, text=True, shorten=shortened,
               sort=lambda task: task.name),
        TableColumn(title=measure, cell=lambda task: (figure(value(task), measure), "score"), width=8, sort=value),
        TableColumn(title="passed", cell=passed, width=8),
        TableColumn(title="tests", cell=lambda task: (f"{task.tests}", "dim"), width=5, sort=lambda task: task.tests),
    )  # fmt: skip


def _trial_columns(measure: str, scale: tuple[str, str]) -> tuple[TableColumn[Any], ...]:
    def state(trial: TrialTally) -> Part:
        word, why = missing_of(trial, measure, scale) or (trial.state, trial.error)
        shown = f"{STATES.get(word, UNSCORED)} {word}"
        return one_line(f"{shown}: {why}" if why else shown, 400), STYLES.get(word, "dim")

    def value(trial: TrialTally) -> float | None:
        return value_of(trial, measure, scale)

    return (
        TableColumn(title="repeat", cell=lambda trial: f"{trial.repeat}", width=6, sort=lambda trial: trial.repeat),
        TableColumn(title=measure, cell=lambda trial: (figure(value(trial), measure), "score"), width=6, sort=value, descending=True),
        TableColumn(title="steps", cell=lambda trial: f"{trial.steps:,}", width=5, priority=1),
        TableColumn(title="tokens", cell=lambda trial: f"{trial.tokens:,}", width=8, priority=2),
        TableColumn(title="$", cell=lambda trial: fixed(trial.cost_usd, 3), width=7, priority=3),
        TableColumn(title="state", cell=state, width=14, widest=400, text=True, shorten=shortened),
    )  # fmt: skip


class CellItems(VirtualTable[Item]):
    """The trials or tasks of the selected cell."""

    BINDINGS = bindings("study.open-item")
    LEAD = 1

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__((), key=lambda item: item.task if isinstance(item, TaskTally) else item.trial, id=id)
        self.cell: StudyCell | None = None
        self._measure = SCORE
        self._scale = ("", "")

    def show(self, outcome: StudyOutcome | None, cell: StudyCell | None, measure: str) -> None:
        """Show the items of a cell; the cursor keeps its place as long as the cell is the same."""
        before, how = self.cell, (self._measure, self._scale)
        self.cell, self._measure = cell, measure
        self._scale = outcome.scale if outcome is not None else ("", "")
        if before is not None and before is cell and how == (self._measure, self._scale):
            return  # a different cell changed
        self.empty = "This cell has no results yet." if cell is not None else "No cell is selected."
        self.columns = ColumnLayout(
            _task_columns(measure) if cell is not None and cell.work.tasks else _trial_columns(measure, self._scale)
        )
        if before is None or cell is None or (before.row, before.column) != (cell.row, cell.column):
            self.cursor = -1
        self.put((cell.work.trials or cell.work.tasks) if cell is not None else ())


def _tier(number: int) -> Callable[[LeaderLine], float | None]:
    return lambda line: line.tiers[number]


def _mean_of(measure: str) -> Callable[[LeaderLine], float | None]:
    return lambda line: line.summary.means[measure].value


def _leader_columns(lines: Sequence[LeaderLine]) -> tuple[TableColumn[LeaderLine], ...]:
    def place(line: LeaderLine) -> str:
        return (NOTHING if line.place is None else f"{line.place}") + _of_cases(lines, line)

    return (
        TableColumn(title="#", cell=place, width=3, widest=9, sort=lambda line: line.place),
        TableColumn(title="agent", cell=lambda line: one_line(line.summary.title, 200), width=12, widest=60, text=True, shorten=shortened,
               sort=lambda line: line.summary.title),
        TableColumn(title="score", cell=lambda line: (figure(line.mean.value, SCORE), "score"), width=6, sort=lambda line: line.mean.value,
               descending=True),
        TableColumn(title="trials", cell=lambda line: progress(line.trials, line.trials + line.mean.undefined), width=9, priority=1),
        TableColumn(title="interval", cell=lambda line: bounds(line.mean.interval.low, line.mean.interval.high, SCORE).strip() or NOTHING, width=13, priority=5),
        *(number_column(f"T{number + 1}", 5, _tier(number), 1, priority=4) for number in range(4)),
        *(number_column(one, 7, _mean_of(one), 1, priority=3) for one in (lines[0].summary.means if lines else ()) if one != SCORE),
        number_column("steps", 6, lambda line: line.steps, 1, priority=3),
        number_column("tokens", 8, lambda line: line.tokens, priority=6),
        number_column("$", 7, lambda line: line.cost_usd, 3, priority=2),
        number_column("s", 6, lambda line: line.seconds, priority=8),
        TableColumn(title=f"> {GOOD:.0f}", cell=lambda line: percent(line.above), width=6, priority=2, sort=lambda line: line.above,
               descending=True),
        number_column("spread", 7, lambda line: line.spread, 1, priority=7),
    )  # fmt: skip


class LeaderList(VirtualTable[LeaderLine]):
    """The agents, best first, followed by the basis of the places and the agreement of the judges."""

    LEAD = 1
    BINDINGS = bindings("study.open-leader")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__((), key=lambda line: line.summary.column.name, id=id)
        self.empty = "Only studies of agents have a leaderboard; see Rankings."

    def show(self, lines: Sequence[LeaderLine], agreements: Sequence[JudgeAgreement]) -> None:
        self.columns = ColumnLayout(_leader_columns(lines))
        self.notes = (*_notes_on_places(lines), *_judges(lines, agreements))
        self.put(lines)


def _of_cases(lines: Sequence[LeaderLine], line: LeaderLine) -> str:
    """Return `` of 1``, the number of cases on which a place is based, or "" if every agent has every case."""
    uneven = any(one.place is not None and one.mean.rows != one.of for one in lines)
    return f" of {line.of}" if uneven and line.place is not None else ""


def _notes_on_places(lines: Sequence[LeaderLine]) -> list[tuple[str, str]]:
    """Return notes on the places: which cases count if some agents lack cases, and why figures are incomplete."""
    texts = []
    if any(_of_cases(lines, one) for one in lines):
        cases = f"{plural(lines[0].of, 'case')} that all agents have"
        means = "; ".join(
            f"{one.summary.title} {figure(one.over_common, SCORE)}" for one in lines if one.place is not None
        )
        texts.append(f"Places count {cases}" + (f": {means}" if lines[0].of else ""))
    for one in lines:
        texts += [f"{one.summary.title}: {missing.words}" for missing in one.missing]
        texts += [f"{one.summary.title}: {number:,} {what}" for what, number in one.summary.doubts.items()]
        if one.mean.own is not None:
            own, of = one.mean.own
            texts.append(
                f"{one.summary.title}: {own:.1f} of {of:.1f} own points; overall {figure(one.mean.value, SCORE)}"
            )
        if one.summary.apart:
            texts.append(f"{one.summary.title} is not compared: {'; '.join(one.summary.apart)}")
    return [("", ""), *((one_line(text, 400), "dim") for text in texts)] if texts else []


def _judges(lines: Sequence[LeaderLine], agreements: Sequence[JudgeAgreement]) -> list[tuple[str, str]]:
    judges = sorted({judge for line in lines for judge in line.by_judge})
    if len(judges) < 2:
        return []
    found = [("", ""), ("Judges side by side", "group")]
    short = {judge: shortened(one_line(judge, 200), 20) for judge in judges}
    for line in lines:
        means, common = (
            " · ".join(f"{short[judge]} {judge_words(line, judge, both)}" for judge in judges) for both in (False, True)
        )
        found.append((f"{shortened(one_line(line.summary.title, 200), 20)}: {means}", ""))
        found += [(f"  on what all scored: {common}", "")] if common != means else []
    for one in agreements:
        difference = f"{short[one.right]} − {short[one.left]}: {signed(one.difference, SCORE)}"
        found.append((f"{difference} on {one.trials:,} trials", "strong"))
        tau, columns = (figure(value, 2).replace("-", "−") for value in (one.tau, one.columns_tau))
        found.append((f"  Kendall's tau {tau} of trials, {columns} of agents", "dim"))
    return found


class StudyDetail(Container):
    """A line of tabs above the active list."""

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
        """Activate the next (1) or previous (-1) tab and return its name."""
        return self.choose(self.query_one(TabLine).beside(step))

    def choose(self, name: str) -> str:
        """Activate a tab and return its name; the focus moves along if it was on a list here."""
        inside = isinstance(self.screen.focused, Widget) and self in self.screen.focused.ancestors
        self.query_one(TabLine).current = name
        for known, one in self._lists().items():
            one.set_class(known != name, "-off")
        if inside:
            self.shown.focus()
        return name

    def show(self, view: StudyView) -> None:
        outcome = view.outcome
        no_leaders = outcome is not None and outcome.study.kind != AGENTS
        self.query_one(TabLine).empty = frozenset({LEADERBOARD} if no_leaders else ())
        self.studies.show(view.lines, view.wanted.name)
        self.comparison.put(view.comparison, outcome)
        if view.wanted.tab == RANKINGS:
            self.rankings.put(outcome, *view.ranked)
        elif view.wanted.tab == LEADERBOARD:
            self.leaders.show(*view.leaders)


# -- the empty state


NEW, FILE = "new study", "study.toml"
"""Study templates besides the bundled studies."""


def templates() -> tuple[PickOption, ...]:
    from workbench.studies.study_files import packaged_studies, study_named

    packaged = [study_named(name) for name in packaged_studies()]
    special = {PAPER: "The paper's published tables, read-only: its report"}
    return (
        PickOption(NEW, "Choose cases and agents, or sources and doc systems"),
        *(PickOption(one.name, special.get(one.kind, one.title.partition(":")[0])) for one in packaged),
        PickOption(FILE, "A study declared in a file"),
    )


_COLUMNS: tuple[TableColumn[PickOption], ...] = (
    TableColumn(title="", cell=lambda way: (way.name, "group"), width=14, text=True),
    TableColumn(title="", cell=lambda way: way.about, width=20, widest=200, text=True),
)


class TemplateList(VirtualTable[PickOption]):
    """A row per study template."""

    LEAD = 1
    BINDINGS = bindings("study.begin")


OPENING = "Opening…"
NO_SESSION = "No session is open: press {app.sessions} to choose one."
NO_STUDY = (
    "This session has no study: a matrix of agents on cases, or of doc systems on repositories.\n"
    "Enter creates one here; in a terminal, `workbench study agents` does."
)


class EmptyState(Container):
    """A message, with the list of templates if there is no study."""

    def compose(self) -> ComposeResult:
        yield Static("", id="study-state", classes="state")
        begin = TemplateList(_COLUMNS, key=lambda way: way.name, id="study-begin")
        begin.add_class("-off")
        yield begin

    @property
    def offers_templates(self) -> bool:
        return self.display and not self.query_one(TemplateList).has_class("-off")

    def on_mount(self) -> None:
        self.call_after_refresh(lambda: self.query_one(TemplateList).put(templates()))

    def show(self, sentence: str, *, failed: bool = False) -> None:
        """Show a message, or hide this widget if the message is ""; ``failed`` styles it as an error."""
        begins = sentence in (NO_STUDY, NO_SESSION)
        state = self.query_one("#study-state", Static)
        state.update(sentence)
        state.set_class(failed, "-failed")
        state.set_class(begins, "-short")
        self.query_one(TemplateList).set_class(not begins, "-off")
        self.set_class(not sentence, "-off")


# -- titles


def matrix_title(outcome: StudyOutcome, matrix: StudyMatrix) -> str:
    """Return the title of the matrix: ``pass@1 · 3 of 30 repositories · grouped by domain · sorted by name``."""
    order, grouping = matrix.arrangement.order, matrix.arrangement.grouping
    titles = {one.column.name: one.title for one in outcome.by_column}
    by = {"": "", SPREAD: "by spread"}.get(order, f"by {titles.get(order, 'name')}")
    by += ", reversed" if matrix.arrangement.reverse and by else ""
    rows = len(outcome.rows)
    shown = matrix.narrow_counts()[0] if matrix.narrowed and not grouping else rows
    counted = f"{shown:,} of {rows:,}" if shown != rows else f"{rows:,}"
    noun = outcome.study.row_noun
    parts = (
        f"{counted} {noun if rows == 1 else many(noun)}",
        grouping and f"grouped by {grouping}",
        by and f"sorted {by}",
    )
    return one_line(" · ".join(filter(None, (matrix.measure, *parts))), 200)


def detail_title(outcome: StudyOutcome | None, matrix: StudyMatrix, detail: StudyDetail) -> tuple[str, str]:
    tab = title = detail.current
    cell, found = matrix.cell, detail.comparison.comparison
    titles = {one.column.name: one.title for one in outcome.by_column} if outcome is not None else {}
    if tab == CELL and cell is not None:
        title = f"{matrix.part or cell.row} · {titles[cell.column.name]} · {len(detail.cell_items.rows):,}"
    elif tab == COMPARISON and found is not None and found.right.name in titles and found.left.name in titles:
        right, left = (shortened(titles[one.name], 30) for one in (found.right, found.left))
        title = f"B {right} − A {left}"
    elif tab == RANKINGS and detail.rankings.weighting:
        title = f"Rankings by {detail.rankings.weighting}"
    return one_line(title, 200), "items, tau" if tab == RANKINGS else ""
