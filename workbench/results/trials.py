"""Trials: their points on a scale, means by group and cell, order and repeats."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from workbench.base.glyphs import STATES, counted
from workbench.base.text import plural
from workbench.results.costs import total_spend
from workbench.results.forks import SIGN, below_parents
from workbench.results.scores import Lost, card_of, lost_points, totals_of
from workbench.results.spread import ScoreSpread, Total, comparable, spread_of
from workbench.session.labels import in_words, labels_by_item
from workbench.session.pending_work import trial_problem
from workbench.session.rows import TrialRow
from workbench.session.schema import COUNTED, WRITTEN

if TYPE_CHECKING:
    from workbench.results.grounding import GroundingCounts
    from workbench.results.page_scores import PageKey, PageScore, PageScores
    from workbench.session.reader import SessionReader

_READ = "SELECT trial_id, group_concat(path, char(10)) FROM accessed_files WHERE access = 'read' GROUP BY trial_id"
_DOUBTFUL = "SELECT DISTINCT trial_id FROM scorecards WHERE problem != ''"


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale of a score: points are comparable only if the rubric and the judge are the same."""

    rubric: str
    judge: str

    def __str__(self) -> str:
        return f"{self.rubric} · {self.judge}"


@dataclass(frozen=True, slots=True)
class TrialLine:
    """A trial with its points on one scale."""

    id: str
    run: str
    case: str
    agent: str
    model: str
    repeat: int
    state: str  # the displayed state: ``done``, ``unscored``, ``failed``, ``interrupted`` …
    error: str
    total: Total
    tiers: tuple[float | None, ...]  # points of tiers 1 to 4, None if unscored
    steps: int
    tokens: int  # of all requests
    cost: float | None  # US dollars, None if no price is known
    seconds: float | None  # None until the trial has ended
    read: str = ""  # paths of the files that the agent read, one per line
    lost: Lost = ()  # criteria that lost points; loaded later
    labels: tuple[str, ...] = ()  # star and tags
    parent: str = ""  # for a fork, the parent
    fork_step: int = 0  # the last inherited step
    use: PageScore | None = None  # use@1 of its README in usage runs
    counts: GroundingCounts | None = None  # grounding; None until it is loaded, which happens last

    @property
    def shown_case(self) -> str:
        return f"{SIGN}{self.fork_step} {self.case}" if self.parent else self.case

    @property
    def nowhere(self) -> int | None:
        return self.counts.nowhere if self.counts is not None else None

    @property
    def unseen(self) -> int | None:
        """The number of README items that are in the repository but that the agent did not look at."""
        return self.counts.unseen if self.counts is not None else None

    @property
    def shown(self) -> float | None:
        """Percentage of the repository's bytes that the agent was shown."""
        return 100 * self.counts.share if self.counts is not None and self.counts.share is not None else None

    @property
    def tags(self) -> str:
        return in_words(self.labels)

    @property
    def points(self) -> float | None:
        """Points of the scored tiers, or None if there are none on this scale."""
        return self.total.points

    @property
    def share(self) -> float | None:
        """Points out of 100, for sorting and score bands, or None if tiers are missing."""
        return self.total.share


@dataclass(frozen=True, slots=True)
class Trials:
    """All trials of a session; ``scales`` are those with points for any trial, most used first."""

    lines: tuple[TrialLine, ...]
    scales: tuple[Scale, ...]
    scale: Scale | None
    spend_usd: float | None = None
    reader: str = ""  # reader of the usage runs that `TrialLine.use` comes from

    def sentence(self) -> str:
        counts = Counter(line.state for line in self.lines)
        total = plural(len(self.lines), "trial")
        parts = [counted(state, counts[state]) for state in STATES if counts[state]]
        spend = [f"${self.spend_usd:.2f}"] if self.spend_usd is not None else []
        return " · ".join([total, *parts, *spend])


