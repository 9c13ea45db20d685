"""Texts: made ready for the screen with nothing lost, copied as they are, edited."""

import random

import recorded
import regenerated
from driving import press, regeneration, trajectory, until
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual import events
from textual.app import App
from textual.document._wrapped_document import WrappedDocument

from workbench.agents.protocol import split_answer
from workbench.app.toolkit.document import code, plain, position, prepared
from workbench.app.toolkit.edit_screen import LONGEST_WRAPPED, EditScreen, TextArea
from workbench.app.trajectory import markdown
from workbench.app.trajectory.outcome import locate

TEXTS = st.text(alphabet=st.sampled_from("ab cd\t\n\r\x1b[31m日本é🙂#`*-_|>1.") | st.characters(), max_size=300)


@settings(deadline=None)
@given(TEXTS, st.integers(4, 60))
def test_wrapping_keeps_every_character_and_fits(text, width):
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
def test_prepared_text_is_safe_and_stays_so(text):
    ready = prepared(text)
    assert prepared(ready) == ready
    assert not set(ready) & set("\x1b\x07\r\t\x7f\u202e")
    ready.encode("utf-8")


@settings(deadline=None)
@given(st.text(alphabet="ab\t\n é🙂#", max_size=80), st.data())
def test_position_finds_the_character(text, data):
    offset = data.draw(st.integers(0, len(text)))
    line, column = position(text, offset)
    shown = prepared(text).split("\n")[line]
    assert shown[column:].startswith(prepared(text[offset:]).split("\n")[0])


@settings(deadline=None)
@given(TEXTS)
def test_markdown_never_fails_and_sources_are_in_the_text(text):
    document = markdown.render(text)
    count = len(prepared(text).split("\n"))
    for line in document.lines:
        assert line.source_end <= count + 1
        assert all(0 <= start <= end for start, end, _ in line.spans)
    document.rows(20)


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from("def x():\n '\"#1+é"), max_size=120))
def test_colours_stay_inside_their_lines(text):
    document = code(text, "file.py")
    assert "\n".join(line.text for line in document.lines) == prepared(text)
    for line in document.lines:
        assert all(start < end <= len(line.text) for start, end, _ in line.spans)


def test_markdown_lays_out_what_readmes_hold():
    shown = [line.text for line in markdown.render(recorded.README).lines]
    assert shown[0] == "word_counter"
    assert "• Several files with totals" in shown
    assert "• Finds the most common words (https://example.org/words)" in shown
    assert "python wordcount.py file.txt" in shown
    assert "option   meaning" in shown
    assert "▎ Numbers are counted as wc counts them." in shown


def test_nested_lists_and_numbers():
    shown = [
        line.text
        for line in markdown.render("3. three\n   - inner\n     more\n4. four\n\n   ```\n   x = 1\n   ```\n").lines
    ]
    assert shown == ["3. three", "   • inner more", "4. four", "", "   x = 1"]


def test_spans_are_found_in_both_views():
    start, end = recorded.span("python wordcount.py file.txt")
    for document in (markdown.render(recorded.README), markdown.source(recorded.README)):
        ((line, left, right),) = locate(document, recorded.README, start, end)
        assert document.lines[line].text[left:right] == "python wordcount.py file.txt"


def test_an_answer_ends_where_its_object_ends():
    answer = 'I am done.\n<json>{"name": "respond", "kwargs": {"readme": "say </json> here"}}</json> bye'
    assert split_answer(answer) == ("I am done.", '{"name": "respond", "kwargs": {"readme": "say </json> here"}}')
    assert split_answer("only words") == ("only words", "")
    assert split_answer("a <json>{broken</json>") == ("a", "{broken")


