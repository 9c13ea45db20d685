"""What the table of trials shows: a line per trial, in any order, in groups with their means; no widget in sight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.glyphs import STATES, counted
from workbench.rubric.losses import Lost, lost_points
from workbench.rubric.spread import Spread, spread_of
from workbench.session.forks import SIGN, below_parents
from workbench.session.labels import in_words, labels_by_item
from workbench.session.pending_work import trial_problem
from workbench.session.schema import PUT_AWAY_RUNS
from workbench.session.spend import total_spend
from workbench.session.totals import Total, comparable, totals_of

if TYPE_CHECKING:
    from workbench.grounding import Counts
    from workbench.session.reader import SessionReader

_TRIALS = f"""
SELECT id, run_id, case_id, case_name, agent, model, repeat, state, error, steps, prompt_tokens + completion_tokens, cost_usd,
       seconds, parent, fork_step
FROM trials WHERE run_id NOT IN {PUT_AWAY_RUNS} ORDER BY (SELECT created_at FROM runs WHERE runs.id = run_id), run_id, position
"""
_READ = "SELECT trial_id, group_concat(path, char(10)) FROM seen WHERE how = 'read' GROUP BY trial_id"
# Of files of older schemas `problem` is empty: the card itself then says whether its judge failed.
_DOUBTFUL = (
    "SELECT DISTINCT trial_id FROM scorecards WHERE problem != '' OR "
    "(problem IS NULL AND (total IS NULL OR tier3 IS NULL OR tier4 IS NULL))"
)


@dataclass(frozen=True, slots=True)
class Scale:
    """By what the trials are scored: a rubric and a judge."""

    rubric: str
    judge: str

    def __str__(self) -> str:
        return f"{self.rubric} · {self.judge}"


@dataclass(frozen=True, slots=True)
class TrialLine:
    """A trial with its points on one scale.

    Attributes:
        id: The trial.
        run: Its run.
        case: Name of its case.
        agent: Its agent.
        model: The agent's model.
        repeat: Which of the trials of this agent, model and case.
        state: As a person should see it: ``done``, ``unscored``, ``failed``, ``interrupted`` …
        error: Why it failed, "" if it did not.
        total: Its points on this scale.
        tiers: Points of tiers 1 to 4, None where one is unscored.
        steps: Steps taken.
        tokens: Tokens of all requests.
        cost: In US dollars, None where no price is known.
        seconds: How long it took, None while it has not ended.
        read: Paths of the files that the agent read, a line each.
        lost: The criteria that lost points on this scale; they are read after the rest.
        labels: Its star and its tags.
        parent: The trial that it is a fork of, "" for one of its own.
        fork_step: The last step that a fork inherits.
        counts: Where its README comes from; None until it was looked up, which happens after the rest.
    """

    id: str
    run: str
    case: str
    agent: str
    model: str
    repeat: int
    state: str
    error: str
    total: Total
    tiers: tuple[float | None, ...]
    steps: int
    tokens: int
    cost: float | None
    seconds: float | None
    read: str = ""
    lost: Lost = ()
    labels: tuple[str, ...] = ()
    parent: str = ""
    fork_step: int = 0
    counts: Counts | None = None

    @property
    def shown_case(self) -> str:
        """The case as it is shown: a fork says from which step it goes on."""
        return f"{SIGN}{self.fork_step} {self.case}" if self.parent else self.case

    @property
    def nowhere(self) -> int | None:
        """Items of its README that are nowhere, None where that is not known."""
        return self.counts.nowhere if self.counts is not None else None

    @property
    def unseen(self) -> int | None:
        """Items of its README that are in the repository and were not looked at."""
        return self.counts.unseen if self.counts is not None else None

    @property
    def shown(self) -> float | None:
        """The share of the repository's bytes that the agent was shown, of 100."""
        return 100 * self.counts.share if self.counts is not None and self.counts.share is not None else None

    @property
    def tags(self) -> str:
        """The star and the tags as they are shown."""
        return in_words(self.labels)

    @property
    def points(self) -> float | None:
        """Points of the scored tiers, None where there are none on this scale."""
        return self.total.points

    @property
    def share(self) -> float | None:
        """Points of 100, for orders and bands of scores; None of a trial that lacks tiers."""
        return self.total.share


@dataclass(frozen=True, slots=True)
class Trials:
    """All trials of a session; ``scales`` are those on which some trial has points, the one that most are scored by first."""

    lines: tuple[TrialLine, ...]
    scales: tuple[Scale, ...]
    scale: Scale | None
    spend_usd: float | None = None

    def sentence(self) -> str:
        """Return how many there are, in which state, and what they cost where that is known."""
        counts = Counter(line.state for line in self.lines)
        total = f"{len(self.lines):,} trial" + ("" if len(self.lines) == 1 else "s")
        parts = [counted(state, counts[state]) for state in STATES if counts[state]]
        spend = [f"${self.spend_usd:.2f}"] if self.spend_usd is not None else []
        return " · ".join([total, *parts, *spend])


