"""The points of trials, and which of them compare: those of the same tiers, with the points from a format told apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

NO_FACTS_POINTS = 15.0
"""What the original gives tier 3 of a case that has no facts (``without_facts`` of ``workbench.rubric.score``)."""
FORMAT_SHARE = 0.1
"""A format that gave more than this share of the points is told apart: the model's own points come first."""


@dataclass(frozen=True, slots=True)
class Total:
    """The points of a trial by one rubric and judge.

    Attributes:
        points: Points of the scored tiers, None where there are none.
        out_of: What they are out of.
        tiers: Numbers of the scored tiers.
        given: Those of the points that the answer's format earned by itself.
        credited: Whether tier 3 has the points that the original gives a case without facts.
    """

    points: float | None = None
    out_of: float = 0.0
    tiers: tuple[int, ...] = ()
    given: float = 0.0
    credited: bool = False

    @property
    def own(self) -> tuple[float, float] | None:
        """The model's own points and what these are out of, where the format gave more than a tenth; else None."""
        return own_points(self.points, self.out_of, self.given)

    @property
    def share(self) -> float | None:
        """Points of 100, the model's own ones where these are told apart; None of a trial that lacks tiers."""
        if self.points is None or not self.out_of or len(self.tiers) < 4:
            return None
        points, out_of = self.own or (self.points, self.out_of)
        return 100 * points / out_of


def own_points(points: float | None, out_of: float, given: float | None) -> tuple[float, float] | None:
    """Return the model's own points and what they are out of, None unless the format gave more than a tenth of all."""
    if points is None or not given or given <= FORMAT_SHARE * points or given >= out_of:
        return None
    return round(points - given, 6), round(out_of - given, 6)


def comparable(totals: Sequence[Total]) -> list[Total]:
    """Return the totals that one figure may rest on: those of the same tiers, the tiers with the most points.

    Points of fewer tiers compare with nothing: 40 of 40 are not 100 of 100.
    """
    scored = [one for one in totals if one.points is not None]
    counts = Counter((one.out_of, one.tiers) for one in scored)
    basis = max(counts, key=lambda one: (one[0], counts[one], one[1]), default=None)
    return [one for one in scored if (one.out_of, one.tiers) == basis]
