"""Two small dialogs: one line of text, and yes or no."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.suggester import Suggester
from textual.widgets import Input

from workbench.app.keys import bind
from workbench.app.toolkit.lifecycle import Dialog
from workbench.app.toolkit.line_input import LineInput
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.texts import Button, Static

_CSS = """
{name} {{ align: center middle; }}
{name} #frame {{
    width: 74; max-width: 96%; height: auto; background: $surface; border: round $primary; padding: 1 2;
    border-title-color: $foreground; border-title-style: bold;
}}
{name} Input {{ border: none; height: 1; padding: 0 1; background: $panel; }}
{name} Input:focus {{ background: $primary-muted; border: none; }}
{name} #question {{ height: auto; max-height: 70vh; }}
{name} #question Static {{ height: auto; }}
{name} #note {{ height: auto; color: $text-muted; margin-top: 1; }}
{name} #buttons {{ height: 1; align-horizontal: right; margin-top: 1; }}
{name} Button {{ margin-left: 2; min-width: 12; }}
{name} #buttons Button:focus {{ text-style: bold; background: $primary; color: $block-cursor-foreground; }}
"""


class AskText(Dialog[str | None]):
    """Asks for one line, which may be empty; esc gives None."""

    AUTO_FOCUS = "Input"
    DEFAULT_CSS = _CSS.format(name="AskText")
    BINDINGS: ClassVar[list[BindingType]] = [bind("dialog.cancel", "dismiss(None)", "cancel")]

    def __init__(
        self, title: str, note: str, value: str = "", placeholder: str = "", *, suggester: Suggester | None = None
    ) -> None:
        super().__init__()
        self._suggester = suggester
        self._title, self._note, self._value, self._placeholder = title, note, value, placeholder

    def compose(self) -> ComposeResult:
        with Vertical(id="frame") as frame:
            set_title(frame, self._title)
            yield LineInput(self._value, placeholder=self._placeholder, compact=True, suggester=self._suggester)
            yield Static(self._note, id="note")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())


class Confirm(Dialog[bool]):
    """Asks yes or no; y and n answer, enter takes the button with the focus, which is No."""

    AUTO_FOCUS = "#no"
    DEFAULT_CSS = _CSS.format(name="Confirm")
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("confirm.no", "dismiss(False)", "no"),
        bind("confirm.yes", "dismiss(True)", "yes"),
        bind("confirm.other", "app.focus_next", "Other", show=False),
        bind("confirm.down", "scroll(1)", "Down", show=False),
        bind("confirm.up", "scroll(-1)", "Up", show=False),
    ]

    def __init__(self, title: str, question: str, yes: str) -> None:
        super().__init__()
        self._title, self._question, self._yes = title, question, yes

    def compose(self) -> ComposeResult:
        with Vertical(id="frame") as frame:
            set_title(frame, self._title)
            with VerticalScroll(id="question", can_focus=False):
                yield Static(self._question)
            with Horizontal(id="buttons"):
                yield Button(f"{self._yes} (y)", id="yes", variant="error")
                yield Button("No (n)", id="no")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_scroll(self, rows: int) -> None:
        self.query_one("#question").scroll_relative(y=rows, animate=False)
