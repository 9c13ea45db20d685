"""A list of findings under the names of its columns; what it shows was laid out in a thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from workbench.app.regeneration.went_wrong.findings import Entry, Listing
from workbench.app.toolkit.headed_list import HeadedList
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.virtual_view import Part
from workbench.text import shortened

_GAP = 2
_NARROWEST = 24  # cells of the column that grows, before others give way
_MEASURED = 200  # entries whose widths decide
_MOST_FIXED = 3  # columns that stay, the first ones


class FindingList(HeadedList):
    """Row 0 is the heading; the rows below are the entries of a listing."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "choose", "open candidate", id="went-wrong.open")]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.listing = Listing((), (), "", "")
        self._laid_out: tuple[int, int, list[int]] = (0, 0, [])

    def put(self, listing: Listing, *, cursor: int = 1) -> None:
        """Show a listing with the cursor on a row."""
        self.listing = listing
        self.rows_changed(cursor=max(1, cursor))

    @property
    def selected(self) -> Entry | None:
        """The entry under the cursor."""
        at = self.cursor - 1
        return self.listing.entries[at] if 0 <= at < len(self.listing.entries) else None

    def row_count(self) -> int:
        """Return how many rows there are: the heading, and a sentence where there is no entry."""
        return 1 + max(1, len(self.listing.entries)) if self.listing.columns else 0

    def _widths(self, width: int) -> list[int]:
        """Return the cells of each column, 0 for one that has no room: those at the right go first."""
        if self._laid_out[:2] == (width, id(self.listing)):
            return self._laid_out[2]
        columns, first = self.listing.columns, self.listing.entries[:_MEASURED]
        longest = [
            max(len(column.title), *(len(entry.cells[at]) for entry in first), 0) for at, column in enumerate(columns)
        ]
        widths = [min(column.width, longest[at]) for at, column in enumerate(columns)]
        grows = next((at for at, column in enumerate(columns) if not column.width), -1)
        for at in range(len(widths) - 1, _MOST_FIXED - 1, -1):
            if width - sum(widths) - _GAP * len(widths) >= (min(_NARROWEST, longest[grows]) if grows >= 0 else 0):
                break
            if at != grows:
                widths[at] = 0
        if grows >= 0:
            taken = sum(size + _GAP for at, size in enumerate(widths) if size and at != grows)
            widths[grows] = max(1, width - taken - 1)
        self._laid_out = width, id(self.listing), widths
        return widths

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return the names of the columns."""
        return self._row([column.title for column in self.listing.columns], width, "dim")

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return an entry, or why there is none."""
        if not self.listing.entries:
            return [(f" {self.listing.empty}", "dim")]
        return self._row(self.listing.entries[index - 1].cells, width, "")

    def _row(self, cells: Sequence[str], width: int, style: str) -> list[Part]:
        parts: list[Part] = [(" ", "")]
        for cell, column, size in zip(cells, self.listing.columns, self._widths(width), strict=True):
            if size:
                text = fit(cell if column.right else shortened(cell, size), size, right=column.right)
                parts += [(text, style or ("score" if column.right else "")), (" " * _GAP, "")]
        return parts[:-1]
