"""The lists of the Trials screen: trials with filters, losses by criterion, means by case, scores by agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from workbench.app.keys import bindings, key_of, with_keys
from workbench.app.location import MarkedItem, Marks
from workbench.app.toolkit.cell_table import CellTable, Grid
from workbench.app.toolkit.columns import TableColumn, number_column
from workbench.app.toolkit.filters import Filter, FilterFacet, FilterOption
from workbench.app.toolkit.plot import axis, interval_bar, stacked
from workbench.app.toolkit.row_list import HeadedList, fit
from workbench.app.toolkit.table import Grouping, TableGroup, VirtualTable
from workbench.app.toolkit.virtual_view import Part
from workbench.base.glyphs import STATES
from workbench.base.text import NOTHING, fixed, one_line, plural, shortened
from workbench.results.scores import Loss, losses_among
from workbench.results.spread import ScoreSpread, comparable
from workbench.results.trials import (
    Agent,
    Matrix,
    MatrixCell,
    Scores,
    TrialLine,
    Trials,
    matrix_of,
    share_of,
    spread_among,
)
from workbench.session.labels import star_first

TrialFilter = Filter[TrialLine]
MOST_FILES = 20
"""The number of files offered by the filter, most read first; the name field finds the others."""
_BANDS = ((0, 20), (20, 40), (40, 60), (60, 80), (80, 101))


def named(line: TrialLine) -> str:
    return f"{line.case} {line.agent} {line.model} {line.tags} {line.error}\n{line.read}"


def _option(value: str, text: str, rule: Callable[[TrialLine], bool]) -> FilterOption[TrialLine]:
    return FilterOption(value, shortened(value, 26), f"{text} {shortened(value, 30)}", rule)


def _values(key: str, read: Callable[[TrialLine], str], lines: Sequence[TrialLine]) -> FilterFacet[TrialLine]:
    values = sorted({read(line) for line in lines}, key=str.lower)
    options = (_option(value, key, lambda line, value=value: read(line) == value) for value in values)  # type: ignore[misc]
    return FilterFacet(key, key, tuple(options))


def _several(
    key: str, title: str, text: str, values: Iterable[str], read: Callable[[TrialLine], Collection[str]]
) -> tuple[FilterFacet[TrialLine], ...]:
    """Return a facet for a multi-valued property, or () if no row has a value."""
    options = tuple(_option(value, text, lambda line, value=value: value in read(line)) for value in values)  # type: ignore[misc]
    return (FilterFacet(key, title, options),) if options else ()


def _state(state: str, sign: str) -> FilterOption[TrialLine]:
    return FilterOption(state, f"{sign} {state}", f"{sign} {state}", lambda line: line.state == state)


def _band(low: int, high: int) -> FilterOption[TrialLine]:
    return FilterOption(
        f"{low}",
        f"{low} to {min(high, 100)} of 100",
        f"score {low} to {min(high, 100)}",
        lambda line: line.share is not None and low <= line.share < high,
    )


def questions_about(lines: Sequence[TrialLine]) -> tuple[FilterFacet[TrialLine], ...]:
    read = Counter(path for line in lines if line.read for path in line.read.split("\n"))
    files = (path for path, _ in read.most_common(MOST_FILES))
    lost = sorted({title for line in lines for title, _ in line.lost})
    tags = star_first({tag for line in lines for tag in line.labels})
    return (
        FilterFacet("state", "state", tuple(_state(state, sign) for state, sign in STATES.items())),
        FilterFacet("score", "score", (*(_band(low, high) for low, high in _BANDS), *_SCORES)),
        _GROUNDING,
        _values("agent", lambda line: line.agent, lines),
        _values("model", lambda line: line.model, lines),
        _values("case", lambda line: line.case, lines),
        *_several("read", "file read", "read", files, lambda line: line.read.split("\n")),
        *((_FORKS,) if any(line.parent for line in lines) else ()),
        *_several("lost", "lost by", "lost by", lost, lambda line: [title for title, _ in line.lost]),
        *_several("tag", "tag", "tag", tags, lambda line: line.labels),
    )


_SCORES: tuple[FilterOption[TrialLine], ...] = (
    FilterOption(
        "part", "tiers unscored", "partly scored", lambda line: line.points is not None and line.share is None
    ),
    FilterOption("none", "no score", "without a score", lambda line: line.points is None),
)
_GROUNDING: FilterFacet[TrialLine] = FilterFacet("grounding", "grounding", (
    FilterOption("nowhere", "items nowhere", "nowhere > 0", lambda line: bool(line.nowhere)),
    FilterOption("grounded", "none nowhere", "nothing nowhere", lambda line: line.nowhere == 0),
    FilterOption("unknown", "not known", "grounding not known", lambda line: line.nowhere is None),
))  # fmt: skip
_FORKS: FilterFacet[TrialLine] = FilterFacet("fork", "forks", (
    FilterOption("own", "without forks", "without forks", lambda line: not line.parent),
    FilterOption("forks", "forks only", "forks only", lambda line: bool(line.parent)),
))  # fmt: skip
EVERYTHING: TrialFilter = Filter((), named)


def spread_text(spread: ScoreSpread) -> str:
    """Return ``mean 79.3 ± 3.4 · 61.0 to 85.4``, with a note on excluded trials.

    If the answer format earned more than 10% of the points, the points the model earned itself come first.
    """
    if spread.mean is None:
        return "unscored"
    sd = "" if spread.sd is None else f" ± {spread.sd:.1f}"
    own = "" if spread.own is None else f"own points {spread.own[0]:.1f} of {spread.own[1]:.1f} · "
    left_out = f" (without {spread.left_out})" if spread.left_out else ""
    ends = "" if spread.low is None or spread.low == spread.high else f" · {spread.low:.1f} to {spread.high:.1f}"
    remarks = "".join(f" · {remark}" for remark in spread.remarks)
    return f"{own}mean {spread.mean:.1f}{sd}{unit_of(spread)}{ends}{left_out}{remarks}"


def unit_of(spread: ScoreSpread) -> str:
    """Return the maximum of a mean, such as ``/40`` if tiers are unscored, or "" if it is 100 points."""
    return "" if spread.out_of == 100 else f"/{spread.out_of:g}"


def own_cell(own: tuple[float, float] | None) -> str:
    """Format the points that the model earned itself as ``11.5/42``, or return "" for None."""
    return "" if own is None else f"{own[0]:.1f}/{own[1]:.0f}"


def without_forks(count: int) -> str:
    """Return a note on how many forks a mean excludes, or "" if it excludes none."""
    return f" · {plural(count, 'fork')} not in it" if count else ""


_STYLES = {"done": "passed", "failed": "failed", "running": "running", "unscored": "unscored", "interrupted": "paused"}


def _score(line: TrialLine) -> Part:
    """Return the total score, with its maximum if tiers are unscored."""
    full = line.points is None or line.total.out_of == 100
    return fixed(line.points, 1) if full else f"{line.points:.0f}/{line.total.out_of:.0f}", "score"


def _mean(rows: Sequence[TrialLine]) -> str:
    spread = spread_among(rows)
    return NOTHING if spread.mean is None else f"{spread.mean:.{1 if not unit_of(spread) else 0}f}{unit_of(spread)}"


def _tier(number: int) -> TableColumn[TrialLine]:
    def mean(rows: Sequence[TrialLine]) -> str:
        """Average the tier over the trials in the group's mean, provided all of them have it."""
        scored = [row.tiers[number - 1] for row in rows if not row.parent and row.total.share is not None]
        values = [value for value in scored if value is not None]
        return fixed(sum(values) / len(values), 1) if values and len(values) == len(scored) else NOTHING

    return TableColumn(title=f"T{number}", cell=lambda line: fixed(line.tiers[number - 1], 1), width=5, priority=15,
                  sort=lambda line: line.tiers[number - 1], descending=True, figure=mean)  # fmt: skip


