"""What it would take to have all points, and how points lie over repeats."""

from __future__ import annotations

import math
import statistics

from app.recorded import card
from hypothesis import given
from hypothesis import strategies as st

from workbench.results.scores import missing_points
from workbench.results.spread import point_spreads
from workbench.rubric import Scorecard


def scorecard(**more: float | None) -> Scorecard:
    return Scorecard.from_json(card(**more))


def test_the_largest_loss_comes_first_and_what_is_unscored_last() -> None:
    found = missing_points(scorecard(accuracy=None))
    assert [(one.title, one.missing) for one, _ in found] == [
        ("Dependencies", 7), ("Completeness", 4), ("Clarity", 3), ("Purpose", 12),
    ]  # fmt: skip
    assert found[-1][0].points is None
    # 100 but for the twelve points that nobody gave.
    assert [total for _, total in found] == [81, 85, 88, 88]
    assert missing_points(Scorecard("strict", "offline", ())) == ()


@given(st.lists(st.floats(0, 12, width=16), min_size=1, max_size=8))
def test_spread_is_that_of_the_repeats(values: list[float]) -> None:
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