def load_trials(reader: SessionReader, scale: Scale | None = None) -> Trials:
    """Read all trials of a session with their points on a scale, by default the one that most of them are scored by."""
    scores = {(row.trial_id, row.rubric, row.judge): row for row in reader.scores()}
    totals = totals_of(reader, scores.values())
    scales = Counter(Scale(rubric, judge) for _, rubric, judge in scores)
    # "aeo-bench" before others of the same count: it is the rubric that results are compared by.
    order = tuple(sorted(scales, key=lambda one: (-scales[one], one.rubric != "aeo-bench", one.rubric, one.judge)))
    chosen = scale if scale in scales else order[0] if order else None
    runs = reader.runs()
    states = {run.id: reader.run_state(run) for run in runs}
    doubtful = {trial for (trial,) in reader.query(_DOUBTFUL)}
    read = {trial: str(paths) for trial, paths in reader.query(_READ)}
    labels = labels_by_item(reader.labels())
    lines = []
    for (
        key,
        run,
        case_id,
        case,
        agent,
        model,
        repeat,
        state,
        error,
        steps,
        tokens,
        cost,
        seconds,
        *fork,
    ) in reader.query(_TRIALS):
        shown = str(state)
        if shown in {"queued", "running"} and states.get(run, shown) not in {"queued", "running"}:
            shown = "interrupted"
        elif shown == "done" and key in doubtful:
            row = reader.trial(key)
            shown = "unscored" if row is not None and trial_problem(reader, row) else shown
        place = (key, chosen.rubric, chosen.judge) if chosen is not None else ("", "", "")
        card = scores.get(place)
        lines.append(
            TrialLine(
                id=str(key), run=str(run), case=str(case or case_id), agent=str(agent), model=str(model),
                repeat=int(_number(repeat) or 0), state=shown, error=str(error or ""), total=totals.get(place, Total()),
                tiers=card.tiers if card is not None else (None,) * 4, steps=int(_number(steps) or 0), tokens=int(_number(tokens) or 0), cost=_number(cost),
                seconds=_number(seconds), read=read.get(key, ""),
                labels=labels.get(key, ()), parent=str(fork[0] or ""), fork_step=int(_number(fork[1]) or 0),
            )
        )  # fmt: skip
    if any(line.parent for line in lines):
        below = below_parents([line.id for line in lines], [line.parent for line in lines])
        lines = [lines[place] for place in below]
    return Trials(tuple(lines), order, chosen, total_spend(reader, runs))


def with_losses(reader: SessionReader, trials: Trials, known: dict[str, Lost]) -> Trials:
    """Return trials with what their criteria lost.

    Args:
        reader: The session.
        trials: Its trials.
        known: What scorecards lost that were read before, by their digests; what is read now is added.
    """
    scale, lost = trials.scale, dict[str, Lost]()
    for score in reader.scores() if scale is not None else ():
        if scale == Scale(score.rubric, score.judge):
            if score.card_blob not in known:
                known[score.card_blob] = lost_points(reader.card(score))
            lost[score.trial_id] = known[score.card_blob]
    return replace(trials, lines=tuple(replace(line, lost=lost.get(line.id, ())) for line in trials.lines))


def with_counts(trials: Trials, known: Mapping[str, Counts]) -> Trials:
    """Return trials with where their READMEs come from, as far as that is known by now."""
    lines = tuple(
        line if known.get(line.id) == line.counts else replace(line, counts=known.get(line.id)) for line in trials.lines
    )
    return replace(trials, lines=lines)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


# -- in which order


@dataclass(frozen=True, slots=True)
class Order:
    """An order of the lines; what has no value comes last, whichever way round."""

    key: str
    title: str
    value: Callable[[TrialLine], Any]
    descending: bool = False


ORDERS = (
    Order("made", "as they were asked for", lambda line: 0),
    Order("score", "score", lambda line: line.share, descending=True),
    Order("tier1", "tier 1", lambda line: line.tiers[0], descending=True),
    Order("tier2", "tier 2", lambda line: line.tiers[1], descending=True),
    Order("tier3", "tier 3", lambda line: line.tiers[2], descending=True),
    Order("tier4", "tier 4", lambda line: line.tiers[3], descending=True),
    Order("case", "case", lambda line: (line.case.lower(), line.agent, line.model, line.repeat)),
    Order("agent", "agent", lambda line: (line.agent, line.model, line.case.lower(), line.repeat)),
    Order("model", "model", lambda line: (line.model.lower(), line.agent, line.case.lower(), line.repeat)),
    Order("state", "state", lambda line: tuple(STATES).index(line.state) if line.state in STATES else len(STATES)),
    Order("steps", "steps", lambda line: line.steps, descending=True),
    Order("tokens", "tokens", lambda line: line.tokens, descending=True),
    Order("seconds", "seconds", lambda line: line.seconds, descending=True),
    Order("nowhere", "items that are nowhere", lambda line: line.nowhere, descending=True),
    Order("unseen", "items not looked at", lambda line: line.unseen, descending=True),
    Order("shown", "share of bytes seen", lambda line: line.shown, descending=True),
    Order("tags", "tags", lambda line: line.tags or None),
    Order("cost", "cost", lambda line: line.cost, descending=True),
)
_BY_KEY = {order.key: order for order in ORDERS}


