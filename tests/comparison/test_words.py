"""Two texts side by side: nothing is lost, what is marked as common is common, and long texts stay fast."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from workbench.comparison.texts import LinePair, Pieces, TextSide, compare_texts, word_diff

LINES = st.lists(st.lists(st.sampled_from(["a", "the", "words", "=", "# x", "", "\u200b", "ü"])).map(" ".join))
TEXTS = st.one_of(st.none(), LINES.map("\n".join), st.text(max_size=60))


def text_of(lines: list[Pieces | None]) -> str | None:
    found = ["".join(text for text, _ in line) for line in lines if line is not None]
    return "\n".join(found) if found else None


def left_of(pairs: Iterable[LinePair]) -> str | None:
    return text_of([pair.left for pair in pairs])


def right_of(pairs: Iterable[LinePair]) -> str | None:
    return text_of([pair.right for pair in pairs])


@given(TEXTS, TEXTS)
def test_both_texts_can_be_put_together_again(left: str | None, right: str | None) -> None:
    diff = word_diff(left, right)
    assert left_of(diff) == left
    assert right_of(diff) == right


@given(TEXTS, TEXTS)
def test_what_is_the_same_is_the_same_on_both_sides(left: str | None, right: str | None) -> None:
    for pair in word_diff(left, right):
        mine, other = ("".join(text for text, same in side or () if same) for side in (pair.left, pair.right))
        if pair.left is not None and pair.right is not None:
            assert mine == other
        else:
            assert mine == other == ""


@given(TEXTS)
def test_a_text_does_not_differ_from_itself(text: str | None) -> None:
    found = compare_texts(TextSide("", text), TextSide("", text))
    assert all(pair.same for pair in found.pairs)
    assert len({*found.words}) == 1


@given(TEXTS, TEXTS)
def test_texts_that_differ_are_not_the_same(left: str | None, right: str | None) -> None:
    assert all(pair.same for pair in word_diff(left, right)) == (left == right)


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


def test_readmes_of_ten_thousand_words_take_little_time() -> None:
    a, b = long_text(1, 10_000), long_text(2, 10_000)
    cases = [(a, b), (a, a.replace("the", "this")), (a.replace("\n", " "), b.replace("\n", " "))]
    for left, right in cases:
        before = time.process_time()
        diff = word_diff(left, right)
        assert time.process_time() - before < 3
        assert left_of(diff) == left
