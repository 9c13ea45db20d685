"""Mean scores with their spread, by agent and model, and by case for cases with several trials."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from workbench.rubric.scorecard import NO_FACTS_POINTS
from workbench.session.rows import ScoreRow, TrialRow

if TYPE_CHECKING:
    from workbench.rubric.scorecard import Scorecard

FORMAT_SHARE = 0.1
"""Share of points from the answer's format above which the model's own points are shown separately."""


@dataclass(frozen=True, slots=True)
class Total:
    """The points of a trial by one rubric and judge; ``given`` of them come from the answer's format."""

    points: float | None = None
    out_of: float = 0.0
    tiers: tuple[int, ...] = ()
    given: float = 0.0
    credited: bool = False  # tier 3 has the points that the original benchmark credits to a case without facts

    @property
    def own(self) -> tuple[float, float] | None:
        """The model's own points and their maximum if the format earned more than 10%, or None."""
        return own_points(self.points, self.out_of, self.given)

    @property
    def share(self) -> float | None:
        """Points out of 100, or the model's own share if it is separate; None if tiers are missing."""
        if self.points is None or not self.out_of or len(self.tiers) < 4:
            return None
        points, out_of = self.own or (self.points, self.out_of)
        return 100 * points / out_of


def own_points(points: float | None, out_of: float, given: float | None) -> tuple[float, float] | None:
    """Return the model's own points and their maximum, or None unless the format earned more than 10%."""
    if points is None or not given or given <= FORMAT_SHARE * points or given >= out_of:
        return None
    return round(points - given, 6), round(out_of - given, 6)


def comparable(totals: Sequence[Total]) -> list[Total]:
    """Return the totals over the same tiers, preferring the tiers with the most points: 40 of 40 is not 100 of 100."""
    scored = [one for one in totals if one.points is not None]
    counts = Counter((one.out_of, one.tiers) for one in scored)
    basis = max(counts, key=lambda one: (one[0], counts[one], one[1]), default=None)
    return [one for one in scored if (one.out_of, one.tiers) == basis]


@dataclass(frozen=True, slots=True)
class ScoreSpread:
    """The spread of scores for one group of trials: for one case, or for all cases if ``case`` is ""."""

    agent: str
    model: str
    case: str
    rubric: str
    judge: str
    trials: int  # all trials, scored or not
    scored: int  # trials in the mean, which all have the same scored tiers
    partial: int  # trials excluded from all figures here, because other tiers are scored
    mean: float | None  # out of ``out_of``
    sd: float | None  # sample standard deviation, None for fewer than two scores
    low: float | None
    high: float | None
    out_of: float
    tiers: tuple[int, ...] = ()
    given: float = 0.0  # mean points earned by the format of the answers
    held: int = 0  # trials in the mean whose format earned more than 10% of the points
    credited: int = 0  # trials in the mean with credited tier 3 points for a case without facts

    @property
    def own(self) -> tuple[float, float] | None:
        """The mean of the models' own points and its maximum, if the format earned more than 10% in every trial."""
        return own_points(self.mean, self.out_of, self.given) if self.held == self.scored else None

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on the mean: how many trials have points from a format or for missing facts."""
        some = self.held if self.own is None else 0
        counts = (
            (some, "with points from a format"),
            (self.credited, f"with {NO_FACTS_POINTS:g} points for missing facts"),
        )
        return tuple(f"{count:,} {what}" for count, what in counts if count)

    @property
    def left_out(self) -> str:
        unscored = self.trials - self.scored - self.partial
        counts = ((self.partial, "partly scored"), (unscored, "unscored"))
        return ", ".join(f"{count:,} {what}" for count, what in counts if count)


def spreads(
    trials: Sequence[tuple[TrialRow, Sequence[ScoreRow]]], totals: Mapping[tuple[str, str, str], Total]
) -> Iterator[ScoreSpread]:
    """Yield each (agent, model) over all its trials, followed by each of its cases with several trials.

    Forks are excluded, because they involve a person and depend on their parents.
    """
    cases: dict[tuple[str, str], dict[str, list[Sequence[ScoreRow]]]] = {}
    for row, scores in trials:
        if not row.parent:
            own = cases.setdefault((row.agent, row.model), {"": []})
            own[""].append(scores)
            own.setdefault(row.case_id, []).append(scores)
    for (agent, model), by_case in cases.items():
        for case, several in by_case.items():
            if case and (len(several) < 2 or len(by_case) < 3):
                continue
            by_judge: dict[tuple[str, str], list[Total]] = {}
            for one in (one for scores in several for one in scores):
                total = totals[one.trial_id, one.rubric, one.judge]
                by_judge.setdefault((one.rubric, one.judge), []).append(total)
            for scale, mine in by_judge.items():
                yield spread_of(mine, len(several), agent, model, case, *scale)


def spread_of(
    totals: Sequence[Total],
    trials: int,
    agent: str = "",
    model: str = "",
    case: str = "",
    rubric: str = "",
    judge: str = "",
) -> ScoreSpread:
    counted = comparable(totals)
    values = [one.points for one in counted if one.points is not None]
    mean = statistics.fmean(values) if values else None
    # This gives the same result as `statistics.stdev`, which calculates with fractions and takes a hundred times as
    # long.
    squares = math.fsum((value - (mean or 0.0)) ** 2 for value in values)
    return ScoreSpread(
        agent, model, case, rubric, judge, trials,
        scored=len(values),
        partial=sum(one.points is not None for one in totals) - len(values),
        mean=mean,
        sd=math.sqrt(squares / (len(values) - 1)) if len(values) > 1 else None,
        low=min(values, default=None),
        high=max(values, default=None),
        out_of=counted[0].out_of if counted else 100.0,
        tiers=counted[0].tiers if counted else (),
        given=statistics.fmean(one.given for one in counted) if counted else 0.0,
        held=sum(one.own is not None for one in counted),
        credited=sum(one.credited for one in counted),
    )  # fmt: skip


def words(spread: ScoreSpread) -> str:
    """Return ``64.2 ± 3.1 (60 to 67) of 100``, or the models' own points if a format earned more than 10%."""
    if spread.mean is None:
        return "unscored"
    sd = "" if spread.sd is None else f" ± {spread.sd:.1f}"
    span = "" if spread.scored < 2 else f" ({spread.low:.1f} to {spread.high:.1f})"
    own = "" if spread.own is None else f"own points {spread.own[0]:.1f} of {spread.own[1]:.1f}; overall "
    notes = [spread.left_out] if spread.left_out else []
    notes += spread.remarks
    return f"{own}{spread.mean:.1f}{sd}{span} of {spread.out_of:.0f}" + "".join(f"; {note}" for note in notes)


