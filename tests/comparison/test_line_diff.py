"""Line by line: what was removed and added leads from one text to the other, and equal texts have no difference."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.comparison.texts import line_diff, line_diff_words

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "    return x"]), max_size=30)


@given(LINES, LINES)
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
