"""Line by line: what was removed and added leads from one text to the other, and equal texts have no difference."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.comparison.line_diff import ADDED, REMOVED, SAME, line_diff

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "    return x"]), max_size=30)


@given(LINES, LINES)
def test_the_hunks_lead_from_one_text_to_the_other(before: list[str], after: list[str]) -> None:
    diff = line_diff(before, after)
    rebuilt: list[str] = []
    at = 0
    for hunk in diff.hunks:
        first, last = hunk.before
        rebuilt += before[at : first - 1]
        assert [line for sign, line in hunk.lines if sign != ADDED] == before[first - 1 : last]
        assert [line for sign, line in hunk.lines if sign != REMOVED] == after[hunk.after[0] - 1 : hunk.after[1]]
        rebuilt += [line for sign, line in hunk.lines if sign != REMOVED]
        at = last
    assert rebuilt + before[at:] == after
    assert diff.added - diff.removed == len(after) - len(before)
    assert bool(diff.hunks) == (before != after)


def test_a_change_stands_among_three_equal_lines_each_way() -> None:
    before = [str(number) for number in range(20)]
    diff = line_diff(before, [*before[:10], "ten", *before[11:]])
    (hunk,) = diff.hunks
    assert hunk.lines == (
        *((SAME, str(number)) for number in (7, 8, 9)),
        (REMOVED, "10"),
        (ADDED, "ten"),
        *((SAME, str(number)) for number in (11, 12, 13)),
    )
    assert (hunk.before, hunk.after, diff.words) == ((8, 14), (8, 14), "+1 −1 lines")


def test_texts_without_a_difference() -> None:
    assert line_diff(["a"], ["a"]).words == "the same"
    assert line_diff([], []).hunks == ()
