"""Editing a text within the app, where no $EDITOR is set or the terminal cannot be handed over."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical

from workbench.app.key_table import key_of
from workbench.app.keys import bind
from workbench.app.toolkit.lifecycle import Dialog
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.text_area import TextArea
from workbench.app.toolkit.texts import Static


class EditScreen(Dialog[str | None]):
    """Ends with the edited text, or with None.

    Args:
        title: What is edited.
        text: As it is.
    """

    AUTO_FOCUS = "TextArea"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("edit.done", "done", "done", priority=True),
        bind("edit.cancel", "dismiss(None)", "cancel", priority=True),
    ]
    DEFAULT_CSS = """
    EditScreen { align: center middle; }
    EditScreen #frame {
        width: 96%; height: 92%; background: $surface; border: round $primary; padding: 0 1;
        border-title-color: $foreground; border-title-style: bold;
    }
    EditScreen TextArea { height: 1fr; border: none; padding: 0; background: $surface; }
    EditScreen #note { height: 1; color: $text-muted; }
    """

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        """Compose the text and its keys."""
        with Vertical(id="frame") as frame:
            set_title(frame, self._title)
            yield TextArea(self._text)
            yield Static(
                f"{key_of('edit.done')} done · {key_of('edit.cancel')} cancel · set $EDITOR to use your own editor",
                id="note",
            )

    def action_done(self) -> None:
        """End with the text as it is now."""
        self.dismiss(self.query_one(TextArea).text)
