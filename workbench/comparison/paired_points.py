"""What costs one side points: the total, each tier and each criterion of trials of both sides, paired case by case.

A part is compared over the trials in which both sides have it. Differences are clustered by case, because trials of one case
are alike.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.comparison.criteria import criteria_of
from workbench.statistics.clusters import OF_TRIALS, Value, clusters_of
from workbench.statistics.paired import Difference, Tally, holm, paired_difference
from workbench.statistics.permutation import PermutationTest, permutation_test

if TYPE_CHECKING:
    from workbench.comparison.trial_runs import ScoredTrial, TrialsPair
    from workbench.rubric.scorecard import Scorecard
    from workbench.session.rows import ScoreRow

Part = tuple[int, str, int]
"""Tier, name and occurrence of a criterion; the name is "" of a whole tier, the tier 0 of the total."""
ReadCard = Callable[["ScoreRow"], "Scorecard | None"]
TOTAL: Part = (0, "", 0)


@dataclass(frozen=True, slots=True)
class PairedPoints:
    """The points that one part of the scorecard has on both sides.

    Attributes:
        tier: The tier, 0 for the total.
        title: The criterion, "" for a whole tier and for the total.
        maximum: Points it is out of; None where trials differ in that.
        left: Mean points of A over the compared trials; cases count alike.
        right: Those of B.
        difference: B − A.
        test: Whether it could have come about by chance.
        adjusted: p for as many tiers, or criteria, as were tested (Holm).
        trials: Compared trials.
        missing: Trials of both sides of which one lacks the points.
    """

    tier: int
    title: str
    maximum: float | None
    left: float
    right: float
    difference: Difference
    test: PermutationTest
    adjusted: float | None
    trials: int
    missing: int

    @property
    def gap(self) -> float:
        """Mean points of B minus those of A; cases count alike."""
        return round(self.difference.value or 0.0, 6) + 0.0

    @property
    def cases(self) -> Tally:
        """How many cases B wins, ties and loses."""
        return self.difference.repositories

    @property
    def differs(self) -> bool:
        return bool(self.difference.tasks.wins or self.difference.tasks.losses)

    def to_json(self) -> dict[str, Any]:
        return {
            "tier": self.tier or None,
            "criterion": self.title or None,
            "maximum": self.maximum,
            "trials": self.trials,
            "missing": self.missing,
            "a": self.left,
            "b": self.right,
            "difference": self.gap,
            "low": self.difference.interval.low,
            "high": self.difference.interval.high,
            "interval": self.difference.interval.words,
            "p": self.test.p,
            "p_holm": self.adjusted,
            "test": self.test.words,
        }


@dataclass(frozen=True, slots=True)
class _Points:
    """Mean points of a part over the repeats of a trial."""

    mean: float
    maximum: float
    title: str


def paired_points(pairs: Iterable[TrialsPair], left_card: ReadCard, right_card: ReadCard) -> tuple[PairedPoints, ...]:
    """Return the total, each tier and its criteria, in the order of the scorecard.

    Args:
        pairs: Trials of both sides.
        left_card: Reads a scorecard of A.
        right_card: Reads one of B.
    """
    both: dict[Part, list[tuple[str, _Points, _Points]]] = defaultdict(list)
    missing: dict[Part, int] = defaultdict(int)
    for pair in pairs:
        if pair.left is None or pair.right is None or not pair.same_judge:
            continue
        left, right = _points_of(pair.left, left_card), _points_of(pair.right, right_card)
        if pair.difference is not None:
            left[TOTAL], right[TOTAL] = (_Points(one.points or 0.0, one.out_of, "") for one in (pair.left, pair.right))
        for part in dict.fromkeys((TOTAL, *left, *right)):
            if part in left and part in right:
                both[part].append((pair.either.trial.case_id, left[part], right[part]))
            else:
                missing[part] += 1
    order = {part: place for place, part in enumerate(both)}
    found = {
        part: _paired(part, both[part], missing[part])
        for part in sorted(both, key=lambda part: (part[0], bool(part[1]), order[part]))
    }
    tests = {part: one.test.p for part, one in found.items() if one.test.p is not None}
    for of_kind in (
        [part for part in tests if part[0] and not part[1]],
        [part for part in tests if part[1]],
    ):
        adjusted = holm({str(part): tests[part] or 0.0 for part in of_kind})
        for part in of_kind:
            found[part] = replace(found[part], adjusted=adjusted[str(part)])
    return tuple(found.values())


def _points_of(trial: ScoredTrial, card_of: ReadCard) -> dict[Part, _Points]:
    repeats: dict[Part, list[_Points]] = defaultdict(list)
    for score in trial.scores:
        card = card_of(score)
        for part, one in criteria_of(card).items():
            if one.points is not None:
                repeats[part].append(_Points(one.points, one.maximum, one.title))
        for tier, whole in card.tiers.items() if card is not None else ():
            if whole.points is not None:
                repeats[tier, "", 0].append(_Points(whole.points, whole.maximum, ""))
    return {
        part: _Points(math.fsum(one.mean for one in given) / len(given), given[0].maximum, given[0].title)
        for part, given in repeats.items()
    }


def _paired(part: Part, both: Sequence[tuple[str, _Points, _Points]], missing: int) -> PairedPoints:
    values = [Value(case, "", right.mean - left.mean) for case, left, right in both]
    difference, test = paired_difference(values), permutation_test(values)
    maxima = {one.maximum for _, left, right in both for one in (left, right)}
    return PairedPoints(
        part[0],
        both[0][1].title,
        maxima.pop() if len(maxima) == 1 else None,
        clusters_of(Value(case, "", left.mean) for case, left, _ in both).mean,
        clusters_of(Value(case, "", right.mean) for case, _, right in both).mean,
        replace(difference, interval=replace(difference.interval, unit=OF_TRIALS[difference.interval.unit])),
        replace(test, unit=OF_TRIALS[test.unit]),
        test.p,
        len(both),
        missing,
    )
