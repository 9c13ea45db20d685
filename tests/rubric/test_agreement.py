"""The agreement of judges, against numpy-free arithmetic and its symmetries."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.results.spread import FEWEST, agreements
from workbench.rubric import Criterion, Scorecard


def card(judge: str, clarity: float | None, completeness: float | None, by: str = "") -> Scorecard:
    heading = Criterion(1, "heading", "Heading", 5, 5, "")
    judged = (("clarity", "Clarity", clarity), ("completeness", "Completeness", completeness))
    others = (Criterion(4, key, title, points, 10, "", judged_by=by or judge) for key, title, points in judged)
    return Scorecard("strict", judge, (heading, *others))


def test_figures_by_hand() -> None:
    documents = [
        [card("a", 2, 4), card("b", 3, 4)],
        [card("b", 6, 6), card("a", 4, 6)],
        [card("a", 6, 2), card("b", 9, 2)],
        [card("a", 1, None), card("b", 1, 1)],  # unscored: only its clarity counts
        [card("a", 0, 0, by="rule"), card("b", 0, 0, by="rule")],  # nothing to judge
        [card("a", 5, 5)],
    ]
    whole, clarity, completeness = agreements(documents)
    assert (whole.judges, whole.tier, whole.criterion, whole.documents) == (("a", "b"), 4, "", 3)
    assert whole.difference == pytest.approx((1 + 2 + 3) / 3)
    assert whole.exact == 0
    assert (clarity.criterion, clarity.documents, clarity.exact) == ("Clarity", 4, 0.25)
    assert clarity.difference == pytest.approx(1.5)
    first, second = [2, 4, 6, 1], [3, 6, 9, 1]
    means = sum(first) / 4, sum(second) / 4
    above = sum((x - means[0]) * (y - means[1]) for x, y in zip(first, second, strict=True))
    below = math.sqrt(sum((x - means[0]) ** 2 for x in first) * sum((y - means[1]) ** 2 for y in second))
    assert clarity.correlation == pytest.approx(above / below)
    assert (completeness.documents, completeness.exact, completeness.difference) == (3, 1, 0)


def test_nothing_is_said_of_too_few_or_of_other_rubrics() -> None:
    few = [[card("a", 1, 1), card("b", 2, 2)]] * (FEWEST - 1)
    assert list(agreements(few)) == []
    other = [[card("a", 1, 1), replace(card("b", 2, 2), rubric="aeo-bench")]] * 5
    assert list(agreements(other)) == []


points = st.floats(0, 12, allow_nan=False)


@given(st.lists(st.tuples(points, points), min_size=FEWEST, max_size=8))
def test_swapped_names_swap_the_sign_and_nothing_else(given_points: list[tuple[float, float]]) -> None:
    there = next(iter(agreements([[card("a", x, 1), card("b", y, 1)] for x, y in given_points])))
    back = next(iter(agreements([[card("b", x, 1), card("a", y, 1)] for x, y in given_points])))
    assert back.difference == pytest.approx(-there.difference)
    assert back.exact == there.exact
    if there.correlation is None:
        assert back.correlation is None
    else:
        assert -1.000001 <= there.correlation <= 1.000001
        assert back.correlation == pytest.approx(there.correlation)
