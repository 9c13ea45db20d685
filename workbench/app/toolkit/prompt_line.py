"""The line above the keys where a search or a remark is typed."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from workbench.app.keys import bind
from workbench.app.toolkit.line_input import LineInput
from workbench.app.toolkit.texts import Label


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
        """Compose the label and the input."""
        yield Label("")
        yield LineInput(compact=True)

    def ask(self, purpose: str, label: str, text: str = "") -> None:
        """Open the line."""
        self._purpose = purpose
        self.query_one(Label).update(label)
        field = self.query_one(Input)
        field.value = text
        field.cursor_position = len(text)
        self.add_class("-open")
        field.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Hand the text over and close."""
        event.stop()
        self.remove_class("-open")
        self.post_message(self.Answered(self._purpose, event.value))

    def action_leave(self) -> None:
        """Close without an answer."""
        self.remove_class("-open")
        self.post_message(self.Left())
