"""How far two judges agree on the same documents: per judged tier, and per criterion."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.rubric.scorecard import Scorecard

#: Below so many documents that both judges scored, nothing is said about their agreement.
FEWEST = 3
#: Points that count as the same: a mean of repeats is no whole number.
_SAME = 0.05


@dataclass(frozen=True, slots=True)
class Agreement:
    """How two judges agree on one tier, or on one criterion of it (the tier where that is "").

    Attributes:
        documents: How many documents both judges scored: the n of the figures.
        difference: Mean of the second judge's points minus the first's.
        exact: Share of the documents to which both give the same points, 0 to 1.
        correlation: Pearson's r; None where one of them gives every document the same points.
    """

    rubric: str
    judges: tuple[str, str]
    tier: int
    criterion: str
    documents: int
    difference: float
    exact: float
    correlation: float | None


def agreements(documents: Iterable[Sequence[Scorecard]]) -> Iterator[Agreement]:
    """Yield the agreement of each two judges over documents' scorecards, tier by tier, the tier's criteria after it.

    What rules scored is left out: on it every judge agrees. So is what fewer than :data:`FEWEST` documents have of both.
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
            if len(both) >= FEWEST:
                yield _agreement(first[0], (first[1], second[1]), tier, criterion, both)


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


def _agreement(
    rubric: str, judges: tuple[str, str], tier: int, criterion: str, both: Sequence[tuple[float, float]]
) -> Agreement:
    first, second = [a for a, _ in both], [b for _, b in both]
    varied = min(len(set(first)), len(set(second))) > 1
    return Agreement(
        rubric,
        judges,
        tier,
        criterion,
        len(both),
        statistics.fmean(b - a for a, b in both),
        sum(abs(b - a) <= _SAME for a, b in both) / len(both),
        statistics.correlation(first, second) if varied else None,
    )
