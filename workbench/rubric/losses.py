"""Where points were lost: by criterion, in one scorecard and among many."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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


def lost_points(card: Mapping[str, Any]) -> Lost:
    """Return what the criteria of a scorecard lost; one that is unscored, or has all its points, is left out.

    Args:
        card: A scorecard as :meth:`workbench.session.SessionReader.card` gives it.
    """
    return tuple(
        (str(one["title"]), float(one["maximum"] - one["points"]))
        for one in card.get("criteria", [])
        if one["points"] is not None and one["maximum"] is not None and one["points"] < one["maximum"]
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


def missing_points(card: Mapping[str, Any]) -> tuple[Missing, ...]:
    """Return what it would take to have all points: the criteria that gave fewer than they can, the largest loss first.

    What could not be scored comes last: nobody knows what is missing there.

    Args:
        card: A scorecard as :meth:`workbench.session.SessionReader.card` gives it.
    """
    criteria = [one for one in card.get("criteria") or () if one["maximum"]]
    scored = [one for one in criteria if one["points"] is not None]
    lacking = sorted(
        (one for one in scored if one["points"] < one["maximum"]),
        key=lambda one: (one["points"] - one["maximum"], int(one["tier"]), str(one["title"])),
    )
    total = math.fsum(float(one["points"]) for one in scored)
    found = []
    for one in [*lacking, *(one for one in criteria if one["points"] is None)]:
        if one["points"] is not None:
            total += float(one["maximum"]) - float(one["points"])
        points = None if one["points"] is None else float(one["points"])
        key, reason = str(one.get("key") or ""), str(one["reason"])
        found.append(
            Missing(int(one["tier"]), key, str(one["title"]), points, float(one["maximum"]), reason, round(total, 6))
        )
    return tuple(found)
