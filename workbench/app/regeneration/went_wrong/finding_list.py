"""A list of findings under the names of its columns; what it shows was read in a thread."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from workbench.app.keys import bind
from workbench.app.regeneration.went_wrong.findings import Entry, Listing
from workbench.app.toolkit.columns import Columns
from workbench.app.toolkit.table import Table


class FindingList(Table[Entry]):
    """The entries of a listing."""

    LEAD = 1
    BINDINGS: ClassVar[list[BindingType]] = [bind("went-wrong.open", "choose", "open candidate")]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__((), key=lambda entry: entry.cells, id=id)

    def show(self, listing: Listing, *, cursor: int = 1) -> None:
        """Show a listing with the cursor on a row."""
        self.columns = Columns(listing.columns)
        self.empty = listing.empty
        self.cursor = -1
        self.put(listing.entries)
        self.set_cursor(max(1, cursor))
