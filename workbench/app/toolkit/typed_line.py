"""A line at the bottom in which a person types what something on the screen follows, with a count beside it."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input

from workbench.app.toolkit.line_input import LineInput
from workbench.app.toolkit.texts import Label

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
        """Compose the sign, the field and the count."""
        yield Label("/")
        yield LineInput(compact=True, max_length=LONGEST, select_on_focus=False)
        yield Label("", id="typed-count")

    @property
    def is_typed(self) -> bool:
        """Whether the field has the focus."""
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
        """Say how many there are."""
        self.query_one("#typed-count", Label).update(said)

    def show(self, wanted: bool) -> None:
        """Show the line in the place of another one, or hide it."""
        self.set_class(wanted, "-open")
        if wanted:
            for other in self.screen.query(TypedLine):
                if other is not self:
                    other.remove_class("-open")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to what follows."""
        event.stop()
        self.action_keep()

    def action_keep(self) -> None:
        """Go to what follows, and leave what was typed as it is."""
        raise NotImplementedError
