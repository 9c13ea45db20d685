"""Where points were lost: by criterion, in one scorecard and among many."""

from __future__ import annotations

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
