"""Paired permutation test: signs of whole clusters are flipped; all ways if these are few."""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.statistics.clusters import PLURALS, Value, clusters_of

RESAMPLES = 10_000
ALPHA = 0.05
"""A test that cannot give less says so."""
MOST_EXACT = 16
"""Clusters up to which all 2^n ways are looked at."""


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """A two-sided test of a mean difference of zero."""

    p: float | None  # None without a difference
    unit: str  # whose signs were flipped: ``repository``, ``file`` or ``task``
    units: int  # how many of these there are
    ways: int  # that were tried: all of them, or so many random ones
    exact: bool  # all of them

    @property
    def least(self) -> float | None:
        """The least p that so few units can give, however large the differences; None without a test."""
        return None if self.p is None else 2.0 ** (1 - self.units)

    @property
    def too_few(self) -> str:
        """``3 repositories give p ≥ 0.25 at best`` if no difference could show at 0.05, else ""."""
        if self.least is None or self.least <= ALPHA:
            return ""
        unit, gives = (PLURALS[self.unit], "give") if self.units != 1 else (self.unit, "gives")
        return f"{self.units:,} {unit} {gives} p ≥ {self.least:.3g} at best"

    @property
    def words(self) -> str:
        """``p = 0.013 (paired permutation test over 28 repositories, 10,000 random ways)``."""
        if self.p is None:
            return "no test: there is no pair"
        least = "p < " if not self.exact and self.p <= 1 / (self.ways + 1) else "p = "
        return f"{least}{self.p:.2g} ({self.rule})"

    @property
    def rule(self) -> str:
        """``paired permutation test over 28 repositories, 10,000 random ways``, "" without a test."""
        if self.p is None:
            return ""
        ways = f"all {self.ways:,} ways" if self.exact else f"{self.ways:,} random ways"
        unit = PLURALS[self.unit] if self.units != 1 else self.unit
        return f"paired permutation test over {self.units:,} {unit}, {ways}" + (
            f"; {self.too_few}" if self.too_few else ""
        )


def permutation_test(differences: Iterable[Value], *, resamples: int = RESAMPLES, seed: int = 0) -> PermutationTest:
    """Return how often a mean of right − left at least as large comes about if clusters are swapped at random.

    Random ways (``resamples``, if there are too many for all) count the observed one among them, (b + 1) / (n + 1), so
    that p is never 0 (Phipson and Smyth 2010).
    """
    clusters = clusters_of(differences)
    if not clusters.count:
        return PermutationTest(None, "", 0, 0, exact=True)
    seen = abs(math.fsum(clusters.totals)) - 1e-9 * max(1.0, math.fsum(map(abs, clusters.totals)))
    if clusters.count <= MOST_EXACT:
        sums = _all_sums(clusters.totals)
        larger = sum(abs(one) >= seen for one in sums)
        return PermutationTest(larger / len(sums), clusters.unit, clusters.count, len(sums), exact=True)
    ways = random.Random(seed)
    # Clusters without a difference have no sign to flip. Eight others together have 256 sums, so a random byte draws eight signs.
    moving = [one for one in clusters.totals if one]
    sums = [0.0] * resamples
    for first in range(0, len(moving), 8):
        of_byte = _all_sums((moving[first : first + 8] + [0.0] * 8)[:8])
        sums = list(map(operator.add, sums, map(of_byte.__getitem__, ways.randbytes(resamples))))
    larger = sum(abs(one) >= seen for one in sums)
    return PermutationTest((larger + 1) / (resamples + 1), clusters.unit, clusters.count, resamples, exact=False)


def _all_sums(totals: Sequence[float]) -> list[float]:
    sums = [0.0]
    for one in totals:
        sums = [each + one for each in sums] + [each - one for each in sums]
    return sums
