"""Means with their spread: per agent and model, and per case where a case was tried more than once."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.session.rows import ScoreRow, TrialRow


@dataclass(frozen=True, slots=True)
class Spread:
    """How the scores of one group of trials lie.

    Attributes:
        agent: The agent.
        model: Its model.
        case: The case, or "" for all cases together.
        rubric: The rubric.
        judge: Who judged.
        trials: Trials in the group, scored or not.
        scored: Trials that have a score.
        mean: Mean score; of the maximum ``out_of``, or in percent of the scored points where trials differ in it.
        sd: Standard deviation of the sample, None below two scores.
        low: Lowest score.
        high: Highest score.
        out_of: What the scores are out of; 100 where they are percent.
        percent: Whether tiers are missing in some trials, so that only shares compare.
    """

    agent: str
    model: str
    case: str
    rubric: str
    judge: str
    trials: int
    scored: int
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    out_of: float
    percent: bool


def spreads(trials: Sequence[tuple[TrialRow, Sequence[ScoreRow]]]) -> Iterator[Spread]:
    """Yield the groups: each (agent, model) over all its trials, then each of its cases that has several trials.

    Forks are in none: a person took part in them, and they are not drawn independently of their parents.
    """
    by_agent: dict[tuple[str, str], list[tuple[TrialRow, Sequence[ScoreRow]]]] = {}
    for row, scores in trials:
        if row.parent:
            continue
        by_agent.setdefault((row.agent, row.model), []).append((row, scores))
    for (agent, model), mine in by_agent.items():
        yield from _group(agent, model, "", mine)
        by_case: dict[str, list[tuple[TrialRow, Sequence[ScoreRow]]]] = {}
        for row, scores in mine:
            by_case.setdefault(row.case_id, []).append((row, scores))
        for case, several in by_case.items():
            if len(several) > 1 and len(by_case) > 1:
                yield from _group(agent, model, case, several)


def _group(
    agent: str, model: str, case: str, trials: Sequence[tuple[TrialRow, Sequence[ScoreRow]]]
) -> Iterator[Spread]:
    by_judge: dict[tuple[str, str], list[ScoreRow]] = {}
    for _, scores in trials:
        for score in scores:
            by_judge.setdefault((score.rubric, score.judge), []).append(score)
    for (rubric, judge), scores in by_judge.items():
        yield spread_of(
            [(score.total, score.out_of) for score in scores],
            trials=len(trials),
            agent=agent,
            model=model,
            case=case,
            rubric=rubric,
            judge=judge,
        )


def spread_of(
    totals: Sequence[tuple[float | None, float]],
    *,
    trials: int,
    agent: str = "",
    model: str = "",
    case: str = "",
    rubric: str = "",
    judge: str = "",
) -> Spread:
    """Return how scores lie.

    Args:
        totals: Points and what they are out of, by trial; None where a trial has no score.
        trials: Trials in the group, scored or not.
        agent: What they have in common; see :class:`Spread`.
        model: Likewise.
        case: Likewise.
        rubric: Likewise.
        judge: Likewise.
    """
    values, percent = values_of(totals)
    out_of = next((out_of for points, out_of in totals if points is not None and out_of > 0), 100.0)
    return Spread(
        agent=agent,
        model=model,
        case=case,
        rubric=rubric,
        judge=judge,
        trials=trials,
        scored=len(values),
        mean=(mean := statistics.fmean(values)) if values else None,
        # As `statistics.stdev`, which calculates with fractions and takes a hundred times as long.
        sd=math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
        if len(values) > 1
        else None,
        low=min(values, default=None),
        high=max(values, default=None),
        out_of=100.0 if percent else out_of,
        percent=percent,
    )


def values_of(totals: Sequence[tuple[float | None, float]]) -> tuple[list[float], bool]:
    """Return scores that compare, and whether they are percent: where trials differ in what their points are out of.

    Args:
        totals: Points and what they are out of, by trial; a trial without points is left out.
    """
    given = [(points, out_of) for points, out_of in totals if points is not None and out_of > 0]
    percent = len({out_of for _, out_of in given}) > 1
    return [100 * points / out_of if percent else points for points, out_of in given], percent


def words(spread: Spread) -> str:
    """Return ``64.2 ± 3.1 (60 to 67) of 100``."""
    if spread.mean is None:
        return "unscored"
    sd = "" if spread.sd is None else f" ± {spread.sd:.1f}"
    span = "" if spread.scored < 2 else f" ({spread.low:.1f} to {spread.high:.1f})"
    unit = "% of the scored points" if spread.percent else f"of {spread.out_of:.0f}"
    return f"{spread.mean:.1f}{sd}{span} {unit}"


@dataclass(frozen=True, slots=True)
class PointSpread:
    """How the points of a tier, or of one of its criteria, lie over repeats of the same trial.

    Attributes:
        tier: Number of the tier.
        criterion: Key of the criterion, its title where it has none; "" for the whole tier.
        n: Repeats in which it was scored.
        mean: Mean points.
        sd: Standard deviation of the sample, None below two repeats.
        low: Fewest points.
        high: Most points.
    """

    tier: int
    criterion: str
    n: int
    mean: float
    sd: float | None
    low: float
    high: float


def point_spreads(cards: Iterable[Mapping[str, Any]]) -> tuple[PointSpread, ...]:
    """Return how each tier and each criterion came out over the scorecards of repeats, by one rubric and judge.

    A tier counts where all of its criteria were scored; what was scored nowhere is left out.

    Args:
        cards: Scorecards as :meth:`workbench.session.SessionReader.card` gives them.
    """
    given: dict[tuple[int, str], list[float]] = {}
    for card in cards:
        tiers: dict[int, list[float | None]] = {}
        for one in card.get("criteria") or ():
            if not one["maximum"]:
                continue
            tier, points = int(one["tier"]), one["points"]
            tiers.setdefault(tier, []).append(points)
            if points is not None:
                given.setdefault((tier, str(one.get("key") or one["title"])), []).append(float(points))
        for tier, all_points in tiers.items():
            scored = [points for points in all_points if points is not None]
            if len(scored) == len(all_points):
                given.setdefault((tier, ""), []).append(math.fsum(scored))
    return tuple(
        PointSpread(
            tier,
            criterion,
            len(values),
            statistics.fmean(values),
            statistics.stdev(values) if len(values) > 1 else None,
            min(values),
            max(values),
        )
        for (tier, criterion), values in sorted(given.items())
    )
