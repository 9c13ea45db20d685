"""The text that a person edits: a megabyte pasted into it is all there, soon, and wrapped as Textual wraps it."""

from __future__ import annotations

import random
import time

from textual import events
from textual.app import App
from textual.document._wrapped_document import WrappedDocument

from workbench.app.toolkit.edit_screen import LONGEST_WRAPPED, EditScreen, TextArea


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


async def test_a_pasted_megabyte_is_there_whole_and_keys_go_on() -> None:
    app = Editor("before")
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        assert app.area.soft_wrap
        began = time.process_time()
        app.screen.post_message(events.Paste("\x1b[31mfirst\r" + "x" * 1_000_000 + "\rlast "))
        await pilot.pause()
        await pilot.press("end", "a", "b")
        await pilot.pause()
        spent = time.process_time() - began
        text = app.area.text
        assert text == "first\n" + "x" * 1_000_000 + "\nlast beforeab"
        assert not app.area.soft_wrap, "a key in a line of a megabyte that is wrapped takes a second"
        assert spent < 3, f"{spent:.1f} s of processor time; 0.3 when this was written, 7 before"


async def test_what_is_edited_is_wrapped_as_the_whole_would_be() -> None:
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
