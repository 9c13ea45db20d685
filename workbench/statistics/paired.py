"""Comparison of two sides on the same tasks: mean difference with its interval, wins, and a permutation test."""

from __future__ import annotations

import math
import operator
import random
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from workbench.statistics.intervals import LEVEL, OF_TRIALS, PLURALS, Interval, Value, clusters_of, difference_interval

RESAMPLES = 10_000
ALPHA = 0.05
"""Significance level; a test that cannot reach it says so."""
MOST_EXACT = 16
"""Maximum number of clusters for an exact test, which tries all 2^n sign patterns."""


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """A two-sided test of a mean difference of zero."""

    p: float | None  # None without a difference
    unit: str  # the unit with flipped signs: ``repository``, ``file`` or ``task``
    units: int  # number of units
    ways: int  # number of sign patterns tried, all or random ones
    exact: bool  # whether all patterns were tried

    @property
    def least(self) -> float | None:
        """The smallest p that this number of units allows, however large the differences, or None without a test."""
        return None if self.p is None else 2.0 ** (1 - self.units)

    @property
    def too_few(self) -> str:
        """``3 repositories give p ≥ 0.25 at best`` if no difference could be significant at 0.05, or ""."""
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
        """The method, ``paired permutation test over 28 repositories, 10,000 random ways``, or "" without a test."""
        if self.p is None:
            return ""
        ways = f"all {self.ways:,} ways" if self.exact else f"{self.ways:,} random ways"
        unit = PLURALS[self.unit] if self.units != 1 else self.unit
        return f"paired permutation test over {self.units:,} {unit}, {ways}" + (
            f"; {self.too_few}" if self.too_few else ""
        )