class Editor(App[None]):
    """An app that edits one text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def on_mount(self) -> None:
        self.push_screen(EditScreen("A text", self._text))

    @property
    def area(self) -> TextArea:
        return self.screen.query_one(TextArea)


async def test_a_pasted_megabyte_is_there_whole_and_keys_go_on():
    app = Editor("before")
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        assert app.area.soft_wrap
        app.screen.post_message(events.Paste("\x1b[31mfirst\r" + "x" * 1_000_000 + "\rlast "))
        await pilot.pause()
        await pilot.press("end", "a", "b")
        await pilot.pause()
        text = app.area.text
        assert text == "first\n" + "x" * 1_000_000 + "\nlast beforeab"
        assert not app.area.soft_wrap, "a key in a line of a megabyte that is wrapped takes a second"


async def test_what_is_edited_is_wrapped_as_the_whole_would_be():
    chance = random.Random(7)
    app = Editor("one two three " * 30)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        area = app.area
        for turn in range(60):
            start, end = sorted(
                (line, chance.randint(0, len(area.document.lines[line])))
                for line in chance.choices(range(area.document.line_count), k=2)
            )
            area.replace(chance.choice(["", "word ", "a\tb\n", "long " * 40, "\n" * 12]), start, end)
            if turn % 20 == 19:
                area.undo()
                await pilot.resize_terminal(60 + turn, 20)
            fresh = WrappedDocument(area.document, area.wrap_width, area.indent_width)
            assert [area.wrapped_document.get_offsets(line) for line in range(area.document.line_count)] == [
                fresh.get_offsets(line) for line in range(area.document.line_count)
            ]
            assert area.wrapped_document.height == fresh.height
        assert len(area.text) < LONGEST_WRAPPED


MAKEFILE = "all:\n\tcc -o a a.c\r\n\t@echo 50 %\r100 %\n"
LONG = "0123456789\u6587\t\n" * 20_000
"""More than is shown at first; what is shown would end in the middle of a character."""


async def test_what_a_trial_saw_and_wrote_is_copied_as_it_is(tmp_path, monkeypatch):
    made = recorded.Recorder(tmp_path / "s.session")
    made.run()
    made.trial("t1", state="running")
    made.snapshot("t1")
    made.tool("t1", 1, "read_file", "Makefile", LONG, problem="It was slow.")
    made.finish("t1", readme=MAKEFILE, metadata={"name": "half a pair: \ud800"})
    made.close()
    async with trajectory(made.path, trial="t1") as (pilot, screen):
        await press(pilot, screen, "y")
        assert screen.app.clipboard == LONG
        monkeypatch.setattr("workbench.app.trajectory.step_content.COPIED_AT_MOST", 100_000)
        pilot.app.clear_notifications()
        await press(pilot, screen, "y")
        await until(
            pilot, lambda: any("not all of it" in one.message for one in pilot.app._notifications), "the notice"
        )
        assert LONG.startswith(screen.app.clipboard)
        screen.focus_pane(screen.outcome)
        await press(pilot, screen, "y")
        assert screen.app.clipboard == MAKEFILE
        screen.outcome.choose("Metadata")
        await until(pilot, lambda: "half a pair" in screen.outcome.text.document.text, "the metadata")
        await press(pilot, screen, "y")
        assert "half a pair: ?" in screen.app.clipboard


async def test_what_a_sample_says_is_copied_as_it_is(tmp_path):
    made = regenerated.Recorder(tmp_path / "s.session")
    made.run()
    task = made.task("f", 0, docstring=LONG, body="\tif a:\n\t\treturn 1\n")
    wrong = "\tif a:\n\t\treturn 2\n"
    made.cells(task, "✗", body=wrong, answer=MAKEFILE)
    made.close()
    async with regeneration(made.path) as (pilot, screen):
        screen.focus_pane(screen.sample)
        await press(pilot, screen, "y")
        assert screen.app.clipboard == "  if a:\n- \treturn 1\n+ \treturn 2"
        for tab, text in (("Candidate", wrong), ("Docstring", LONG), ("Answer", MAKEFILE)):
            screen.sample.choose(tab)
            await press(pilot, screen, "y")
            assert screen.app.clipboard == text
