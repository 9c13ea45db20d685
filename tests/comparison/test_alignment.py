"""The longest common subsequence: against the textbook's table, and what holds for all sequences."""

from __future__ import annotations

import random
import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from workbench.comparison.texts import align, blocks, longest_common
from workbench.comparison.trials import align_steps
from workbench.session.rows import StepRow

SEQUENCES = st.lists(st.sampled_from("abcd"), max_size=30)


def textbook_length(a: list[str], b: list[str]) -> int:
    row = [0] * (len(b) + 1)
    for one in a:
        above = row[:]
        for j, other in enumerate(b):
            row[j + 1] = above[j] + 1 if one == other else max(above[j + 1], row[j])
    return row[-1]


def step(number: int, kind: str = "tool", action: str = "read_file", target: str = "a.py") -> StepRow:
    return StepRow(
        "t", number, kind, action, target, None, None, None, 0, None, 1, 1, None, 1.0, "local", "{}", 1.0
    )  # fmt: skip


def is_common(a: list[str], b: list[str], pairs: list[tuple[int, int]]) -> bool:
    ordered = all(i < k and j < m for (i, j), (k, m) in pairwise(pairs))
    return ordered and all(a[i] == b[j] for i, j in pairs)


@given(SEQUENCES, SEQUENCES)
def test_it_is_common_to_both_and_none_is_longer(a: list[str], b: list[str]) -> None:
    pairs = longest_common(a, b)
    assert is_common(a, b, pairs)
    assert len(pairs) == textbook_length(a, b)


@given(SEQUENCES, SEQUENCES, st.integers(1, 40))
def test_with_little_room_it_is_still_common(a: list[str], b: list[str], most_cells: int) -> None:
    assert is_common(a, b, longest_common(a, b, most_cells))


@given(SEQUENCES, SEQUENCES)
def test_an_alignment_has_all_of_both_in_order(a: list[str], b: list[str]) -> None:
    rows = list(align(longest_common(a, b), len(a), len(b)))
    assert [i for i, _ in rows if i is not None] == list(range(len(a)))
    assert [j for _, j in rows if j is not None] == list(range(len(b)))
    assert all(i is None or j is None or a[i] == b[j] for i, j in rows)


@given(st.integers(0, 200), st.integers(0, 200), st.integers(1, 500))
def test_blocks_cover_both_and_each_is_small(length_a: int, length_b: int, most_cells: int) -> None:
    found = blocks(range(length_a), range(length_b), most_cells)
    if not length_a or not length_b:
        assert found == []
        return
    for side, length in ((0, length_a), (1, length_b)):
        ranges = [one[side] for one in found]
        assert ranges[0].start == 0
        assert ranges[-1].stop == length
        assert all(before.stop == after.start for before, after in pairwise(ranges))


def test_of_several_matches_an_early_one_is_chosen() -> None:
    assert longest_common("xayaz", "qaw") == [(1, 1)]
    assert longest_common("qaw", "xayaz") == [(1, 1)]
    assert longest_common("[words](words)x", "wordsy") == [(1, 0), (2, 1), (3, 2), (4, 3), (5, 4)]


def test_a_respond_step_is_the_same_action_whatever_its_size() -> None:
    left = [step(1, action="list_directory", target="."), step(2, "respond", "respond", "README 0.8 kB")]
    right = [step(1), step(2, "respond", "respond", "README 0.6 kB")]
    pairs = align_steps(left, right)
    assert [(pair.left and pair.left.number, pair.right and pair.right.number) for pair in pairs] == [
        (1, None), (None, 1), (2, 2),
    ]  # fmt: skip
    assert [pair.both for pair in pairs] == [False, False, True]


def test_two_thousand_steps_take_little_time() -> None:
    rng = random.Random(1)
    a, b = ([str(rng.randint(0, 60)) for _ in range(2000)] for _ in range(2))
    before = time.process_time()
    pairs = longest_common(a, b)
    assert time.process_time() - before < 0.5
    assert is_common(a, b, pairs)
