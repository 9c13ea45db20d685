"""The line in which a person types what the rows of a list must hold: the list follows each letter, with a count."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input

from workbench.app.toolkit.line_input import LineInput
from workbench.app.toolkit.texts import Label

if TYPE_CHECKING:
    from workbench.app.toolkit.row_list import RowList

LONGEST = 200
"""Characters of what is typed."""


class NarrowLine(Horizontal):
    """One of a screen: it serves the list that asked for it last, and stays while that list is narrowed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Show all", id="narrow.leave", show=False),
        Binding("down,tab", "keep", "Go to the rows", id="narrow.keep", show=False),
    ]
    DEFAULT_CSS = """
    NarrowLine { dock: bottom; height: 1; margin: 0 0 1 0; display: none; background: $panel; padding: 0 1; }
    NarrowLine.-open { display: block; }
    NarrowLine Label { width: auto; color: $text-accent; text-style: bold; }
    NarrowLine #narrow-count { color: $text-muted; text-style: none; margin-left: 2; }
    NarrowLine Input { border: none; height: 1; padding: 0 1; width: 1fr; background: $panel; }
    NarrowLine Input:focus { border: none; }
    """

    def __init__(self) -> None:
        super().__init__(id="narrow-line", classes="typed-line")
        self._list: RowList | None = None

    def compose(self) -> ComposeResult:
        """Compose the sign, the field and the count."""
        yield Label("/")
        yield LineInput(compact=True, max_length=LONGEST, select_on_focus=False)
        yield Label("", id="narrow-count")

    def ask(self, row_list: RowList) -> None:
        """Let a person type for a list."""
        self.serve(row_list)
        show_line(self, True)
        self.query_one(LineInput).focus()

    def serve(self, row_list: RowList) -> None:
        """Show what narrows a list, or hide where nothing does."""
        self._list = row_list
        field = self.query_one(LineInput)
        with field.prevent(Input.Changed):
            field.value = row_list.narrowed
            field.cursor_position = len(field.value)
        show_line(self, bool(row_list.narrowed))
        self.say_count(row_list)

    def say_count(self, row_list: RowList) -> None:
        """Say how many rows are left, if it is this list that is served."""
        if row_list is self._list:
            shown, total = row_list.narrow_counts()
            more = "" if self.query_one(LineInput).has_focus else "   / changes it, esc shows all"
            self.query_one("#narrow-count", Label).update(f"{shown:,} of {total:,}{more}")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow with each letter."""
        event.stop()
        if self._list is not None:
            self._list.narrow(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to what is left."""
        event.stop()
        self.action_keep()

    def action_keep(self) -> None:
        """Go to what is left; with nothing typed all are shown."""
        served = self._list
        if served is not None:
            served.focus()
            self.serve(served)

    def action_leave(self) -> None:
        """Show all rows again."""
        served = self._list
        if served is not None:
            served.narrow("")
            served.focus()
            self.serve(served)


def show_line(line: Widget, wanted: bool) -> None:
    """Show a line in which one types, or hide it; there is room for one of them."""
    line.set_class(wanted, "-open")
    if wanted:
        for other in line.screen.query(".typed-line.-open"):
            if other is not line:
                other.remove_class("-open")


async def ask_narrowing(row_list: RowList) -> None:
    """Open the line on the screen of a list; it is made when it is first asked for."""
    screen = row_list.screen
    found = screen.query(NarrowLine)
    line = found.first() if found else NarrowLine()
    if not found:
        await screen.mount(line)
    line.ask(row_list)
