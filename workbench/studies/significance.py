"""Permutation tests of a study's differences with Holm's adjustment, and resampled rankings.

Imports numpy, so only engine, report and command processes call it; the app uses a subprocess
(:func:`workbench.studies.comparing.resampled_in_process`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.statistics.intervals import OF_TRIALS
from workbench.statistics.paired import RESAMPLES, PermutationTest, holm, permutation_test
from workbench.statistics.rankings import PairOrder, pair_orders
from workbench.statistics.resampling import can_be_drawn, drawn_orders
from workbench.studies.comparing import ColumnComparison, common_items, compare, ranked_columns
from workbench.studies.declaration import AGENTS, StudyColumn
from workbench.studies.outcome import StudyOutcome


@dataclass(frozen=True, slots=True)
class AdjustedComparison:
    """A comparison with its test.

    ``adjusted`` is the p-value with Holm's adjustment for all tests made together, or None without a test.
    """

    comparison: ColumnComparison
    test: PermutationTest
    adjusted: float | None

    def to_json(self) -> dict[str, Any]:
        return {
            **self.comparison.to_json(),
            "p": self.test.p,
            "test": self.test.words,
            "p_holm": self.adjusted,
        }


def adjusted_comparisons(
    outcome: StudyOutcome,
    pairs: Sequence[tuple[StudyColumn, StudyColumn]],
    measure: str = "",
    *,
    resamples: int = RESAMPLES,
) -> tuple[AdjustedComparison, ...]:
    """Compare pairs of columns by one measure and test each difference, adjusting for the number of tests."""
    compared = [compare(outcome, left, right, measure) for left, right in pairs]
    tests = []
    for one in compared:
        test = permutation_test(one.values, resamples=resamples, seed=outcome.study.seed)
        if outcome.study.kind == AGENTS:
            test = replace(test, unit=OF_TRIALS[test.unit])
        tests.append(test)
    known = holm({str(number): test.p for number, test in enumerate(tests) if test.p is not None})
    return tuple(
        AdjustedComparison(one, test, known.get(str(number)))
        for number, (one, test) in enumerate(zip(compared, tests, strict=True))
    )


def all_pairs(outcome: StudyOutcome) -> list[tuple[StudyColumn, StudyColumn]]:
    """Return the pairs that a report compares: all pairs of comparable columns of one model, in column order."""
    return [pair for one in ranked_columns(outcome) for pair in itertools.combinations(one.columns, 2)]


def resampled_orders(
    outcome: StudyOutcome, *, resamples: int = RESAMPLES
) -> dict[tuple[str, str], tuple[PairOrder, ...]]:
    """Return how often pairs keep their order for each model and measure, by row and in resamples of rows.

    A single row is resampled by its files. If that row has only one file, nothing is drawn, because all resamples would
    be the same.
    """
    found: dict[tuple[str, str], tuple[PairOrder, ...]] = {}
    for one in ranked_columns(outcome):
        for measure in outcome.study.measures:
            tasks = common_items(outcome, one.columns, measure)
            drawn = drawn_orders(tasks, resamples=resamples, seed=outcome.study.seed) if can_be_drawn(tasks) else None
            orders = pair_orders(tasks, drawn=drawn)
            found[one.model, measure] = (*found.get((one.model, measure), ()), *orders)
    return found
