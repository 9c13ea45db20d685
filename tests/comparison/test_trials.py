"""Points criterion by criterion, files by how closely each agent looked: joined by name, unscored kept apart from zero."""

from __future__ import annotations

from pathlib import Path

import pytest
from app.recorded import Recorder

from workbench.comparison.panes import SAME
from workbench.comparison.trials import join_criteria, join_files, read_side
from workbench.rubric import Criterion, Scorecard
from workbench.session import SessionReader
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


def test_a_file_of_which_the_agent_was_shown_a_part_is_partly_read(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "demo.session")
    recorder.run()
    for trial, shown in (("whole", 30_000), ("cut", 10_000)):
        recorder.trial(trial)
        recorder.snapshot(trial, [("long.py", 30_000), ("other.py", 10)])
        recorder.seen(trial, "long.py", "read", 1, shown)
        recorder.seen(trial, "other.py", "listed", 2)
    recorder.close()
    with SessionReader(recorder.path) as reader:
        sides = [read_side(reader, trial, "aeo-bench", "offline") for trial in ("whole", "cut")]
    assert sides[0] is not None
    assert sides[1] is not None
    looks = {one.name: (one.left, one.right, one.sign[0]) for one in join_files(sides[0].seen, sides[1].seen)}
    assert looks == {"long.py": ("read", "partly read", "▼"), "other.py": ("listed", "listed", "=")}