def load_trials(
    reader: SessionReader,
    scale: Scale | None = None,
    known: dict[str, tuple[float | None, PageScores]] | None = None,
) -> Trials:
    """Read all trials of a session with their points on a scale, which defaults to the most used one.

    ``known`` caches the use of pages, see :func:`workbench.results.page_scores.use_by_page`.
    """
    scores = {(row.trial_id, row.rubric, row.judge): row for row in reader.scores()}
    totals = totals_of(reader, scores.values())
    scales = Counter(Scale(rubric, judge) for _, rubric, judge in scores)
    # In a tie, "aeo-bench" comes first, because results are usually compared by that rubric.
    order = tuple(sorted(scales, key=lambda one: (-scales[one], one.rubric != "aeo-bench", one.rubric, one.judge)))
    chosen = scale if scale in scales else order[0] if order else None
    runs = reader.runs()
    states = {run.id: reader.run_state(run) for run in runs}
    doubtful = {trial for (trial,) in reader.query(_DOUBTFUL)}
    read = {trial: str(paths) for trial, paths in reader.query(_READ)}
    labels = labels_by_item(reader.labels())
    used_by = ""
    uses: dict[PageKey, PageScore] = {}
    if any(run.kind == "usage" for run in runs):
        from workbench.results.page_scores import page_key, use_by_page

        used_by, uses = use_by_page(reader, {} if known is None else known)
    lines = []
    for row in reader.trials():
        shown = row.state
        if shown in {"queued", "running"} and states.get(row.run_id, shown) not in {"queued", "running"}:
            shown = "interrupted"
        elif shown == "done" and row.id in doubtful and trial_problem(reader, row):
            shown = "unscored"
        place = (row.id, chosen.rubric, chosen.judge) if chosen is not None else ("", "", "")
        card = scores.get(place)
        lines.append(
            TrialLine(
                id=row.id, run=row.run_id, case=row.case_name or row.case_id, agent=row.agent, model=row.model,
                repeat=row.repeat, state=shown, error=row.error or "", total=totals.get(place, Total()),
                tiers=card.tiers if card is not None else (None,) * 4, steps=row.steps,
                tokens=row.prompt_tokens + row.completion_tokens, cost=row.cost_usd, seconds=row.seconds,
                read=read.get(row.id, ""), labels=labels.get(row.id, ()), parent=row.parent, fork_step=row.fork_step,
                use=uses.get(page_key(row.case_id, row.readme_blob)) if uses else None,
            )
        )  # fmt: skip
    if any(line.parent for line in lines):
        below = below_parents([line.id for line in lines], [line.parent for line in lines])
        lines = [lines[place] for place in below]
    return Trials(tuple(lines), order, chosen, total_spend(reader, runs), used_by)


def with_losses(reader: SessionReader, trials: Trials, known: dict[str, Lost]) -> Trials:
    """Return trials with the criteria that lost points; ``known`` caches these by digest of the scorecard."""
    scale, lost = trials.scale, dict[str, Lost]()
    for score in reader.scores() if scale is not None else ():
        if scale == Scale(score.rubric, score.judge):
            if score.card_blob not in known:
                known[score.card_blob] = lost_points(card_of(reader, score))
            lost[score.trial_id] = known[score.card_blob]
    return replace(trials, lines=tuple(replace(line, lost=lost.get(line.id, ())) for line in trials.lines))


def with_counts(trials: Trials, known: Mapping[str, GroundingCounts]) -> Trials:
    lines = tuple(
        line if known.get(line.id) == line.counts else replace(line, counts=known.get(line.id)) for line in trials.lines
    )
    return replace(trials, lines=lines)


# -- lists of trials


class RunTrials(NamedTuple):
    """The trials of a run: the number in each state, and the first trial."""

    states: Counter[str]
    first: str


def trials_by_run(reader: SessionReader) -> dict[str, RunTrials]:
    """Return the trials of each run that has any, including archived runs."""
    firsts: dict[str, tuple[int, str]] = {}
    states: dict[str, Counter[str]] = {}
    # SQLite takes a bare column next to min() from the row with the minimum.
    for run, state, count, position, trial in reader.query(
        f"SELECT run_id, state, count(*), min(position), id FROM trials WHERE {WRITTEN} GROUP BY run_id, state"
    ):
        states.setdefault(run, Counter())[state] += count
        firsts[run] = min(firsts.get(run, (position, trial)), (position, trial))
    return {run: RunTrials(counts, firsts[run][1]) for run, counts in states.items()}