@dataclass(frozen=True, slots=True)
class PointSpread:
    """The spread of the points of a criterion, or of a tier (``criterion`` is ""), over ``n`` repeats of a trial."""

    tier: int
    criterion: str
    n: int
    mean: float
    sd: float | None  # sample standard deviation, None for fewer than two repeats
    low: float
    high: float


def point_spreads(cards: Iterable[Scorecard]) -> tuple[PointSpread, ...]:
    """Return the spread of each tier (if all its criteria were scored) and criterion over repeats."""
    points: dict[tuple[int, str], list[float]] = {}
    for card in cards:
        for one in card.criteria:
            if one.maximum and one.points is not None:
                points.setdefault((one.tier, one.key or one.title), []).append(one.points)
        for number, tier in card.tiers.items():
            if tier.maximum and tier.points is not None:
                points.setdefault((number, ""), []).append(tier.points)
    found = []
    for place, values in sorted(points.items()):
        sd = statistics.stdev(values) if len(values) > 1 else None
        found.append(PointSpread(*place, len(values), statistics.fmean(values), sd, min(values), max(values)))
    return tuple(found)


#: Minimum number of documents scored by both judges for measuring agreement.
FEWEST = 3
#: Tolerance for equal points; a tolerance is needed because points may be means over repeats.
_SAME = 0.05


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of two judges on one criterion, or on a whole tier if ``criterion`` is ""."""

    rubric: str
    judges: tuple[str, str]
    tier: int
    criterion: str
    documents: int  # number of documents that both judges scored
    difference: float  # mean of the second judge's points minus those of the first
    exact: float  # share of documents with the same points, 0 to 1
    correlation: float | None  # Pearson's r, None if a judge gives every document the same points


def agreements(documents: Iterable[Sequence[Scorecard]]) -> Iterator[Agreement]:
    """Yield the agreement of each pair of judges over scorecards, tier by tier, each tier followed by its criteria.

    Rule-based criteria are excluded, because all judges agree on them. So are criteria with fewer than :data:`FEWEST`
    documents scored by both.
    """
    # (rubric, judge) -> document -> (tier, criterion) -> points
    given: dict[tuple[str, str], dict[int, dict[tuple[int, str], float]]] = {}
    for number, cards in enumerate(documents):
        for card in cards:
            given.setdefault((card.rubric, card.judge), {})[number] = _judged(card)
    for first, second in combinations(sorted(given), 2):
        if first[0] != second[0]:
            continue
        one, other = given[first], given[second]
        places = {place: None for points in (*one.values(), *other.values()) for place in points}
        for tier, criterion in sorted(places, key=lambda place: (place[0], place[1] != "")):
            both = [
                (one[number][tier, criterion], other[number][tier, criterion])
                for number in one
                if (tier, criterion) in one[number] and (tier, criterion) in other.get(number, {})
            ]
            if len(both) < FEWEST:
                continue
            apart = [b - a for a, b in both]
            exact = sum(abs(gap) <= _SAME for gap in apart) / len(both)
            varied = all(len(set(points)) > 1 for points in zip(*both, strict=True))
            r = statistics.correlation(*zip(*both, strict=True)) if varied else None
            yield Agreement(
                first[0], (first[1], second[1]), tier, criterion, len(both), statistics.fmean(apart), exact, r
            )


def _judged(card: Scorecard) -> dict[tuple[int, str], float]:
    tiers: dict[int, list[float | None]] = {}
    found: dict[tuple[int, str], float] = {}
    for one in card.criteria:
        if one.judged_by == "rule":
            continue
        tiers.setdefault(one.tier, []).append(one.points)
        if one.points is not None:
            found[one.tier, one.title or one.key] = one.points
    sums = {(tier, ""): math.fsum(p for p in mine if p is not None) for tier, mine in tiers.items() if None not in mine}
    return {**sums, **found}
