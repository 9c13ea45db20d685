"""The first line: state, score and spend are never pushed out, whatever is called how."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App

from workbench.app.toolkit.header import HeaderPart, StatusLine, beside, easily, header_of, laid_out, middle_out

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
def test_state_score_and_spend_stay(width: int) -> None:
    line = laid_out(HEADER, width)
    assert cell_len(line) <= width
    assert "82.5 / 100" in line
    assert "$0.021" in line
    assert "✗ failed" in line


def test_names_give_way_before_parts_do() -> None:
    line = laid_out(HEADER, 118)
    assert "case-" in line
    assert "trial 2 of 5,000" in line
    assert "agent-" in laid_out(HEADER, 198)
    whole = laid_out((HeaderPart("white", rank=1, name=True), HeaderPart(""), HeaderPart("✓ done", reason=True)), 40)
    assert whole == "white · ✓ done"
    # Where it is enough to shorten names, app and session stay beside the header.
    long = (
        HeaderPart("run-" + "x" * 60, rank=1, name=True),
        HeaderPart("docs none", rank=4),
        HeaderPart("✓ done", reason=True),
    )
    assert easily(long, 60) == f"run-{'x' * 15}…{'x' * 19} · docs none · ✓ done"
    assert easily(long, 30) is None
    # Both ends of a path say more than its beginning does.
    path = laid_out((HeaderPart(LONG, rank=1, name=True), HeaderPart("✓ done", reason=True)), 50)
    assert path.startswith("replay:/")
    assert path.endswith(".session · ✓ done")


@settings(max_examples=40)
@given(
    st.lists(st.builds(HeaderPart, text=st.text(max_size=40), rank=st.integers(0, 5), name=st.booleans()), max_size=6),
    st.integers(0, 120),
)
def test_the_line_never_exceeds_its_room(parts: list[HeaderPart], width: int) -> None:
    assert cell_len(laid_out(parts, width)) <= width


@settings(max_examples=40)
@given(st.text(alphabet="ab日é ", max_size=80), st.integers(0, 60))
def test_a_name_keeps_both_ends(name: str, width: int) -> None:
    short = middle_out(name, width)
    assert cell_len(short) <= width
    if cell_len(name) <= width:
        assert short == name


def test_the_sessions_name_has_what_room_is_left() -> None:
    assert beside("demo.session", 60) == "Workbench  demo.session"
    assert beside("s" * 300, 40) == f"Workbench  {'s' * 14}…{'s' * 14}"
    assert beside("s" * 300, 20) == "Workbench"
    assert beside("demo.session", 5) == ""


def test_a_sentence_is_parts() -> None:
    assert [part.text for part in header_of("gpt-4o · $0.021 · ▸ 3 of 6 trials")] == [
        "gpt-4o",
        "$0.021",
        "▸ 3 of 6 trials",
    ]


@pytest.mark.parametrize("width", [80, 120])
async def test_a_mark_does_not_push_the_sessions_name_out(width: int) -> None:
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