def permutation_test(differences: Iterable[Value], *, resamples: int = RESAMPLES, seed: int = 0) -> PermutationTest:
    """Return how often a mean of right − left at least as extreme arises when clusters are swapped at random.

    If there are too many patterns to try all, ``resamples`` random ones are drawn. The observed pattern counts as one
    of them, so p is (b+1)/(n+1) and never 0 (Phipson and Smyth 2010).
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
    # Clusters without a difference have no sign to flip. Eight clusters together have 256 sums, so a random byte draws
    # eight signs.
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


Key = TypeVar("Key", bound=Hashable)
_EQUAL = 1e-9
"""Shares that differ by less are equal, because pass@k of equal counts can differ in its last bits."""


@dataclass(frozen=True, slots=True)
class WinTally:
    """The numbers of items that the right side wins, ties and loses."""

    wins: int
    ties: int
    losses: int

    @property
    def items(self) -> int:
        return self.wins + self.ties + self.losses

    @property
    def words(self) -> str:
        """``16 won, 2 tied, 10 lost``."""
        return f"{self.wins:,} won, {self.ties:,} tied, {self.losses:,} lost"


@dataclass(frozen=True, slots=True)
class Difference:
    """A paired difference, right minus left."""

    value: float | None  # mean, unweighted over repositories (or tasks if there is one); None without tasks
    interval: Interval
    tasks: WinTally  # wins, ties and losses by task
    repositories: WinTally  # wins, ties and losses by the mean difference of each repository

    def to_json(self) -> dict[str, Any]:
        return {
            "value": self.value,
            "low": self.interval.low,
            "high": self.interval.high,
            "interval": self.interval.words,
            "tasks": [self.tasks.wins, self.tasks.ties, self.tasks.losses],
            "repositories": [self.repositories.wins, self.repositories.ties, self.repositories.losses],
        }


def paired_difference(differences: Iterable[Value], *, level: float = LEVEL) -> Difference:
    """Return the mean of right − left over the tasks that both sides have."""
    values = list(differences)
    clusters = clusters_of(values)
    by_repository: dict[str, list[float]] = defaultdict(list)
    for one in values:
        by_repository[one.repository].append(one.value)
    means = (math.fsum(mine) / len(mine) for mine in by_repository.values())
    return Difference(
        clusters.mean if values else None,
        difference_interval(values, level=level),
        tally(one.value for one in values),
        tally(means),
    )


def tally(differences: Iterable[float]) -> WinTally:
    signs = [0, 0, 0]
    for value in differences:
        signs[0 if value > _EQUAL else 2 if value < -_EQUAL else 1] += 1
    return WinTally(*signs)


def common_tasks(sides: Iterable[Mapping[str, float | None]]) -> tuple[str, ...]:
    """Return the tasks that have a value on every side, sorted; comparisons must be limited to these.

    For example, a side can be a group at one k: if tasks have different numbers of samples, pass@1 and pass@3 are based
    on different tasks.
    """
    found: set[str] | None = None
    for side in sides:
        mine = {task for task, value in side.items() if value is not None}
        found = mine if found is None else found & mine
    return tuple(sorted(found or ()))


def holm(chances: Mapping[Key, float]) -> dict[Key, float]:
    """Return the p-values of several tests, adjusted for their number (Holm 1979), in the original order."""
    if any(not 0 <= chance <= 1 for chance in chances.values()):
        raise ValueError("a p-value lies between 0 and 1")
    adjusted: dict[Key, float] = {}
    least = 0.0
    for place, name in enumerate(sorted(chances, key=lambda one: chances[one])):
        least = max(least, min(1.0, chances[name] * (len(chances) - place)))
        adjusted[name] = least
    return {name: adjusted[name] for name in chances}


def difference(left: float | None, right: float | None) -> float | None:
    """Return ``right`` minus ``left`` without binary rounding noise: 0.1, not 0.09999999999999964."""
    return None if left is None or right is None else round(right - left, 6) + 0.0


@dataclass(frozen=True, eq=False)
class Paired:
    """Values of two sides for their common items in the same order: the difference and its significance.

    ``missing`` is the number of common items without a value on one of the sides. For trials, clusters are called
    cases.
    """

    left_values: Sequence[Value]
    right_values: Sequence[Value]
    missing: int = 0
    of_trials: bool = False

    @cached_property
    def means(self) -> tuple[float | None, float | None]:
        """The means of A and B, in which repositories or cases have equal weight."""
        left, right = (clusters_of(one).mean if one else None for one in (self.left_values, self.right_values))
        return left, right

    @property
    def gap(self) -> float | None:
        return difference(*self.means)

    @property
    def items(self) -> int:
        return len(self.left_values)

    @property
    def _gaps(self) -> list[Value]:
        both = zip(self.left_values, self.right_values, strict=True)
        return [Value(a.repository, a.file, difference(a.value, b.value) or 0.0) for a, b in both]

    @cached_property
    def difference(self) -> Difference:
        found = paired_difference(self._gaps)
        interval = found.interval
        return replace(found, interval=replace(interval, unit=OF_TRIALS[interval.unit])) if self.of_trials else found

    @cached_property
    def test(self) -> PermutationTest:
        found = permutation_test(self._gaps)
        return replace(found, unit=OF_TRIALS[found.unit]) if self.of_trials else found

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        return self.difference.interval.low, self.difference.interval.high

    def words(self, adjusted: float | None, tests: int) -> str:
        """Return ``p = 0.013 (…); 0.04 by Holm over 6 tests``."""
        by_holm = "" if adjusted is None or tests < 2 else f"; {adjusted:.2g} by Holm over {tests:,} tests"
        return self.test.words + by_holm

    def to_json(self, adjusted: float | None, tests: int = 0) -> dict[str, Any]:
        low, high = self.bounds
        return {
            "a": self.means[0],
            "b": self.means[1],
            "difference": self.gap,
            "low": low,
            "high": high,
            "interval": self.difference.interval.words,
            "p": self.test.p,
            "p_holm": adjusted,
            "test": self.words(adjusted, tests),
        }
