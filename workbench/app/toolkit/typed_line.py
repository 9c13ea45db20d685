"""A line at the bottom in which a person types what something on the screen follows, with a count beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from workbench.app.key_table import with_keys
from workbench.app.keys import bind
from workbench.app.toolkit.line_input import LineInput
from workbench.app.toolkit.texts import Label

if TYPE_CHECKING:
    from workbench.app.toolkit.row_list import RowList
    from workbench.app.toolkit.text_pane import TextPane


LONGEST = 200
"""Characters of what is typed."""


class TypedLine(Horizontal):
    """A sign, the field and the count; there is room for one such line.

    Args:
        id: Of the line; its count is ``#typed-count``.
    """

    DEFAULT_CSS = """
    TypedLine { dock: bottom; height: 1; margin: 0 0 1 0; display: none; background: $panel; padding: 0 1; }
    TypedLine.-open { display: block; }
    TypedLine Label { width: auto; color: $text-accent; text-style: bold; }
    TypedLine #typed-count { color: $text-muted; text-style: none; margin-left: 2; }
    TypedLine Input { border: none; height: 1; padding: 0 1; width: 1fr; background: $panel; }
    TypedLine Input:focus { border: none; }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)

    def compose(self) -> ComposeResult:
        yield Label("/")
        yield LineInput(compact=True, max_length=LONGEST, select_on_focus=False)
        yield Label("", id="typed-count")

    @property
    def is_typed(self) -> bool:
        return self.query_one(LineInput).has_focus

    def begin(self) -> None:
        """Let a person type."""
        self.show(True)
        self.query_one(LineInput).focus()

    def put(self, text: str) -> None:
        """Show what was typed before, or hide the line where nothing was."""
        field = self.query_one(LineInput)
        with field.prevent(Input.Changed):
            field.value = text
            field.cursor_position = len(text)
        self.show(bool(text))

    def count(self, said: str) -> None:
        self.query_one("#typed-count", Label).update(said)

    def show(self, wanted: bool) -> None:
        """Show the line in the place of another one, or hide it."""
        self.set_class(wanted, "-open")
        if wanted:
            for other in self.screen.query(TypedLine):
                if other is not self:
                    other.remove_class("-open")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_keep()

    def action_keep(self) -> None:
        raise NotImplementedError


class NarrowLine(TypedLine):
    """One of a screen: it serves the list that asked for it last, and stays while that list is narrowed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("narrow.leave", "leave", "Show all", show=False),
        bind("narrow.keep", "keep", "Go to the rows", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="narrow-line")
        self._list: RowList | None = None

    def ask(self, row_list: RowList) -> None:
        """Let a person type for a list."""
        self.serve(row_list)
        self.begin()

    def serve(self, row_list: RowList) -> None:
        """Show what narrows a list, or hide where nothing does."""
        self._list = row_list
        self.put(row_list.narrowed)
        self.say_count(row_list)

    def say_count(self, row_list: RowList) -> None:
        """Say how many rows are left, if it is this list that is served."""
        if row_list is self._list:
            shown, total = row_list.narrow_counts()
            self.count(
                f"{shown:,} of {total:,}{'' if self.is_typed else with_keys('   {list.narrow} changes it, {list.all} shows all')}"
            )

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._list is not None:
            self._list.narrow(event.value)

    def action_keep(self) -> None:
        if self._list is not None:
            self._list.focus()
            self.serve(self._list)

    def action_leave(self) -> None:
        if self._list is not None:
            self._list.narrow("")
            self.action_keep()


async def ask_narrowing(row_list: RowList) -> None:
    """Open the line on the screen of a list; it is made when it is first asked for."""
    screen = row_list.screen
    found = screen.query(NarrowLine)
    line = found.first() if found else NarrowLine()
    if not found:
        await screen.mount(line)
    line.ask(row_list)


class FindLine(TypedLine):
    """One of a screen: it serves the text in which something was looked for last."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("find.leave", "leave", "No hits marked", show=False),
        bind("find.keep", "keep", "Go to the text", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="find-line")
        self._text: TextPane | None = None

    def ask(self, text: TextPane) -> None:
        """Let a person type what to find."""
        self.serve(text)
        self.begin()

    def serve(self, text: TextPane) -> None:
        """Show what is looked for in a text, or hide where nothing is."""
        self._text = text
        self.put(text.needle)
        self.say_count()

    def say_count(self) -> None:
        """Say which hit of how many is shown."""
        text = self._text
        if text is None:
            return
        more = (
            ""
            if self.is_typed
            else with_keys("   {file.next-hit} next, {file.previous-hit} previous, {file.forget}: none marked")
        )
        self.count(
            f"{text.hit + 1:,} of {len(text.hits):,}{more}" if text.hits else "nothing found" if text.needle else ""
        )

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._text is not None:
            self._text.find(event.value)
            self._text.go_to_next_hit(1)
            self.say_count()

    def action_keep(self) -> None:
        if self._text is not None:
            self._text.focus()
            self.serve(self._text)

    def action_leave(self) -> None:
        if self._text is not None:
            self._text.find("")
            self.action_keep()


async def ask_finding(text: TextPane) -> None:
    """Open the line on the screen of a text; it is made when it is first asked for."""
    found = text.screen.query(FindLine)
    line = found.first() if found else FindLine()
    if not found:
        await text.screen.mount(line)
    line.ask(text)


class PromptLine(Horizontal):
    """Hidden until :meth:`ask`; ends with :class:`Answered` or silently."""

    BINDINGS: ClassVar[list[BindingType]] = [bind("prompt.leave", "leave", "Leave", show=False)]
    DEFAULT_CSS = """
    PromptLine { dock: bottom; height: 1; margin: 0 0 1 0; display: none; background: $panel; padding: 0 1; }
    PromptLine.-open { display: block; }
    PromptLine Label { width: auto; color: $text-accent; text-style: bold; }
    PromptLine Input { border: none; height: 1; padding: 0 1; width: 1fr; background: $panel; }
    PromptLine Input:focus { border: none; }
    """

    class Answered(Message):
        """A text was entered for ``purpose``."""

        def __init__(self, purpose: str, text: str) -> None:
            super().__init__()
            self.purpose = purpose
            self.text = text

    class Left(Message):
        """The line was closed without an answer."""

    def __init__(self) -> None:
        super().__init__()
        self._purpose = ""

    def compose(self) -> ComposeResult:
        yield Label("")
        yield LineInput(compact=True)

    def ask(self, purpose: str, label: str, text: str = "") -> None:
        self._purpose = purpose
        self.query_one(Label).update(label)
        field = self.query_one(Input)
        field.value = text
        field.cursor_position = len(text)
        self.add_class("-open")
        field.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.remove_class("-open")
        self.post_message(self.Answered(self._purpose, event.value))

    def action_leave(self) -> None:
        self.remove_class("-open")
        self.post_message(self.Left())
