"""Where points were lost, in one scorecard and among many."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.results.scores import Loss, losses_among, lost_points
from workbench.rubric import Criterion, Scorecard


def criterion(title: str, points: float | None, maximum: float = 10.0) -> Criterion:
    return Criterion(1, title, title, points, maximum, "")


def test_only_what_was_scored_and_is_not_complete_lost_points() -> None:
    criteria = (criterion("a", 10.0), criterion("b", 7.5), criterion("c", None), criterion("d", 0.0, 8.0))
    card = Scorecard("strict", "offline", criteria)
    assert lost_points(card) == (("b", 2.5), ("d", 8.0))
    assert lost_points(None) == ()


def test_the_mean_is_over_all_scorecards_and_the_dearest_comes_first() -> None:
    assert losses_among([(("a", 4.0),), (("a", 2.0), ("b", 9.0)), (), ()]) == [Loss("b", 2.25, 1), Loss("a", 1.5, 2)]
    assert losses_among([]) == []
    assert losses_among([(), ()]) == []


@given(st.lists(st.dictionaries(st.sampled_from("abcdef"), st.floats(0.1, 30.0)), max_size=20))
def test_the_means_add_up_to_what_all_lost(cards: list[dict[str, float]]) -> None:
    losses = losses_among([tuple(card.items()) for card in cards])
    lost = sum(sum(card.values()) for card in cards)
    assert sum(loss.mean for loss in losses) * max(1, len(cards)) == pytest.approx(lost)
    assert [loss.mean for loss in losses] == sorted((loss.mean for loss in losses), reverse=True)
