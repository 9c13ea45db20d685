"""Figures made of scorecards: agreement of judges, lost and missing points, spread over repeats, the scale of colours."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace

import pytest
from app.recorded import card
from hypothesis import given
from hypothesis import strategies as st

from workbench.results.scores import Loss, losses_among, lost_points, missing_points, standing
from workbench.results.spread import FEWEST, agreements, point_spreads
from workbench.rubric import Criterion, Scorecard


def scorecard(**more: float | None) -> Scorecard:
    return Scorecard.from_json(card(**more))


def by(judge: str, clarity: float | None, completeness: float | None, judged_by: str = "") -> Scorecard:
    heading = Criterion(1, "heading", "Heading", 5, 5, "")
    judged = (("clarity", "Clarity", clarity), ("completeness", "Completeness", completeness))
    others = (Criterion(4, key, title, points, 10, "", judged_by=judged_by or judge) for key, title, points in judged)
    return Scorecard("strict", judge, (heading, *others))


def test_the_agreement_of_judges_by_hand() -> None:
    documents = [
        [by("a", 2, 4), by("b", 3, 4)],
        [by("b", 6, 6), by("a", 4, 6)],
        [by("a", 6, 2), by("b", 9, 2)],
        [by("a", 1, None), by("b", 1, 1)],  # unscored: only its clarity counts
        [by("a", 0, 0, "rule"), by("b", 0, 0, "rule")],  # nothing to judge
        [by("a", 5, 5)],
    ]
    whole, clarity, completeness = agreements(documents)
    assert (whole.judges, whole.tier, whole.criterion, whole.documents) == (("a", "b"), 4, "", 3)
    assert (whole.difference, whole.exact) == (pytest.approx((1 + 2 + 3) / 3), 0)
    assert (clarity.criterion, clarity.documents, clarity.exact, clarity.difference) == ("Clarity", 4, 0.25, 1.5)
    first, second = [2, 4, 6, 1], [3, 6, 9, 1]
    assert clarity.correlation == pytest.approx(statistics.correlation(first, second))
    assert (completeness.documents, completeness.exact, completeness.difference) == (3, 1, 0)


def test_no_agreement_of_too_few_or_of_other_rubrics() -> None:
    assert list(agreements([[by("a", 1, 1), by("b", 2, 2)]] * (FEWEST - 1))) == []
    assert list(agreements([[by("a", 1, 1), replace(by("b", 2, 2), rubric="aeo-bench")]] * 5)) == []


def test_swapped_names_swap_the_sign_and_nothing_else() -> None:
    pairs = [(1.0, 3.0), (7.5, 2.0), (4.0, 4.0), (12.0, 0.0)]
    there = next(iter(agreements([[by("a", x, 1), by("b", y, 1)] for x, y in pairs])))
    back = next(iter(agreements([[by("b", x, 1), by("a", y, 1)] for x, y in pairs])))
    assert back == replace(there, difference=-there.difference)


def test_lost_points_are_those_of_what_was_scored_the_dearest_first() -> None:
    def lost(title: str, points: float | None, maximum: float = 10.0) -> Criterion:
        return Criterion(1, title, title, points, maximum, "")

    criteria = (lost("a", 10.0), lost("b", 7.5), lost("c", None), lost("d", 0.0, 8.0))
    assert lost_points(Scorecard("strict", "offline", criteria)) == (("b", 2.5), ("d", 8.0))
    assert lost_points(None) == ()
    assert losses_among([(("a", 4.0),), (("a", 2.0), ("b", 9.0)), (), ()]) == [Loss("b", 2.25, 1), Loss("a", 1.5, 2)]
    assert losses_among([]) == losses_among([(), ()]) == []


def test_the_largest_missing_points_come_first_and_what_is_unscored_last() -> None:
    found = missing_points(scorecard(accuracy=None))
    assert [(one.title, one.missing) for one, _ in found] == [
        ("Dependencies", 7), ("Completeness", 4), ("Clarity", 3), ("Purpose", 12),
    ]  # fmt: skip
    assert found[-1][0].points is None
    # 100 but for the twelve points that nobody gave.
    assert [total for _, total in found] == [81, 85, 88, 88]
    assert missing_points(Scorecard("strict", "offline", ())) == ()


@given(st.lists(st.floats(0, 12, width=16), min_size=1, max_size=8))
def test_the_spread_is_that_of_the_repeats(values: list[float]) -> None:
    found = {(one.tier, one.criterion): one for one in point_spreads([scorecard(accuracy=value) for value in values])}
    one, tier = found[3, "purpose"], found[3, ""]
    assert one.n == tier.n == len(values)
    assert math.isclose(one.mean, statistics.fmean(values), abs_tol=1e-9)
    assert math.isclose(tier.mean, one.mean + 11, abs_tol=1e-9)
    assert (one.sd is None) == (len(values) < 2)
    assert one.sd is None or math.isclose(one.sd, statistics.stdev(values), abs_tol=1e-6)


def test_a_tier_with_an_unscored_criterion_is_in_no_mean() -> None:
    found = {(one.tier, one.criterion): one.n for one in point_spreads([scorecard(), scorecard(accuracy=None)])}
    assert (found[3, ""], found[3, "purpose"], found[3, "dependencies"]) == (1, 1, 2)


@pytest.mark.parametrize(("share", "stands"), [(0.7, "good"), (0.6999, "middling"), (0.4, "middling"), (0.3999, "poor")])  # fmt: skip
def test_bounds_belong_to_the_better_side(share: float, stands: str) -> None:
    assert standing(share) == stands