_OWN = f"parent = '' AND {COUNTED}"


def trials_named(reader: SessionReader, trials: Iterable[str]) -> list[TrialRow]:
    """Return trials by id, without forks and archived runs."""
    where = f"WHERE {_OWN} AND id IN (SELECT value FROM json_each(?)) ORDER BY rowid"
    return reader.rows(TrialRow, "trials", where, (json.dumps(list(trials)),))


def trials_on(reader: SessionReader, cases: Iterable[str]) -> list[TrialRow]:
    """Return the trials of cases, without forks and archived runs."""
    where = f"WHERE {_OWN} AND case_id IN (SELECT value FROM json_each(?)) ORDER BY rowid"
    return reader.rows(TrialRow, "trials", where, (json.dumps(list(cases)),))


def latest_trial(reader: SessionReader) -> str | None:
    """Return the trial to show when a session is opened.

    It is a running trial, otherwise the last trial with steps, otherwise the last trial.
    """
    found = reader.query(
        f"SELECT trials.id FROM trials JOIN runs ON runs.id = trials.run_id WHERE {COUNTED} "
        "ORDER BY trials.state = 'running' DESC, trials.started_at IS NOT NULL DESC, runs.created_at DESC, "
        "trials.started_at DESC, position LIMIT 1"
    )
    return found[0][0] if found else None


def step_count(reader: SessionReader, trial_id: str) -> int:
    return int(reader.query("SELECT count(*) FROM steps WHERE trial_id = ?", (trial_id,))[0][0])


@dataclass(frozen=True, slots=True)
class TrialOrder:
    """All trials of the session in order, and the previous trial on the same case."""

    order: tuple[str, ...]
    previous: str | None

    def beside(self, trial_id: str, step: int) -> str | None:
        """Return the trial ``step`` places after the given one, or None beyond the ends."""
        at = self.order.index(trial_id) + step if trial_id in self.order else -1
        return self.order[at] if 0 <= at < len(self.order) else None


def trial_order(reader: SessionReader, trial: TrialRow, before: TrialOrder | None = None) -> TrialOrder:
    """Return a trial's place among the counted trials or, for a trial of a usage run, among the trials of its run.

    ``before`` is reused until a trial is added.
    """
    written = reader.query(f"SELECT 1 FROM trials WHERE {WRITTEN} AND id = ?", (trial.id,))
    among, key = (f"({COUNTED}) OR trials.id = ?", trial.id) if written else ("trials.run_id = ?", trial.run_id)
    count = reader.query(f"SELECT count(*) FROM trials WHERE {among}", (key,))[0][0]
    if before is not None and len(before.order) == count:
        return before
    found = reader.query(
        f"SELECT trials.id, case_id, parent FROM trials JOIN runs ON runs.id = trials.run_id WHERE {among} "
        "ORDER BY runs.created_at, run_id, position",
        (key,),
    )
    previous = trial.parent or None
    for other, case, parent in found if previous is None else ():
        if other == trial.id:
            break
        if case == trial.case_id and not parent:
            previous = other
    return TrialOrder(tuple(key for key, *_ in found), previous)


# -- means


def share_of(spread: ScoreSpread) -> float:
    """Return the mean as a sort key: means over fewer tiers sort after all others, and missing means come last."""
    if spread.mean is None or not spread.out_of:
        return -2.0
    points, out_of = spread.own or (spread.mean, spread.out_of)
    return points / out_of - (len(spread.tiers) < 4)


def spread_among(lines: Sequence[TrialLine]) -> ScoreSpread:
    """Return the spread of scores without forks, because these involve a person."""
    own = [line for line in lines if not line.parent]
    return spread_of([line.total for line in own], len(own))


