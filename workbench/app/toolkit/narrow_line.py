"""The line in which a person types what the rows of a list must hold: the list follows each letter, with a count."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.widgets import Input

from workbench.app.key_table import with_keys
from workbench.app.keys import bind
from workbench.app.toolkit.typed_line import TypedLine

if TYPE_CHECKING:
    from workbench.app.toolkit.row_list import RowList


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
        """Narrow with each letter."""
        event.stop()
        if self._list is not None:
            self._list.narrow(event.value)

    def action_keep(self) -> None:
        """Go to what is left; with nothing typed all are shown."""
        if self._list is not None:
            self._list.focus()
            self.serve(self._list)

    def action_leave(self) -> None:
        """Show all rows again."""
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
