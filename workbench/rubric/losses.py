"""Where points were lost: by criterion, in one scorecard and among many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.rubric.scorecard import Scorecard

Lost = tuple[tuple[str, float], ...]
"""The criteria of a scorecard that lost points, by their titles, each with how many."""


@dataclass(frozen=True, slots=True)
class Loss:
    """What a criterion cost among some scorecards.

    Attributes:
        title: The criterion.
        mean: Points lost, over all of the scorecards.
        trials: Scorecards in which it lost any.
    """

    title: str
    mean: float
    trials: int


def lost_points(card: Scorecard | None) -> Lost:
    """Return what the criteria of a scorecard lost; one that is unscored, or has all its points, is left out."""
    return tuple(
        (one.title, float(one.maximum - one.points))
        for one in (card.criteria if card is not None else ())
        if one.points is not None and one.points < one.maximum
    )


def losses_among(cards: Sequence[Lost]) -> list[Loss]:
    """Return what each criterion cost among scorecards, the dearest first."""
    points: dict[str, float] = {}
    trials: dict[str, int] = {}
    for lost in cards:
        for title, many in lost:
            points[title] = points.get(title, 0.0) + many
            trials[title] = trials.get(title, 0) + 1
    losses = [Loss(title, points[title] / len(cards), trials[title]) for title in points]
    return sorted(losses, key=lambda loss: (-loss.mean, loss.title))


@dataclass(frozen=True, slots=True)
class Missing:
    """Points that a criterion did not give.

    Attributes:
        tier: The number of its tier.
        key: Its key, "" where the scorecard has none.
        title: The criterion.
        points: Points that it gave, None where it could not be scored.
        maximum: Points that it can give.
        reason: Why, as the scorecard says.
        total: Points of the whole card if this and all larger ones were gained; unscored ones are left out of it.
    """

    tier: int
    key: str
    title: str
    points: float | None
    maximum: float
    reason: str
    total: float

    @property
    def missing(self) -> float:
        """Points that are missing; of an unscored criterion all that it could give."""
        return round(self.maximum - (self.points or 0.0), 6)


def missing_points(card: Scorecard) -> tuple[Missing, ...]:
    """Return what it would take to have all points: the criteria that gave fewer than they can, the largest loss first.

    What could not be scored comes last: nobody knows what is missing there.
    """
    criteria = [one for one in card.criteria if one.maximum]
    lacking = sorted(
        ((one.maximum - one.points, one) for one in criteria if one.points is not None and one.points < one.maximum),
        key=lambda gap: (-gap[0], gap[1].tier, gap[1].title),
    )
    total = math.fsum(one.points for one in criteria if one.points is not None)
    found = []
    for gap, one in [*lacking, *((0.0, one) for one in criteria if one.points is None)]:
        total += gap
        found.append(Missing(one.tier, one.key, one.title, one.points, one.maximum, one.reason, round(total, 6)))
    return tuple(found)