def in_order(lines: Sequence[TrialLine], places: Sequence[int], key: str, *, reverse: bool = False) -> list[int]:
    """Return places of lines sorted by an order, the other way round with ``reverse``; equal ones stay as they stand."""
    order = _BY_KEY[key]
    value: Callable[[TrialLine], Any] = _scores_of(lines, places) if key == "score" else order.value
    valued = [(value(lines[place]), place) for place in places]
    known = [pair for pair in valued if pair[0] is not None]
    known.sort(key=lambda pair: pair[0], reverse=order.descending != reverse)
    return [place for _, place in known] + [place for value, place in valued if value is None]


def _scores_of(lines: Sequence[TrialLine], places: Sequence[int]) -> Callable[[TrialLine], float | None]:
    """Return what tells the points of a line that compare with those of the others, None of a line that lacks tiers."""
    basis = {(one.tiers, one.out_of) for one in comparable([lines[place].total for place in places])}

    def value(line: TrialLine) -> float | None:
        if (line.total.tiers, line.total.out_of) not in basis or line.points is None:
            return None
        points, out_of = line.total.own or (line.points, line.total.out_of)
        return points / out_of

    return value


# -- in which groups


@dataclass(frozen=True, slots=True)
class Group:
    """Lines with something in common: their places in order, and how their scores lie."""

    name: str
    places: tuple[int, ...]
    spread: Spread


GROUPINGS: dict[str, Callable[[TrialLine], str]] = {
    "": lambda line: "",
    "agent": lambda line: line.agent,
    "model": lambda line: line.model,
    "case": lambda line: line.case,
    "run": lambda line: line.run,
}
"""By what lines are put together; "" is not at all."""


def in_groups(lines: Sequence[TrialLine], places: Sequence[int], by: str) -> list[Group]:
    """Return the groups of lines in the order of their means, the best first; without ``by`` there is one group."""
    found: dict[str, list[int]] = {}
    for place in places:
        found.setdefault(GROUPINGS[by](lines[place]), []).append(place)
    groups = [Group(name, tuple(members), spread_among(lines, members)) for name, members in found.items()]
    return sorted(groups, key=lambda group: share_of(group.spread), reverse=True)


def share_of(spread: Spread) -> float:
    """Return the mean as a share, to sort by; means of fewer tiers come behind all others, no mean comes last."""
    if spread.mean is None or not spread.out_of:
        return -2.0
    points, out_of = spread.own or (spread.mean, spread.out_of)
    return points / out_of - (len(spread.tiers) < 4)


def spread_among(lines: Sequence[TrialLine], places: Sequence[int]) -> Spread:
    """Return how the scores of some lines lie; forks are not counted, for a person took part in them."""
    own = [lines[place] for place in places if not lines[place].parent]
    return spread_of([line.total for line in own], trials=len(own))


# -- cases against agents


@dataclass(frozen=True, slots=True)
class Matrix:
    """Cases by agents: the rows' and columns' names, and how the scores of each pair lie.

    A column is an agent with its model; a pair without a trial is not in ``cells``.
    """

    cases: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    cells: dict[tuple[str, tuple[str, str]], Group]

    @property
    def several_models(self) -> bool:
        """Whether columns are told apart by their models."""
        return len({agent for agent, _ in self.columns}) < len(self.columns)


def matrix_of(lines: Sequence[TrialLine], places: Sequence[int]) -> Matrix:
    """Return the matrix of some lines without forks, its columns with the best mean first."""
    members: dict[tuple[str, tuple[str, str]], list[int]] = {}
    columns: dict[tuple[str, str], list[int]] = {}
    for place in places:
        line = lines[place]
        if line.parent:
            continue
        column = (line.agent, line.model)
        members.setdefault((line.case, column), []).append(place)
        columns.setdefault(column, []).append(place)
    means = {column: share_of(spread_among(lines, mine)) for column, mine in columns.items()}
    order = sorted(columns, key=means.__getitem__, reverse=True)
    cells = {key: Group("", tuple(mine), spread_among(lines, mine)) for key, mine in members.items()}
    return Matrix(tuple(sorted({case for case, _ in members}, key=str.lower)), tuple(order), cells)


def chosen_scale(trials: Trials, step: int = 1) -> Scale | None:
    """Return the scale after the present one, round and round."""
    if trials.scale is None:
        return None
    return trials.scales[(trials.scales.index(trials.scale) + step) % len(trials.scales)]
