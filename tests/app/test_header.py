"""The first line: state, score and spend are never pushed out, whatever is called how."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App

from workbench.app.toolkit.header import HeaderPart, StatusLine, beside, laid_out, middle_out
from workbench.app.trajectory.lists import RepositoryPane
from workbench.app.trajectory.trial_state import entries_of

LONG = "replay:/home/somebody/" + "a/very/long/way/" * 17 + "recorded.session"


HEADER = (
    HeaderPart("agent-" + "x" * 294, rank=3, name=True),
    HeaderPart(LONG, rank=5, name=True),
    HeaderPart("case-" + "日本" * 150, rank=1, name=True),
    HeaderPart("trial 2 of 5,000", rank=2),
    HeaderPart("82.5 / 100"),
    HeaderPart("$0.021"),
    HeaderPart("✗ failed: " + "the server answered 500 four times. " * 9, reason=True),
)


@pytest.mark.parametrize("width", [58, 78, 118, 198])
def test_state_score_and_spend_stay(width):
    line = laid_out(HEADER, width)
    assert cell_len(line) <= width
    assert "82.5 / 100" in line
    assert "$0.021" in line
    assert "✗ failed" in line


@settings(max_examples=40)
@given(
    st.lists(st.builds(HeaderPart, text=st.text(max_size=40), rank=st.integers(0, 5), name=st.booleans()), max_size=6),
    st.integers(0, 120),
)
def test_the_line_never_exceeds_its_room(parts, width):
    assert cell_len(laid_out(parts, width)) <= width


@settings(max_examples=40)
@given(st.text(alphabet="ab日é ", max_size=80), st.integers(0, 60))
def test_a_name_keeps_both_ends(name, width):
    short = middle_out(name, width)
    assert cell_len(short) <= width
    if cell_len(name) <= width:
        assert short == name


def test_the_sessions_name_has_what_room_is_left():
    assert beside("demo.session", 60) == "Workbench  demo.session"
    assert beside("s" * 300, 40) == f"Workbench  {'s' * 14}…{'s' * 14}"
    assert beside("s" * 300, 20) == "Workbench"
    assert beside("demo.session", 5) == ""


@pytest.mark.parametrize("width", [80, 120])
async def test_a_mark_does_not_push_the_sessions_name_out(width):
    app: App[None] = App()
    async with app.run_test(size=(width, 5)) as pilot:
        line = StatusLine()
        await app.mount(line)
        await pilot.pause()  # it has no width before it is laid out
        line.session, line.marked = "demo.session", "marked: count_lines · docs original (target)"
        line.show("regenerate word_counter · docs original · local · pass@1 0.19 · ✓ done, 48 samples in 3 min")
        said = str(line.render())
        assert cell_len(said) <= width
        # 80 columns have no room for all of it; the state stays.
        for words in ("demo.session", "marked", "✓ done", *(["pass@1 0.19"] if width > 80 else [])):
            assert words in said, (words, said)


def test_a_long_name_is_cut_in_its_middle_and_says_so():
    pane = RepositoryPane()
    pane.entries, _ = entries_of((("tests/test_password_generator.py", 10), ("a.py", 1)), {})
    for row in range(len(pane.entries)):
        shown = "".join(text for text, _ in pane.row_parts(row, 20)[0])
        assert len(shown) <= 20
        assert ("…" in shown) == ("test_pass" in pane.entries[row].name)
    long = "".join(text for text, _ in pane.row_parts(1, 20)[0])
    assert long.endswith("r.py")
    assert "test_" in long
