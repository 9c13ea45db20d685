"""A list under a heading that stays in the first row of the screen, whatever is scrolled."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.virtual_view import Part


class HeadedList(RowList):
    """Row 0 is the heading; subclasses fill :meth:`heading_parts`, and :meth:`parts_of` for the rows from 1 on."""

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return the names of the columns."""
        raise NotImplementedError

    def selectable(self, index: int) -> bool:
        """The heading is passed over."""
        return index > 0

    def always_shown(self) -> Sequence[int]:
        """The heading stays."""
        return (0,)

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        """Paint the heading in the first row of the screen."""
        if y == self.scroll_offset.y:
            return list(self.heading_parts(width)), ""
        return super().row_parts(y, width)

    def rearranged(self, *, cursor: int | None = None) -> None:
        """Paint again, and keep the cursor on a row below the heading."""
        super().rearranged(cursor=cursor)
        self.uncover_cursor()

    def set_cursor(self, index: int, step: int = 1) -> None:
        """Put the cursor on a row and keep it below the heading."""
        super().set_cursor(index, step)
        self.uncover_cursor()

    def uncover_cursor(self) -> None:
        """Scroll up by a row where the heading covers the cursor."""
        if 0 < self.line_of(self.cursor) <= self.scroll_offset.y:
            self.scroll_to(y=self.line_of(self.cursor) - 1, animate=False, immediate=True)
