"""Differences of sequences and texts: the longest common subsequence, line diffs, and two texts compared by words."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.comparison.texts import (
    LinePair,
    Pieces,
    TextSide,
    align,
    blocks,
    compare_texts,
    line_diff,
    line_diff_words,
    longest_common,
    word_diff,
)
from workbench.comparison.trials import align_steps
from workbench.session.rows import StepRow

some = settings(max_examples=40)
SEQUENCES = st.lists(st.sampled_from("abcd"), max_size=30)
TEXT_LINES = st.lists(st.sampled_from(["a", "b", "c", "", "    return x"]), max_size=30)
LINES = st.lists(st.lists(st.sampled_from(["a", "the", "words", "=", "# x", "", "\u200b", "ü"])).map(" ".join))
TEXTS = st.one_of(st.none(), LINES.map("\n".join), st.text(max_size=60))


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


@some
@given(SEQUENCES, SEQUENCES, st.integers(1, 40))
def test_it_is_common_and_the_longest_and_its_alignment_has_all_of_both(a, b, most_cells):
    pairs = longest_common(a, b)
    assert is_common(a, b, pairs)
    assert len(pairs) == textbook_length(a, b)
    assert is_common(a, b, longest_common(a, b, most_cells))
    rows = list(align(pairs, len(a), len(b)))
    assert [i for i, _ in rows if i is not None] == list(range(len(a)))
    assert [j for _, j in rows if j is not None] == list(range(len(b)))
    assert all(i is None or j is None or a[i] == b[j] for i, j in rows)


@some
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


@some
@given(TEXT_LINES, TEXT_LINES)
def test_the_lines_lead_from_one_text_to_the_other(before: list[str], after: list[str]) -> None:
    diff = line_diff(before, after, len(before) + len(after))
    assert bool(diff) == (before != after)
    for sign, text in (("-", before), ("+", after)):
        assert not diff or [line[2:] for line in diff if line[0] in f"{sign} "] == text


def test_a_change_stands_among_three_equal_lines_each_way() -> None:
    before = [str(number) for number in range(20)]
    diff = line_diff(before, [*before[:10], "ten", *before[11:]])
    assert diff == ["@@ lines 8–14 → 8–14 @@", "  7", "  8", "  9", "- 10", "+ ten", "  11", "  12", "  13"]
    assert (line_diff_words(diff), line_diff_words([])) == ("+1 −1 lines", "the same")
    assert line_diff([" a"], ["a "], key=str.strip) == []


def text_of(lines: list[Pieces | None]) -> str | None:
    found = ["".join(text for text, _ in line) for line in lines if line is not None]
    return "\n".join(found) if found else None


def left_of(pairs: Iterable[LinePair]) -> str | None:
    return text_of([pair.left for pair in pairs])


def right_of(pairs: Iterable[LinePair]) -> str | None:
    return text_of([pair.right for pair in pairs])


@some
@given(TEXTS, TEXTS)
def test_both_texts_can_be_put_together_again_and_common_words_are_equal(left: str | None, right: str | None) -> None:
    diff = word_diff(left, right)
    assert left_of(diff) == left
    assert right_of(diff) == right
    assert all(pair.same for pair in diff) == (left == right)
    for pair in diff:
        mine, other = ("".join(text for text, same in side or () if same) for side in (pair.left, pair.right))
        if pair.left is not None and pair.right is not None:
            assert mine == other
        else:
            assert mine == other == ""


@some
@given(TEXTS)
def test_a_text_does_not_differ_from_itself(text: str | None) -> None:
    found = compare_texts(TextSide("", text), TextSide("", text))
    assert all(pair.same for pair in found.pairs)
    assert len({*found.words}) == 1


def test_words_of_lines_that_belong_together_are_compared() -> None:
    left = TextSide("", "# word_counter\nCounts lines, words and characters of a text.")
    found = compare_texts(left, TextSide("", "# word_counter\n\nCounts things of a text."))
    first, *_, last = found.pairs
    assert [text for text, same in last.left or () if not same] == ["lines, words and characters"]
    assert [text for text, same in last.right or () if not same] == ["things"]
    assert first.same
    assert found.words == (9, 6, 5)


def test_words_in_common_by_chance_do_not_tear_a_sentence_to_pieces() -> None:
    left, right = (
        "Counts how many words are in the text.",
        "Counts the number of words in text, and returns that number.",
    )
    (pair,) = word_diff(left, right)
    assert [text for text, _ in pair.left or ()] == ["Counts ", "how many words are in the text", "."]
    assert [text for text, _ in pair.right or ()] == [
        "Counts ", "the number of words in text, and returns that number", ".",
    ]  # fmt: skip


def test_a_line_is_beside_the_one_that_it_resembles_whatever_stands_between() -> None:
    left = "Install it with pip from the index.\nRun it on a file."
    right = "An introduction.\nIt is free.\nInstall it with pip from a wheel."
    together = [pair for pair in word_diff(left, right) if pair.left and pair.right]
    assert len(together) == 1
    assert together[0].left is not None
    assert together[0].left[0][0].startswith("Install it with pip from ")


def long_text(seed: int, words: int) -> str:
    rng = random.Random(seed)
    lines: list[str] = []
    while words > 0:
        count = rng.randint(3, 24)
        words -= count
        lines += [" ".join(rng.choice(["the", "a", "of", f"w{rng.randint(0, 3000)}"]) for _ in range(count)), ""]
    return "\n".join(lines)


@pytest.mark.slow
def test_readmes_of_ten_thousand_words_take_little_time() -> None:
    a, b = long_text(1, 10_000), long_text(2, 10_000)
    cases = [(a, b), (a, a.replace("the", "this")), (a.replace("\n", " "), b.replace("\n", " "))]
    for left, right in cases:
        before = time.process_time()
        diff = word_diff(left, right)
        assert time.process_time() - before < 3
        assert left_of(diff) == left