def _use(line: TrialLine) -> Part:
    """Return use@1 of the README, with the number of tasks so far if the run is not complete."""
    if line.use is None:
        return "", ""
    return f"{line.use.value:.2f}" + (f" n {line.use.tasks}" if line.use.partial else ""), "strong"


def _mean_use(rows: Sequence[TrialLine]) -> str:
    """Average use@1 over the trials of a group, provided all of them have it."""
    values = [row.use.value for row in rows if row.use is not None and not row.use.partial and not row.parent]
    complete = values and len(values) == sum(not row.parent for row in rows)
    return fixed(sum(values) / len(values), 2) if complete else NOTHING


def _identity(line: TrialLine) -> tuple[str, ...]:
    return line.case.lower(), line.agent, line.model, f"{line.repeat:09}"


# On narrow screens, numbers are dropped first, then text that rarely tells trials apart; the score always stays.
COLUMNS: tuple[TableColumn[TrialLine], ...] = (
    TableColumn(title="case", cell=lambda line: line.shown_case, width=14, widest=60, text=True, shorten=shortened, sort=_identity),
    TableColumn(title="agent", cell=lambda line: line.agent, width=11, widest=30, text=True, priority=1, shorten=shortened,
           sort=lambda line: (line.agent, line.model, *_identity(line))),
    TableColumn(title="model", cell=lambda line: (line.model, "dim"), width=13, widest=60, text=True, priority=2, shorten=shortened,
           sort=lambda line: (line.model.lower(), line.agent, *_identity(line))),
    TableColumn(title="state", cell=lambda line: (f"{STATES.get(line.state, '?')} {line.state}", _STYLES.get(line.state, "dim")),
           width=13, widest=13, text=True, sort=lambda line: [*STATES, line.state].index(line.state)),
    TableColumn(title="tags", cell=lambda line: (line.tags, "marked"), width=16, widest=40, text=True, priority=3, shorten=shortened,
           sort=lambda line: line.tags or None),
    TableColumn(title="rep", cell=lambda line: f"{line.repeat}", width=4, priority=11),
    TableColumn(title="own", cell=lambda line: own_cell(line.total.own), width=8, widest=9,
           figure=lambda rows: own_cell(spread_among(rows).own)),
    TableColumn(title="score", cell=_score, width=6, sort=lambda line: line.share, descending=True, figure=_mean),
    TableColumn(title="use", cell=_use, width=5, widest=9, priority=14, sort=lambda line: line.use.value if line.use else None,
           descending=True, figure=_mean_use),
    *(_tier(number) for number in (1, 2, 3, 4)),
    number_column("steps", 5, lambda line: line.steps, priority=13),
    number_column("tokens", 8, lambda line: line.tokens, priority=19),
    number_column("s", 6, lambda line: line.seconds, priority=20),
    number_column("nowhere", 7, lambda line: line.nowhere, priority=16),
    number_column("unseen", 6, lambda line: line.unseen, priority=17),
    number_column("seen %", 6, lambda line: line.shown, priority=18),
    number_column("$", 7, lambda line: line.cost, 3, priority=12),
)  # fmt: skip
GROUPINGS: tuple[Grouping[TrialLine], ...] = (
    Grouping("agent", lambda line: line.agent),
    Grouping("model", lambda line: line.model),
    Grouping("case", lambda line: line.case),
    Grouping("run", lambda line: line.run),
)


