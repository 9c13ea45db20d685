"""Points criterion by criterion, files by how closely each agent looked: joined by name, unscored kept apart from zero."""

from __future__ import annotations

import pytest

from workbench.comparison.criteria import join_criteria
from workbench.comparison.trials import join_files
from workbench.rubric import Criterion, Scorecard
from workbench.session.rows import AccessedFileRow


def criterion(key: str, points: float | None, tier: int = 1, maximum: float = 10.0, title: str = "") -> Criterion:
    return Criterion(tier, key, title or key.title(), points, maximum, "so")


def card(*criteria: Criterion) -> Scorecard:
    return Scorecard("strict", "offline", criteria)


def test_criteria_are_joined_by_their_keys_in_the_order_of_the_left_card() -> None:
    left = card(criterion("b", 4.0), criterion("a", 0.3), criterion("z", 1.0, tier=3))
    right = card(criterion("a", 0.1, title="Other"), criterion("new", 2.0), criterion("b", 4.0))
    first, third = join_criteria(left, right)
    assert [pair.title for pair in first.criteria] == ["B", "A", "New"]
    assert [pair.difference for pair in first.criteria] == [0.0, -0.2, None]
    assert [pair.differs for pair in first.criteria] == [False, True, True]
    assert (first.left, first.right) == (None, 6.1)
    assert (third.number, third.left, third.right, third.difference) == (3, 1.0, None, None)


@pytest.mark.parametrize(("left", "right", "differs"), [(None, None, False), (None, 0.0, True), (0.0, 0.0, False)])
def test_unscored_is_not_zero(left: float | None, right: float | None, differs: bool) -> None:
    (tier,) = join_criteria(card(criterion("a", left)), card(criterion("a", right)))
    assert tier.criteria[0].differs is differs
    assert tier.difference == (None if None in (left, right) else 0.0)


def test_remarks_are_left_out_and_a_name_may_occur_twice() -> None:
    left = card(
        criterion("note", None, maximum=0.0), criterion("", 1.0, title="Same"), criterion("", 2.0, title="Same")
    )
    right = card(criterion("", 1.0, title="Same"), criterion("", 5.0, title="Same"))
    (tier,) = join_criteria(left, right)
    assert [pair.difference for pair in tier.criteria] == [0.0, 3.0]


def test_without_a_card_everything_is_the_other_ones() -> None:
    (tier,) = join_criteria(None, card(criterion("a", 3.0)))
    assert tier.criteria[0].left is None
    assert tier.criteria[0].differs
    assert join_criteria(None, None) == ()


def test_files_are_joined_by_path_with_the_closest_look_of_each() -> None:
    def seen(path: str, how: str) -> AccessedFileRow:
        return AccessedFileRow("t", path, how, 1, 0, None)

    pairs = join_files(
        [seen("b", "read"), seen("b", "listed"), seen("a", "listed")],
        [seen("c", "read"), seen("a", "listed"), seen("b", "listed")],
    )
    assert [(pair.path, pair.left, pair.right, pair.closer) for pair in pairs] == [
        ("a", "listed", "listed", 0), ("b", "read", "listed", -1), ("c", "", "read", 1),
    ]  # fmt: skip
