"""The line in which a person types what to find in a text: hits are marked with each letter, and counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input

from workbench.app.toolkit.line_input import LineInput
from workbench.app.toolkit.narrow_line import LONGEST, show_line
from workbench.app.toolkit.texts import Label

if TYPE_CHECKING:
    from workbench.app.toolkit.text_pane import TextPane


class FindLine(Horizontal):
    """One of a screen: it serves the text in which something was looked for last."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "No hits marked", id="find.leave", show=False),
        Binding("down,tab", "keep", "Go to the text", id="find.keep", show=False),
    ]
    DEFAULT_CSS = """
    FindLine { dock: bottom; height: 1; margin: 0 0 1 0; display: none; background: $panel; padding: 0 1; }
    FindLine.-open { display: block; }
    FindLine Label { width: auto; color: $text-accent; text-style: bold; }
    FindLine #find-count { color: $text-muted; text-style: none; margin-left: 2; }
    FindLine Input { border: none; height: 1; padding: 0 1; width: 1fr; background: $panel; }
    FindLine Input:focus { border: none; }
    """

    def __init__(self) -> None:
        super().__init__(id="find-line", classes="typed-line")
        self._text: TextPane | None = None

    def compose(self) -> ComposeResult:
        """Compose the sign, the field and the count."""
        yield Label("/")
        yield LineInput(compact=True, max_length=LONGEST, select_on_focus=False)
        yield Label("", id="find-count")

    def ask(self, text: TextPane) -> None:
        """Let a person type what to find."""
        self.serve(text)
        show_line(self, True)
        self.query_one(LineInput).focus()

    def serve(self, text: TextPane) -> None:
        """Show what is looked for in a text, or hide where nothing is."""
        self._text = text
        field = self.query_one(LineInput)
        with field.prevent(Input.Changed):
            field.value = text.needle
            field.cursor_position = len(field.value)
        show_line(self, bool(text.needle))
        self.say_count()

    def say_count(self) -> None:
        """Say which hit of how many is shown."""
        text = self._text
        if text is None:
            return
        more = "" if self.query_one(LineInput).has_focus else "   n next, N previous, esc: none marked"
        said = f"{text.hit + 1:,} of {len(text.hits):,}{more}" if text.hits else "nothing found" if text.needle else ""
        self.query_one("#find-count", Label).update(said)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Mark the hits with each letter, and show the first."""
        event.stop()
        if self._text is not None:
            self._text.find(event.value)
            self._text.go_to_next_hit(1)
            self.say_count()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the text."""
        event.stop()
        self.action_keep()

    def action_keep(self) -> None:
        """Go to the text, where n and N go from hit to hit."""
        if self._text is not None:
            self._text.focus()
            self.serve(self._text)

    def action_leave(self) -> None:
        """Mark no hits, and go back to the text."""
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