class TrialTable(VirtualTable[TrialLine]):
    """The trials, with group means; ``current`` is the trial that the user came from."""

    RESTORED = (*VirtualTable.RESTORED, "trials", "filter", "session")
    BINDINGS = bindings("trials/list")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(COLUMNS, key=lambda line: line.id, groupings=GROUPINGS, next_order="score", id=id)
        self.trials = Trials((), (), None)
        self.filter: TrialFilter = EVERYTHING
        self.current = ""
        self.marks = Marks()
        self.session = Path()
        self._spreads: dict[str, ScoreSpread] = {}

    def put_trials(self, trials: Trials) -> None:
        self.trials = trials
        self.put(trials.lines)

    def filtered(self, rows: Sequence[TrialLine]) -> list[TrialLine]:
        return [rows[place] for place in self.filter.passing(rows)]

    def arrange_rows(self, *, measure: bool = True) -> None:
        self._spreads = {}
        super().arrange_rows(measure=measure)

    def spread_of_group(self, group: TableGroup[TrialLine]) -> ScoreSpread:
        if group.name not in self._spreads:
            self._spreads[group.name] = spread_among(group.rows)
        return self._spreads[group.name]

    def sort_key(self, column: TableColumn[TrialLine], rows: Sequence[TrialLine]) -> Callable[[TrialLine], Any] | None:
        if column.title != "score":
            return column.sort
        basis = {(one.tiers, one.out_of) for one in comparable([line.total for line in rows])}

        def share(line: TrialLine) -> float | None:
            if (line.total.tiers, line.total.out_of) not in basis or line.points is None:
                return None
            points, out_of = line.total.own or (line.points, line.total.out_of)
            return points / out_of

        return share

    def rank_of_group(self, group: TableGroup[TrialLine]) -> float:
        return -share_of(self.spread_of_group(group))

    def title_of_group(self, group: TableGroup[TrialLine]) -> str:
        spread = self.spread_of_group(group)
        count = plural(spread.trials, "trial")
        return f"{group.name}  {count}  {spread_text(spread)}{without_forks(len(group.rows) - spread.trials)}"

    def lead_of(self, row: TrialLine) -> str:
        return self.marks.letter(self.marked(row)) or ("›" if row.id == self.current else "")

    def words_of_row(self, row: TrialLine) -> str:
        return f"{row.case} {row.agent} {row.model} {row.state} {row.tags} {row.error} {row.read}"

    def lead_of_group(self, group: TableGroup[TrialLine]) -> str:
        return self.marks.letter(self.marked_group(group)) or super().lead_of_group(group)

    def on_group(self) -> str:
        group = self.selected_group
        marked = self.marks.of("trials")
        if len(marked) == 2:
            return with_keys("A and B are marked: {trials.compare} compares them by case and by criterion.")
        if marked and group is not None and not self.marks.letter(self.marked_group(group)):
            return f"A ({marked[0].title}) is marked: {key_of('trials.compare')} compares it with this group."
        folded = group is not None and group.name in self.arrangement.folded
        way = "opens" if folded else "folds"
        return with_keys(
            "{trials.open} " + way + " this group; {trials.mark} marks it for comparison with another one."
        )

    def action_mark(self) -> None:
        one = self.under_cursor
        if one is None:
            return
        self.marks.toggle(one)
        self.refresh()
        self.post_message(self.RowHighlighted(self, self.cursor))

    @property
    def under_cursor(self) -> MarkedItem | None:
        if self.selected is not None:
            return self.marked(self.selected)
        return None if self.selected_group is None else self.marked_group(self.selected_group)

    def marked(self, line: TrialLine) -> MarkedItem:
        title = f"{line.agent} · {line.case} · rep {line.repeat}"
        return MarkedItem(self.session, "trial", line.id, one_line(title, 100))

    def marked_group(self, group: TableGroup[TrialLine]) -> MarkedItem:
        return MarkedItem(self.session, "trials", tuple(line.id for line in group.rows), one_line(group.name, 100))


