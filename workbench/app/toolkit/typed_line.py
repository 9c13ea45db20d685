"""Single-line inputs, including those at the bottom of a screen that narrow a list, search a text or ask a question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from textual import events, getters
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input

from workbench.app.keys import bindings
from workbench.app.toolkit.text_widgets import Label
from workbench.base.text import clean

LONGEST = 4_000  # maximum number of characters in a field
LONGEST_SEARCH = 200  # maximum number of characters in a search text


class LineInput(Input):
    """Textual's Input, except that a long paste is cut with a notice, so that it does not stall the app."""

    def __init__(self, value: str | None = None, *, max_length: int = LONGEST, **more: Any) -> None:
        super().__init__(value, max_length=max_length or LONGEST, **more)

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        most = self.max_length or LONGEST
        lines = clean(event.text[: 2 * most].replace("\r", "\n")).split("\n")  # terminals send \r for a line break
        pasted = next((line for line in lines if line.strip()), "").replace("\t", " ")
        start, end = sorted(self.selection)
        room = max(0, most - len(self.value) + end - start)
        if self.type == "text":
            self.replace(pasted[:room], start, end)
            if len(event.text) > room:
                self.notify(f"Only {room:,} of {len(event.text):,} characters fit here.", severity="warning", timeout=5)
        elif len(pasted) <= room:
            self.replace(pasted, start, end)


class TypedLine(Horizontal):
    """A line with a prompt sign, an input and a remark; only one such line is open at a time."""

    MOST: ClassVar[int] = LONGEST
    DEFAULT_CSS = """
    TypedLine { dock: bottom; height: 1; margin: 0 0 1 0; display: none; background: $panel; padding: 0 1; }
    TypedLine.-open { display: block; }
    TypedLine Label { width: auto; color: $text-accent; text-style: bold; }
    TypedLine #typed-count { color: $text-muted; text-style: none; margin-left: 2; }
    TypedLine Input { border: none; height: 1; padding: 0 1; width: 1fr; background: $panel; }
    TypedLine Input:focus { border: none; }
    """

    def compose(self) -> ComposeResult:
        yield Label("/", id="typed-sign")
        yield LineInput(compact=True, max_length=self.MOST, select_on_focus=False)
        yield Label("", id="typed-count")

    field = getters.query_one(LineInput)

    def put(self, text: str) -> None:
        with self.field.prevent(Input.Changed):
            self.field.value = text
            self.field.cursor_position = len(text)

    def begin(self) -> None:
        self.show(True)
        self.field.focus()

    def show(self, wanted: bool) -> None:
        for line in self.screen.query(TypedLine) if wanted else (self,):
            line.set_class(wanted and line is self, "-open")


class FollowedLine(TypedLine):
    """Narrows or searches a widget while the user types; the line stays open as long as its text has an effect.

    The target is the widget that opened the line last.
    """

    MOST = LONGEST_SEARCH

    def __init__(self, target: Any) -> None:
        super().__init__()
        self._target = target

    def serve(self, target: Any) -> None:
        self._target = target
        self.put(target.followed)
        self.show(bool(target.followed))
        self.show_count(target)

    def show_count(self, target: Any) -> None:
        if target is self._target:
            self.query_one("#typed-count", Label).update(target.found_words(typing=self.field.has_focus))

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._target.follow(event.value)
        self.show_count(self._target)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_keep()

    def action_keep(self) -> None:
        self._target.focus()
        self.serve(self._target)

    def action_leave(self) -> None:
        self._target.follow("")
        self.action_keep()


class NarrowLine(FollowedLine):
    """Narrows a list."""

    BINDINGS = bindings("narrow")


class FindLine(FollowedLine):
    """Searches a text."""

    BINDINGS = bindings("find")


async def ask_line(kind: type[FollowedLine], target: Any) -> None:
    """Open the line for a list or text, creating it on first use."""
    found = target.screen.query(kind)
    line = found.first() if found else kind(target)
    if not found:
        await target.screen.mount(line)
    line.serve(target)
    line.begin()


class PromptLine(TypedLine):
    """Asks for one line of text; the focus returns afterwards, whether or not the user answered."""

    BINDINGS = bindings("prompt")

    def ask(self, answered: Callable[[str], object]) -> None:
        self._answered, self._before = answered, self.screen.focused
        self.put("")
        self.begin()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_leave()
        self._answered(event.value)

    def action_leave(self) -> None:
        self.remove_class("-open")
        self.screen.set_focus(self._before)
