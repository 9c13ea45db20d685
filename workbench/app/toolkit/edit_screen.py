"""A text editor within the app, used if $EDITOR is not set or the terminal cannot be suspended."""

from __future__ import annotations

from textual import events, widgets
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.document._document import Document
from textual.document._document_navigator import DocumentNavigator
from textual.document._wrapped_document import WrappedDocument

from workbench.app.keys import bindings, key_of
from workbench.app.toolkit.lifecycle import Dialog
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.text_widgets import Static
from workbench.base.text import clean

LONGEST_WRAPPED = 100_000  # longer texts (in characters) do not wrap: Textual remeasures a line on every key


class _Wrapped(WrappedDocument):
    """A version of Textual's wrapped document that avoids repeated work.

    Textual rewraps all lines on each layout, and adds up heights row by row.
    """

    _wrapped_for: tuple[int, int | None, int] | None = None

    @property
    def height(self) -> int:
        return len(self._offset_to_line_info)

    def wrap(self, width: int, tab_width: int | None = None) -> None:
        # An edit rewraps only its own lines (wrap_range), unless it changes the number of lines and thus the width
        # of the gutter.
        wanted = width, tab_width, self.document.line_count
        if self._wrapped_for != wanted:
            super().wrap(width, tab_width)
            self._wrapped_for = wanted


class TextArea(widgets.TextArea):
    """A plain-text editor; control sequences in the initial or pasted text are removed.

    Texts of more than :data:`LONGEST_WRAPPED` characters are not wrapped.
    """

    def __init__(self, text: str) -> None:
        text = clean(text)
        super().__init__(text, soft_wrap=len(text) <= LONGEST_WRAPPED, show_line_numbers=True, tab_behavior="indent")

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        pasted = clean(event.text.replace("\r\n", "\n").replace("\r", "\n"))  # terminals send \r for a line break
        if self.soft_wrap and len(self.text) + len(pasted) > LONGEST_WRAPPED:
            self.soft_wrap = False
        result = self.replace(pasted, *self.selection, maintain_selection_offset=False)
        self.move_cursor(result.end_location)

    def _set_document(self, text: str, language: str | None) -> None:
        self.document = Document(text)
        self.wrapped_document = _Wrapped(self.document, tab_width=self.indent_width)
        self.navigator = DocumentNavigator(self.wrapped_document)
        self._build_highlight_map()
        self.move_cursor((0, 0))
        self._rewrap_and_refresh_virtual_size()


class EditScreen(Dialog[str | None]):
    """The editor's screen, which dismisses with the edited text, or None if cancelled."""

    AUTO_FOCUS = "TextArea"
    BINDINGS = bindings("edit")
    DEFAULT_CSS = """
    EditScreen #frame { width: 96%; height: 92%; padding: 0 1; }
    EditScreen TextArea { height: 1fr; border: none; padding: 0; background: $surface; }
    EditScreen #note { height: 1; }
    """

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        with Vertical(id="frame") as frame:
            set_title(frame, self._title)
            yield TextArea(self._text)
            yield Static(
                f"{key_of('edit.done')} done · {key_of('edit.cancel')} cancel · set $EDITOR to use your own editor",
                id="note",
            )

    def action_done(self) -> None:
        self.dismiss(self.query_one(TextArea).text)