LOSS_COLUMNS: tuple[TableColumn[Loss], ...] = (
    TableColumn(title="criterion", cell=lambda loss: loss.title, width=12, widest=60, text=True, shorten=shortened,
           sort=lambda loss: loss.title.casefold()),
    TableColumn(title="mean", cell=lambda loss: (f"−{loss.mean:.2f}", "poor"), width=7, sort=lambda loss: loss.mean, descending=True),
    TableColumn(title="trials", cell=lambda loss: f"{loss.trials:,}", width=7, sort=lambda loss: loss.trials, descending=True),
)  # fmt: skip


class LossList(VirtualTable[Loss]):
    """A row per criterion, largest loss first."""

    LEAD = 1
    BINDINGS = bindings("trials.loss-open")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(LOSS_COLUMNS, key=lambda loss: loss.title, id=id)

    def put_trials(self, lines: Sequence[TrialLine]) -> None:
        """Show the losses of trials; forks, unscored trials and trials lacking some tiers do not count."""
        own = [line for line in lines if not line.parent]
        counted = comparable([line.total for line in own])
        tiers = counted[0].tiers if counted else ()
        self.put(losses_among([line.lost for line in own if line.points is not None and line.total.tiers == tiers]))


# -- matrix of cases and agents


_CELL = 12
"""The preferred width of a matrix cell. Cells shrink to their content if that makes all columns fit."""


