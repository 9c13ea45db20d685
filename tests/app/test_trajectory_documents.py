"""Texts made ready for the screen: nothing lost by wrapping, offsets that hold, Markdown that remembers its lines."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import recorded
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from workbench.agents.protocol import split_answer
from workbench.app.toolkit.document import code, plain, position, prepared, spans_by_line
from workbench.app.trajectory import markdown
from workbench.app.trajectory.outcome import locate

TEXTS = st.text(alphabet=st.sampled_from("ab cd\t\n\r\x1b[31m日本é🙂#`*-_|>1.") | st.characters(), max_size=300)


@settings(deadline=None)
@given(TEXTS, st.integers(4, 60))
def test_wrapping_keeps_every_character_and_fits(text: str, width: int) -> None:
    document = plain(text)
    rows = document.rows(width)
    rebuilt: dict[int, str] = {}
    for row in rows:
        piece = document.lines[row.line].text[row.start : row.end]
        assert cell_len(piece.removesuffix(" ")) <= width  # the space where a line breaks may hang over
        rebuilt[row.line] = rebuilt.get(row.line, "") + piece
    assert [rebuilt[index] for index in range(len(document.lines))] == [line.text for line in document.lines]


@settings(deadline=None)
@given(TEXTS)
def test_prepared_text_is_safe_and_stays_so(text: str) -> None:
    ready = prepared(text)
    assert prepared(ready) == ready
    assert not set(ready) & set("\x1b\x07\r\t\x7f\u202e")
    ready.encode("utf-8")


@settings(deadline=None)
@given(st.text(alphabet="ab\t\n é🙂#", max_size=80), st.data())
def test_position_finds_the_character(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    line, column = position(text, offset)
    shown = prepared(text).split("\n")[line]
    assert shown[column:].startswith(prepared(text[offset:]).split("\n")[0])


@settings(deadline=None)
@given(TEXTS)
def test_markdown_never_fails_and_sources_are_in_the_text(text: str) -> None:
    document = markdown.render(text)
    count = len(prepared(text).split("\n"))
    for line in document.lines:
        assert line.source_end <= count + 1
        assert all(0 <= start <= end for start, end, _ in line.spans)
    document.rows(20)


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from("def x():\n '\"#1+é"), max_size=120))
def test_colours_stay_inside_their_lines(text: str) -> None:
    document = code(text, "file.py")
    assert "\n".join(line.text for line in document.lines) == prepared(text)
    for line in document.lines:
        assert all(start < end <= len(line.text) for start, end, _ in line.spans)


def test_unknown_language_is_shown_plain() -> None:
    assert spans_by_line("a b c", path="file.unknown-language") is None
    assert code("a b c", "file.unknown-language").lines[0].text == "a b c"


def test_markdown_lays_out_what_readmes_hold() -> None:
    shown = [line.text for line in markdown.render(recorded.README).lines]
    assert shown[0] == "word_counter"
    assert "• Several files with totals" in shown
    assert "• Finds the most common words (https://example.org/words)" in shown
    assert "python wordcount.py file.txt" in shown
    assert "option   meaning" in shown
    assert "▎ Numbers are counted as wc counts them." in shown


def test_nested_lists_and_numbers() -> None:
    shown = [
        line.text
        for line in markdown.render("3. three\n   - inner\n     more\n4. four\n\n   ```\n   x = 1\n   ```\n").lines
    ]
    assert shown == ["3. three", "   • inner more", "4. four", "", "   x = 1"]


def test_spans_are_found_in_both_views() -> None:
    start, end = recorded.span("python wordcount.py file.txt")
    for document in (markdown.render(recorded.README), markdown.source(recorded.README)):
        ((line, left, right),) = locate(document, recorded.README, start, end)
        assert document.lines[line].text[left:right] == "python wordcount.py file.txt"


def test_an_answer_ends_where_its_object_ends() -> None:
    answer = 'I am done.\n<json>{"name": "respond", "kwargs": {"readme": "say </json> here"}}</json> bye'
    assert split_answer(answer) == ("I am done.", '{"name": "respond", "kwargs": {"readme": "say </json> here"}}')
    assert split_answer("only words") == ("only words", "")
    assert split_answer("a <json>{broken</json>") == ("a", "{broken")
