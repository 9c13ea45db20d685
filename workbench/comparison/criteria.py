"""Two scorecards joined criterion by criterion: points of both, and what one has more or less than the other."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.rubric.scorecard import Criterion, Scorecard


@dataclass(frozen=True, slots=True)
class CriterionPair:
    """A criterion in two scorecards, None where one does not have it."""

    tier: int
    title: str
    left: Criterion | None
    right: Criterion | None

    @property
    def difference(self) -> float | None:
        """Points of the right one minus those of the left one, None unless both are scored."""
        if self.left is None or self.right is None:
            return None
        return difference(self.left.points, self.right.points)

    @property
    def differs(self) -> bool:
        """Whether the points differ, a score that only one has included; other reasons for the same points do not count."""
        mine = None if self.left is None else self.left.points
        other = None if self.right is None else self.right.points
        return bool(self.difference) if mine is not None and other is not None else mine is not other


@dataclass(frozen=True, slots=True)
class TierPair:
    """A tier in two scorecards with its criteria; a sum is None where a criterion is unscored or missing."""

    number: int
    left: float | None
    right: float | None
    criteria: tuple[CriterionPair, ...]

    @property
    def difference(self) -> float | None:
        """Points of the right sum minus those of the left one, None unless both are scored."""
        return difference(self.left, self.right)


def difference(left: float | None, right: float | None) -> float | None:
    """Return ``right`` minus ``left`` without the binary tail (0.1, not 0.09999999999999964), None unless both are known."""
    return None if left is None or right is None else round(right - left, 6) + 0.0


def join_criteria(left: Scorecard | None, right: Scorecard | None) -> tuple[TierPair, ...]:
    """Return the criteria of two scorecards by tier, each joined by its key, or by its title where it has no key.

    They keep the order of the left card; what only the right one has follows at the end of its tier. Remarks, which carry
    no points, are left out.
    """
    mine, other = criteria_of(left), criteria_of(right)
    by_tier: dict[int, list[CriterionPair]] = {}
    for name in [*mine, *(name for name in other if name not in mine)]:
        a, b = mine.get(name), other.get(name)
        either = a or b
        title = either.title if either is not None and either.title else name[1]
        by_tier.setdefault(name[0], []).append(CriterionPair(name[0], title, a, b))
    return tuple(
        TierPair(number, _sum([one.left for one in pairs]), _sum([one.right for one in pairs]), tuple(pairs))
        for number, pairs in sorted(by_tier.items())
    )


def criteria_of(card: Scorecard | None) -> dict[tuple[int, str, int], Criterion]:
    """Return the criteria with points by tier, name and, should a name occur twice, which of them."""
    found: dict[tuple[int, str, int], Criterion] = {}
    counts: Counter[tuple[int, str]] = Counter()
    for one in card.criteria if card is not None else ():
        if one.maximum:
            name = one.tier, one.key or one.title
            found[*name, counts[name]] = one
            counts[name] += 1
    return found


def _sum(judged: list[Criterion | None]) -> float | None:
    given = [one.points for one in judged if one is not None and one.points is not None]
    return round(math.fsum(given), 6) if given and len(given) == len(judged) else None