class CaseMatrix(CellTable[str]):
    """A row per case and a column per agent, or per agent and model if an agent has several models."""

    BINDINGS = bindings("trials/matrix")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(Grid(_CASES, ()), key=str, id=id)
        self.matrix = Matrix((), (), {})

    def put_trials(self, lines: Sequence[TrialLine]) -> None:
        self.matrix = matrix_of(lines)
        least = max((len(_cell(cell)[0]) for cell in self.matrix.cells.values()), default=_CELL)
        columns = [self._column(column) for column in self.matrix.columns]
        heads = max((len(name) for column in self.matrix.columns for name in column), default=0)
        wide = max(_CELL, least)
        self.show_columns(Grid(_CASES, columns, least=least, usual=wide, whole=wide, heads=heads, least_name=8))
        self.put(self.matrix.cases)

    def _column(self, column: tuple[str, str]) -> TableColumn[str]:
        return TableColumn(
            title=" · ".join(column), cell=lambda case: _cell(self.matrix.cells.get((case, column))), width=0
        )

    @property
    def chosen(self) -> tuple[str, tuple[str, str]] | None:
        """The case and the (agent, model) pair of the selected cell, or None if there is none."""
        return (self.selected, self.matrix.columns[self.at]) if self.selected and self.matrix.columns else None

    def head_of(self, at: int, width: int) -> Part:
        agent, model = self.matrix.columns[at] if at >= 0 else ("", "")
        return shortened(model if self.matrix.several_models else agent, width), "dim"

    def agents(self, width: int) -> list[list[Part]]:
        """Return the line with the agents if the headings show models, or an empty list if they do not."""
        if not self.matrix.several_models:
            return []
        return [self.line_parts(width, ("", ""), lambda at, size: (shortened(self.matrix.columns[at][0], size), "dim"))]


_CASES: TableColumn[str] = TableColumn(title="", cell=str, width=8, widest=200, text=True, shorten=shortened)


def _cell(cell: MatrixCell | None) -> Part:
    if cell is None:
        return NOTHING, "dim"
    states = Counter(line.state for line in cell.lines)
    active = states["running"] + states["queued"]
    total = len(cell.lines)
    if active:
        return f"{STATES['running']} {total - active}/{total}", "running"
    if cell.spread.mean is None:
        state = max(states, key=lambda one: states[one])
        return f"{STATES.get(state, '?')} {state}", "failed" if state == "failed" else "unscored"
    # Count only the trials in the mean, which excludes unscored trials.
    spread = cell.spread
    several = f" ×{spread.scored}" if spread.scored > 1 or spread.left_out else ""
    several += f"/{spread.trials}" if spread.left_out else ""
    shown = own_cell(spread.own) or fixed(spread.mean, 1) + unit_of(spread)
    return f"{shown}{several}", ""


