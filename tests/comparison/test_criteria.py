"""Points criterion by criterion, files by how closely each agent looked: joined by name, unscored kept apart from zero."""

from __future__ import annotations

import pytest

from workbench.comparison.panes import SAME
from workbench.comparison.trials import join_criteria, join_files
from workbench.rubric import Criterion, Scorecard
from workbench.session.rows import AccessedFileRow


def criterion(key: str, points: float | None, tier: int = 1, maximum: float = 10.0, title: str = "") -> Criterion:
    return Criterion(tier, key, title or key.title(), points, maximum, "so")


def card(*criteria: Criterion) -> Scorecard:
    return Scorecard("strict", "offline", criteria)


def test_criteria_are_joined_by_their_keys_in_the_order_of_the_left_card() -> None:
    left = card(criterion("b", 4.0), criterion("a", 0.3), criterion("z", 1.0, tier=3))
    right = card(criterion("a", 0.1, title="Other"), criterion("new", 2.0), criterion("b", 4.0))
    first, *of_first, third, _ = join_criteria(left, right)
    assert [pair.name for pair in of_first] == ["B", "A", "New"]
    assert [pair.gap for pair in of_first] == [0.0, -0.2, None]
    assert [pair.sign != SAME for pair in of_first] == [False, True, True]
    assert (first.left.points, first.right.points) == (None, 6.1)
    assert (third.either.tier, third.left.points, third.right.points, third.gap) == (3, 1.0, None, None)


@pytest.mark.parametrize(("left", "right", "differs"), [(None, None, False), (None, 0.0, True), (0.0, 0.0, False)])
def test_unscored_is_not_zero(left: float | None, right: float | None, differs: bool) -> None:
    tier, one = join_criteria(card(criterion("a", left)), card(criterion("a", right)))
    assert (one.sign != SAME) is differs
    assert tier.gap == (None if None in (left, right) else 0.0)


def test_remarks_are_left_out_and_a_name_may_occur_twice() -> None:
    left = card(
        criterion("note", None, maximum=0.0), criterion("", 1.0, title="Same"), criterion("", 2.0, title="Same")
    )
    right = card(criterion("", 1.0, title="Same"), criterion("", 5.0, title="Same"))
    _, *criteria = join_criteria(left, right)
    assert [pair.gap for pair in criteria] == [0.0, 3.0]


def test_without_a_card_everything_is_the_other_ones() -> None:
    _, one = join_criteria(None, card(criterion("a", 3.0)))
    assert (one.left, one.sign[0]) == (None, "B")
    assert join_criteria(None, None) == []


def test_files_are_joined_by_path_with_the_closest_look_of_each() -> None:
    def seen(path: str, how: str) -> AccessedFileRow:
        return AccessedFileRow("t", path, how, 1, 0, None)

    pairs = join_files(
        [seen("b", "read"), seen("b", "listed"), seen("a", "listed")],
        [seen("c", "read"), seen("a", "listed"), seen("b", "listed")],
    )
    assert [(pair.name, pair.left, pair.right, pair.sign[0]) for pair in pairs] == [
        ("a", "listed", "listed", "="), ("b", "read", "listed", "▼"), ("c", None, "read", "B"),
    ]  # fmt: skip
