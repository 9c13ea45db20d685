"""The view model of the Study mode: the studies of the session, the displayed figures, and their wording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.app.keys import key_of
from workbench.app.toolkit.header import Header, HeaderPart
from workbench.base.errors import WorkbenchError
from workbench.base.glyphs import DOUBTFUL, STATES
from workbench.base.text import NOTHING, duration, one_line, percent, plural
from workbench.studies.cells import brief
from workbench.studies.comparing import ColumnComparison, compare, not_ranked, rankings, taus
from workbench.studies.declaration import AGENTS, BadStudy, Study, in_points
from workbench.studies.leaderboard import judge_agreement, leaderboard
from workbench.studies.study_reader import StudyReader
from workbench.studies.wording import figure, mean_words

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.statistics.intervals import Interval
    from workbench.studies.cells import Mean, StudyCell
    from workbench.studies.declaration import Study
    from workbench.studies.grouping import RowFacts, RowGroup
    from workbench.studies.outcome import StudyOutcome


UNKNOWN = "…"
"""The placeholder for a figure that is being computed."""
SCORE = "score"
STYLES = {
    "done": "passed",
    "running": "running",
    "interrupted": "paused",
    "failed": "failed",
    "queued": "waiting",
    "cancelled": "waiting",
}
CELL, COMPARISON, RANKINGS, LEADERBOARD, STUDIES = TABS = (
    "Cell",
    "Comparison",
    "Rankings",
    "Leaderboard",
    "Studies",
)


def tight_bounds(interval: Interval, measure: str) -> str:
    """Format an interval for a cell as ``[.41, .73]`` or in whole points; return "" if it has no bounds."""
    if interval.low is None or interval.high is None:
        return ""
    low, high = (f"{one:.0f}" if in_points(measure) else f"{one:.2f}" for one in (interval.low, interval.high))
    return f"[{_tight(low)}, {_tight(high)}]"


def _tight(text: str) -> str:
    known = {"0.00": "0", "1.00": "1"}
    return known.get(text, text.removeprefix("0") if text.startswith("0.") else text)


def progress(done: int, planned: int | None) -> str:
    """Return progress as ``38/55``, or only the count if the total is unknown."""
    return f"{done:,}/{planned:,}" if planned is not None else f"{done:,}"


def fitting(width: int, *texts: str) -> str:
    """Return the first text that fits ``width``, or the last one if none does."""
    return next((text for text in texts if len(text) <= width), texts[-1])


def cell_text(cell: StudyCell, measure: str, width: int) -> tuple[str, str]:
    """Return the text of a cell that fits ``width``, and its style.

    An unfinished cell shows its state symbol and, as space allows, its progress and the mean so far.
    """
    mean, sign, far = cell.means[measure], STATES.get(cell.state, "?"), progress(cell.done, cell.planned)
    value = figure(mean.value, measure)
    if cell.state == "missing":
        return NOTHING, "dim"
    if cell.state == "done" and mean.own is not None:
        return _own_first(mean, value, width), ""
    if cell.state == "done":
        marks, whole = _marks(cell, measure), f"{value} {tight_bounds(mean.interval, measure)}".rstrip()
        if not marks:
            return fitting(width, whole, value), ""
        # The star marks omitted remarks; the line below the matrix shows all of them.
        texts = [" ".join([one, *marks]) for one in (whole, value)]
        return fitting(width, *texts, f"{value} {marks[0]}{'*' if len(marks) > 1 else ''}", f"{value}*"), ""
    if cell.state == "failed" and not cell.done:
        texts = [f"{sign} failed", sign]
    elif mean.value is not None:
        # Show the mean so far and the progress as space allows; failed cells show no progress.
        ended = cell.state in ("failed", "unscored")
        texts = [f"{value} {sign} {far}", f"{sign} {value if ended else far}", f"{sign} {value}"]
    else:
        texts = [f"{sign} {'waiting' if cell.state == 'queued' else far}", sign]
    return fitting(width, *texts), STYLES.get(cell.state, "unscored")


def _own_first(mean: Mean, value: str, width: int) -> str:
    """Return ``11.5/42 (69.4)``: the points the model earned itself, then the full score if it fits."""
    assert mean.own is not None
    own = f"{mean.own[0]:.1f}/{mean.own[1]:.0f}"
    return fitting(width, f"{own} ({value})", own)


def _marks(cell: StudyCell, measure: str) -> list[str]:
    """Return the remarks on a finished cell, such as doubtful passes, the judged share and missing values."""
    mean, doubts = cell.means[measure], cell.doubts
    parts = [f"{DOUBTFUL}{count:,}" if name == "doubtful" else f"{count:,} {name}" for name, count in doubts.items()]
    if mean.judged is not None and mean.items:
        parts = [f"{mean.judged[0]:,}/{mean.judged[1]:,}", *parts]
    if mean.undefined:
        parts.append(f"−{mean.undefined:,}")
    return parts


def mean_text(mean: Mean, rows: int, measure: str, width: int, of: int = 0) -> str:
    """Return the mean of a column with its interval, or with the number of items behind it if some are missing.

    ``rows`` is the maximum number of rows over all columns; a mean of fewer than ``of`` items is marked.
    """
    if mean.value is None:
        return fitting(width, brief(mean.missing) or NOTHING, NOTHING)
    value = figure(mean.value, measure)
    if mean.own is not None and not mean.undefined:
        return _own_first(mean, value, width)
    of = max(of, mean.items + mean.undefined)
    if mean.judged is not None:
        texts = [f"{value} {mean.judged[0]:,}/{mean.judged[1]:,}"]
    elif mean.items < of:
        text = brief(mean.missing) if mean.undefined and in_points(measure) else f"{mean.items:,} of {of:,}"
        texts = [f"{value} {text}", f"{value} {mean.items:,}/{of:,}"]
    elif mean.rows != rows:
        texts = [f"{value} of {mean.rows}"]
    else:
        texts = [f"{value} {tight_bounds(mean.interval, measure)}".rstrip()]
    return fitting(width, *texts, f"{value}*" if mean.items < of else value)


def shape(study: Study, columns: int) -> str:
    """Return ``3 repositories × 5 doc systems``; with several models, the noun is "columns"."""
    one_model = len({one.model for one in study.columns}) <= 1
    noun = "column" if not one_model else "agent" if study.kind == AGENTS else "doc system"
    return f"{plural(len(study.rows), study.row_noun)} × {plural(columns, noun)}"


_PRESSING = ("interrupted", "queued", "failed", "unscored", "cancelled", "missing")
"""The cell states that need attention, most important first."""


def state_of(outcome: StudyOutcome, left: float | None = None) -> str:
    """Return the state of a study, led by the symbol of the most important cell state.

    ``left`` is the remaining time in seconds, or None if unknown.
    """
    states = Counter(cell.state for cell in outcome.cells.values() if not cell.column.source)
    total = sum(states.values())
    if states["running"]:
        of = f" of {outcome.planned:,}" if outcome.planned is not None else " so far"
        return f"{STATES['running']} {outcome.done:,}{of}" + (f" · about {duration(left)} left" if left else "")
    first = next((one for one in _PRESSING if states[one]), "")
    of, key = f"{states[first]:,} of {plural(total, 'cell')}", key_of("study.resume")
    text = {
        "interrupted": f"interrupted: {key} resumes",
        "queued": f"{of} queued: {key} resumes",
        "failed": f"{of} failed" + (f", {states['unscored']:,} unscored" if states["unscored"] else ""),
        "missing": f"{of} not started",
        "": f"{STATES['done']} done" if total else "results of others",
    }
    return f"{STATES.get(first, '')} {text.get(first, f'{of} {first}')}".strip()


def header(outcome: StudyOutcome, measure: str, place: str, left: float | None = None) -> Header:
    """Return the header; ``left`` is the remaining time in seconds, or None if unknown."""
    cost = f"${outcome.cost_usd:.2f}" if outcome.cost_usd is not None else ""
    return (
        HeaderPart("study", rank=3),
        HeaderPart(outcome.study.name, rank=1, name=True),
        HeaderPart(place, rank=5),
        HeaderPart(shape(outcome.study, len(outcome.columns)), rank=4),
        HeaderPart(measure, rank=2),
        HeaderPart(cost, rank=2),
        HeaderPart(state_of(outcome, left), reason=True),
    )


def cell_sentence(outcome: StudyOutcome, cell: StudyCell, measure: str, part: str = "") -> str:
    """Describe a cell in full on one line: its problem or state first, then its figures and their basis.

    ``part`` is the part of the row if rows are grouped, such as a file or stratum.
    """
    title = next(one.title for one in outcome.by_column if one.column.name == cell.column.name)
    mean = cell.means[measure]
    parts = [" · ".join(filter(None, (cell.row, part, title)))]
    if cell.problem:
        parts.append(f"{STATES.get(cell.state, '')} {cell.problem}".strip())
    elif cell.state == "missing":
        parts.append("nothing planned yet")
    elif cell.state != "done":
        parts.append(f"{STATES.get(cell.state, '?')} {cell.state} {progress(cell.done, cell.planned)}")
    if mean.value is not None:
        parts.append(f"{measure} {mean_words(mean, measure)}")
        parts.append(plural(mean.items, outcome.study.item_noun))
        if mean.own is not None:
            parts.append(f"own points {mean.own[0]:.1f} of {mean.own[1]:.1f}")
        parts += [one.words for one in mean.missing if not cell.problem]
        if mean.judged is not None:
            parts.append(mean.judged_words(measure))
    parts += [f"{count:,} {name}" for name, count in cell.doubts.items()]
    if cell.work.left_out:
        parts.append(f"left out: {', '.join(cell.work.left_out)}")
    if cell.documented is not None:
        parts.append(f"documented {percent(cell.documented)}")
    if mean.value is not None:
        parts.append(mean.interval.words)
    return one_line(" · ".join(parts), 600)


@dataclass(frozen=True, slots=True)
class StudyLine:
    """A study of the session.

    ``study`` is None if its declaration is damaged. ``problem`` is a message about that, or the reason why the study
    stopped.
    """

    name: str
    study: Study | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class StudySelection:
    """The selection to display; only the figures that it needs are computed.

    Attributes:
      name: The name of the study, or "" for the newest.
      by: The property that rows are grouped by, or "" for none.
      step: 1 to switch to the next grouping with more than one group, or to none after the last; otherwise 0.
      pair: The names of the compared columns.
    """

    name: str = ""
    measure: str = ""
    tab: str = CELL
    by: str = ""
    step: int = 0
    pair: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class StudyView:
    """The studies of a session, oldest first, and the displayed data of one.

    ``problem`` says why there is no outcome. ``asked`` is the requested selection, and ``wanted`` the part of it that
    exists. ``alike`` is true if no grouping would split the rows.
    """

    session: Path
    asked: StudySelection
    wanted: StudySelection
    lines: tuple[StudyLine, ...]
    outcome: StudyOutcome | None = None
    problem: str = ""
    groups: Sequence[RowGroup] = ()
    alike: bool = False
    comparison: ColumnComparison | None = None
    ranked: tuple[Any, ...] = ((), {}, ())
    leaders: tuple[Any, ...] = ((), ())


NO_VIEW = StudyView(Path(), StudySelection(), StudySelection(), ())


class StudyLoader:
    """Reads a study repeatedly, computing each displayed figure once per state of the study. Not thread-safe."""

    def __init__(self) -> None:
        self._of: tuple[SessionReader | None, str] = None, ""
        self._study: StudyReader | None = None
        self._outcome: StudyOutcome | None = None
        self._known: dict[Any, Any] = {}

    def load(self, reader: SessionReader, asked: StudySelection) -> StudyView:
        """Return the current state of a study. Raises SessionError if the session cannot be read."""
        lines = tuple(_line(row.name, row.declaration, row.problem or "") for row in reader.studies())
        names = [line.name for line in lines]
        wanted = replace(asked, name=asked.name if asked.name in names else names[-1] if names else "", step=0)
        view = StudyView(reader.path, asked, wanted, lines)
        if not lines:
            return view
        try:
            if self._study is None or self._of != (reader, wanted.name):
                self._study, self._of = StudyReader(reader, wanted.name), (reader, wanted.name)
            outcome = self._study.look()
        except BadStudy as problem:
            self._study = None
            return replace(view, problem=str(problem))
        if outcome is not self._outcome:
            self._outcome, self._known = outcome, {}
        return self._with_figures(reader, outcome, view)

    def _with_figures(self, reader: SessionReader, outcome: StudyOutcome, view: StudyView) -> StudyView:
        asked, measures = view.wanted, outcome.study.measures
        columns = {column.name: column for column in outcome.columns}
        measure = asked.measure if asked.measure in measures else measures[0]
        pair = asked.pair if asked.pair is not None and set(asked.pair) <= columns.keys() else None
        view = replace(view, outcome=outcome)
        by = asked.by
        if by or view.asked.step:
            from workbench.studies import grouping

            facts: RowFacts = self._cached("facts", lambda: grouping.facts_of(reader, outcome))
            ways = ("", *self._cached("ways", lambda: grouping.groupings(outcome, facts)))
            by = ways[(ways.index(by) + view.asked.step) % len(ways)] if by in ways else ""
            groups = self._cached(("groups", by), lambda: grouping.grouped(outcome, by, facts)) if by else ()
            view = replace(view, groups=groups, alike=len(ways) == 1)
        if pair is not None:
            left, right = (columns[one] for one in pair)
            compared = self._cached((pair, measure), lambda: compare(outcome, left, right, measure))
            view = replace(view, comparison=compared)
        if asked.tab == RANKINGS:
            view = replace(view, ranked=self._cached(RANKINGS, lambda: _ranked(outcome)))
        elif asked.tab == LEADERBOARD and outcome.study.kind == AGENTS:
            leaders = self._cached(LEADERBOARD, lambda: (leaderboard(outcome), judge_agreement(outcome)))
            view = replace(view, leaders=leaders)
        return replace(view, wanted=replace(asked, measure=measure, by=by, pair=pair))

    def _cached(self, what: object, compute: Callable[[], Any]) -> Any:
        if what not in self._known:
            self._known[what] = compute()
        return self._known[what]


def _ranked(outcome: StudyOutcome) -> tuple[Any, ...]:
    found = rankings(outcome)
    return found, taus(found), not_ranked(outcome)


def _line(name: str, declaration: str, problem: str) -> StudyLine:
    try:
        return StudyLine(name, Study.from_json(declaration), problem)
    except WorkbenchError as damage:
        return StudyLine(name, None, str(damage))
