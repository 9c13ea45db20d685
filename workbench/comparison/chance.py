"""Could the differences of compared groups have come about by chance? A permutation test for each pair and k, Holm over all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.comparison.groups import GroupComparison, differences
from workbench.statistics.paired import holm
from workbench.statistics.permutation import PermutationTest, permutation_test


@dataclass(frozen=True, slots=True)
class Chance:
    """The test of one difference.

    Attributes:
        test: The permutation test; its p is None without a task of both.
        adjusted: p for as many tests as were made (Holm).
        tests: How many these are.
    """

    test: PermutationTest
    adjusted: float | None
    tests: int

    @property
    def words(self) -> str:
        """Return ``p = 0.013 (…); 0.04 by Holm over 6 tests``."""
        if self.adjusted is None or self.tests < 2:
            return self.test.words
        return f"{self.test.words}; {self.adjusted:.2g} by Holm over {self.tests:,} tests"


def chances(found: Sequence[GroupComparison]) -> tuple[dict[int, Chance], ...]:
    """Return for each comparison its tests by k."""
    tests = {
        (number, tally.k): permutation_test(differences(one, tally.k))
        for number, one in enumerate(found)
        for tally in one.tallies
    }
    made = {f"{number} {k}": test.p for (number, k), test in tests.items() if test.p is not None}
    adjusted = holm(made)
    return tuple(
        {k: Chance(test, adjusted.get(f"{at} {k}"), len(made)) for (at, k), test in tests.items() if at == number}
        for number in range(len(found))
    )
