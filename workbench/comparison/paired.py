"""A figure that both sides have of the same items: B − A, its interval, and whether it could have come about by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from workbench.comparison import panes
from workbench.statistics.clusters import OF_TRIALS, Value, clusters_of
from workbench.statistics.paired import Difference, paired_difference
from workbench.statistics.permutation import PermutationTest, permutation_test


@dataclass(frozen=True, eq=False)
class Paired:
    """A figure over the items that both sides have; the values of both are in the same order.

    ``missing`` are items of both of which one lacks the figure; of trials the clusters are called cases.
    """

    left_values: Sequence[Value]
    right_values: Sequence[Value]
    missing: int = 0
    of_trials: bool = False

    @cached_property
    def means(self) -> tuple[float | None, float | None]:
        """The means of A and B; repositories, or cases, count alike."""
        left, right = (clusters_of(one).mean if one else None for one in (self.left_values, self.right_values))
        return left, right

    @property
    def gap(self) -> float | None:
        return panes.difference(*self.means)

    @property
    def items(self) -> int:
        return len(self.left_values)

    @property
    def _gaps(self) -> list[Value]:
        both = zip(self.left_values, self.right_values, strict=True)
        return [Value(a.repository, a.file, panes.difference(a.value, b.value) or 0.0) for a, b in both]

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