# -- cases against agents


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """The trials of one agent on one case, and the spread of their scores."""

    lines: tuple[TrialLine, ...]
    spread: ScoreSpread


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix of cases by agents (with their models); ``cells`` omits pairs without trials."""

    cases: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    cells: dict[tuple[str, tuple[str, str]], MatrixCell]

    @property
    def several_models(self) -> bool:
        return len({agent for agent, _ in self.columns}) < len(self.columns)


def matrix_of(lines: Sequence[TrialLine]) -> Matrix:
    """Return the matrix of trials without forks, with the column of the best mean first."""
    members: dict[tuple[str, tuple[str, str]], list[TrialLine]] = {}
    columns: dict[tuple[str, str], list[TrialLine]] = {}
    for line in lines:
        if line.parent:
            continue
        column = (line.agent, line.model)
        members.setdefault((line.case, column), []).append(line)
        columns.setdefault(column, []).append(line)
    means = {column: share_of(spread_among(mine)) for column, mine in columns.items()}
    order = sorted(columns, key=means.__getitem__, reverse=True)
    cells = {key: MatrixCell(tuple(mine), spread_among(mine)) for key, mine in members.items()}
    return Matrix(tuple(sorted({case for case, _ in members}, key=str.lower)), tuple(order), cells)


def chosen_scale(trials: Trials, step: int = 1) -> Scale | None:
    if trials.scale is None:
        return None
    return trials.scales[(trials.scales.index(trials.scale) + step) % len(trials.scales)]


# -- plots

Agent = tuple[str, str]
"""An agent and its model."""


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of an agent's trials: points, or shares of the model's own points if a format earned some."""

    agent: Agent
    values: tuple[float, ...]
    spread: ScoreSpread


@dataclass(frozen=True, slots=True)
class Point:
    """A trial's cost (``x``) and score (``y``)."""

    agent: Agent
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Against:
    """Cost against score; ``left_out`` is the number of trials without a comparable score or a known ``x``."""

    x_name: str
    y_name: str
    points: tuple[Point, ...]
    left_out: int


def scores_by_agent(lines: Sequence[TrialLine]) -> tuple[Scores, ...]:
    """Return scores by agent and model, best mean first; agents without a score come last."""
    totals = _drawn(lines)
    mine: dict[Agent, list[TrialLine]] = {}
    for line in lines:
        mine.setdefault((line.agent, line.model), []).append(line)
    found = []
    for agent, members in mine.items():
        drawn = [totals[line.id] for line in members if line.id in totals]
        values = tuple(one.points for one in drawn if one.points is not None)
        found.append(Scores(agent, values, spread_of(drawn, trials=len(members))))
    return tuple(sorted(found, key=lambda one: -1.0 if one.spread.mean is None else one.spread.mean, reverse=True))


def unit_of_scores(lines: Sequence[TrialLine]) -> str:
    totals = comparable([line.total for line in lines])
    if any(one.own for one in totals):
        return "% of own points"
    return "points" if not totals or totals[0].out_of == 100 else f"points of {totals[0].out_of:g}"


_TAKEN: tuple[tuple[str, Callable[[TrialLine], float | None]], ...] = (
    ("cost in $", lambda line: line.cost or None),
    ("tokens", lambda line: float(line.tokens) or None),
    ("seconds", lambda line: line.seconds),
)


def against_score(lines: Sequence[TrialLine]) -> Against:
    """Return cost against score, using tokens if no price is known, or seconds if there are no tokens either."""
    totals = _drawn(lines)
    unit = f"score in {unit_of_scores(lines)}"
    for name, taken in _TAKEN:
        points = [
            Point((line.agent, line.model), x, total.points)
            for line in lines
            if (total := totals.get(line.id)) is not None
            and total.points is not None
            and (x := taken(line)) is not None
        ]
        if points:
            return Against(name, unit, tuple(points), len(lines) - len(points))
    return Against(_TAKEN[0][0], unit, (), len(lines))


def _drawn(lines: Sequence[TrialLine]) -> dict[str, Total]:
    """Return the totals by trial that are comparable on one axis, without forks."""
    own = [line for line in lines if not line.parent]
    basis = {(one.tiers, one.out_of) for one in comparable([line.total for line in own])}
    totals = {
        line.id: line.total
        for line in own
        if line.points is not None and (line.total.tiers, line.total.out_of) in basis
    }
    if not any(one.own for one in totals.values()):
        return totals
    parts = {trial: one.own or (one.points or 0.0, one.out_of) for trial, one in totals.items()}
    return {
        trial: Total(100 * points / out_of, 100.0, totals[trial].tiers) for trial, (points, out_of) in parts.items()
    }