# -- scores by agent


_EACH = 2  # rows per agent
_NUMBERS = 22  # width of the columns for trials, mean and standard deviation
_LEAST = 12  # minimum width of a strip


class SpreadPlot(HeadedList):
    """A two-row dot plot per agent and model, best mean first; row 0 shows the axis."""

    ALLOW_SELECT = False
    BINDINGS = bindings("trials.plot-open")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.scores: tuple[Scores, ...] = ()
        self._drawn: tuple[int, list[str], int] = 0, [], 1  # width, strips, trials per dot

    def put(self, scores: tuple[Scores, ...]) -> None:
        """Replace the scores; the cursor stays on the same agent."""
        before = self.selected
        self.scores = scores
        self._axis = axis([value for one in scores for value in one.values])
        self._drawn = 0, [], 1
        at = next((place for place, one in enumerate(scores) if one.agent == before), 0)
        self.rows_changed(cursor=1 + at * _EACH)

    @property
    def selected(self) -> Agent | None:
        at = (self.cursor - 1) // _EACH
        return self.scores[at].agent if self.cursor > 0 and at < len(self.scores) else None

    def row_count(self) -> int:
        return 1 + len(self.scores) * _EACH

    def selectable(self, index: int) -> bool:
        return index > 0 and (index - 1) % _EACH == 0

    def _widths(self, width: int) -> tuple[int, int]:
        longest = max((len(" · ".join(one.agent)) for one in self.scores), default=10)
        names = max(17, min(longest + 2, width // 3))
        return names, width - names - _NUMBERS

    def heading_parts(self, width: int) -> Sequence[Part]:
        names, strip = self._widths(width)
        ticks = self._axis.written(strip) if self.scores and strip >= _LEAST else " " * max(0, strip)
        each = self._strips(strip)[1]
        dot = " a dot: 1 trial" if each == 1 else f" a dot: ≤ {each:,} trials"
        # The label of the first tick may start right at the edge of the strip.
        return [(fit(dot, names - 1) + " " + ticks + f"{'trials':>8}{'mean':>7}{'sd':>6} ", "dim")]

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        at, second = divmod(index - 1, _EACH)
        one = self.scores[at]
        names, strip = self._widths(width)
        spread = one.spread
        if second:
            low = f"{fixed(spread.low, 1)} to {fixed(spread.high, 1)}" if len(one.values) > 1 else ""
            return [(" " * names, ""), (self._bar(one, strip), "strong"), (fit(low, _NUMBERS - 1, right=True), "dim")]
        name = shortened(" · ".join(one.agent), names - 2)
        sd = "" if spread.sd is None else f"{spread.sd:.1f}"
        count = f"{spread.scored:,}" if spread.scored == spread.trials else f"{spread.scored:,}/{spread.trials:,}"
        numbers = f"{count:>8}{fixed(spread.mean, 1):>7}{sd:>6} "
        return [(fit(f" {name}", names), ""), (self._strips(strip)[0][at], "bar"), (numbers, "")]

    def _strips(self, strip: int) -> tuple[list[str], int]:
        if strip < _LEAST:
            return [" " * max(0, strip)] * len(self.scores), 1
        if self._drawn[0] != strip:
            canvases, each = stacked([[self._axis.share(v) for v in one.values] for one in self.scores], strip, 1)
            self._drawn = strip, [canvas.row(0) for canvas in canvases], each
        return self._drawn[1:]

    def _bar(self, one: Scores, strip: int) -> str:
        mean, sd = one.spread.mean, one.spread.sd or 0.0
        if strip < _LEAST or mean is None:
            return " " * max(0, strip)
        low, middle, high = (self._axis.share(value) for value in (mean - sd, mean, mean + sd))
        return "".join(interval_bar([low, middle, high], strip))
