"""A table with a column of row names, value columns of equal width, and a cursor that moves over rows and columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Generic

from textual import events
from textual.binding import BindingType

from workbench.app.toolkit.columns import ColumnLayout, Row, TableColumn
from workbench.app.toolkit.table import VirtualTable
from workbench.app.toolkit.virtual_view import Part, VirtualView, fit

_LEAST_NAME = 10
_MORE = 4  # cells reserved at the right for the number of hidden columns


class Grid(ColumnLayout[Row]):
    """The columns of a :class:`CellTable`: row names, value columns of equal width, and hidden columns to sort by.

    As many value columns are shown as fit. ``current`` is the index of the column under the cursor, ``first`` that
    of the first visible column. A value column is between ``least`` and ``usual`` cells wide; if all columns fit at
    ``whole`` cells, they grow up to the longest heading (``heads``). Row names are cut to no less than
    ``least_name`` cells to make room for another column. ``named`` is the length of the longest group name.
    """

    def __init__(
        self,
        names: TableColumn[Row],
        shown: Sequence[TableColumn[Row]],
        *,
        hidden: Sequence[TableColumn[Row]] = (),
        heads: int = 0,
        least: int = 9,
        usual: int = 14,
        whole: int = 15,
        least_name: int = 0,
    ) -> None:
        super().__init__((names, *shown, *hidden))
        self.names, self.shown, self.each = names, tuple(shown), usual
        self.heads, self.least, self.usual, self.whole, self.least_name = heads, least, usual, whole, least_name
        self.current = self.first = self.named = 0

    def move(self, at: int) -> None:
        self.current = min(max(at, 0), max(0, len(self.shown) - 1))
        self._laid_out = 0, []

    def left_out(self, width: int) -> int:
        return len(self.shown) - self.first - len(self.layout(width)) + 1

    def _lay_out(self, width: int) -> list[tuple[TableColumn[Row], int, str]]:
        count, longest = len(self.shown), max(self._longest(self.names), self.named) or _LEAST_NAME
        # Names get a third of the width, less if a column would not fit, and more if all columns have enough room.
        names = min(longest + 1, max(_LEAST_NAME, width // 3))
        least_name = self.least_name or max(_LEAST_NAME, width // 4)
        names = max(min(names, least_name), min(names, width - count * (self.least + 1)))
        room = width - names
        if count * (self.whole + 1) <= room:
            each = max(self.whole, min(self.heads, room // max(1, count) - 1))
        else:
            each = min(self.usual, max(self.least, room // max(1, count) - 1))
        shown = max(1, room // (each + 1))
        if shown >= count:
            self.first, shown = 0, count
            names = max(names, min(longest + 1, width - count * (each + 1)))
        else:
            shown = max(1, (room - _MORE) // (each + 1))
            first = min(max(self.first, self.current - shown + 1), self.current)
            self.first = max(0, min(first, count - shown))
        self.each = each
        columns = self.shown[self.first : self.first + shown]
        return [(self.names, names, ""), *((column, each, " ") for column in columns)]


class CellTable(VirtualTable[Row], Generic[Row]):
    """A table with a cell cursor.

    A subclass returns the column headings, and replaces the :class:`Grid` when the columns change.
    """

    columns: Grid[Row]

    def __init__(self, columns: Grid[Row], *, key: Callable[[Row], object], id: str | None = None) -> None:
        super().__init__((), key=key, id=id)
        self.LEAD = 0
        self.columns = columns

    def head_of(self, at: int, width: int) -> Part:
        """Return the heading of a value column, or of the row names if ``at`` is -1, in ``width`` cells."""
        raise NotImplementedError

    @property
    def at(self) -> int:
        """The index of the column under the cursor."""
        return self.columns.current

    def show_columns(self, columns: Grid[Row]) -> None:
        columns.first = self.columns.first
        columns.move(self.at)
        self.columns = columns

    def arrange_rows(self, *, measure: bool = True) -> None:
        super().arrange_rows(measure=measure)
        self.LEAD = 2 if self.arrangement.grouping else 0
        self.columns.named = max((len(one.name) for one in self.groups()), default=0)

    def action_column(self, step: int) -> None:
        self.to_column(self.at + step)

    def to_column(self, at: int) -> None:
        columns, width = self.columns, self.text_width - self.LEAD
        before, first = self.at, columns.first
        columns.move(at)
        if self.at == before:
            return
        columns.layout(width)
        if columns.first != first:
            self.refresh()
        else:  # repaint only two lines instead of all visible ones
            self.refresh_line(self.scroll_offset.y)
            self.refresh_line(self.line_of(self.cursor))
        self.post_message(self.RowHighlighted(self, self.cursor))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self.rows) if action in {"choose", "mark", "column"} else super().check_action(action, parameters)

    # -- painting

    def heading_parts(self, width: int) -> list[Part]:
        if not self.columns.shown:
            return []
        parts: list[Part] = [(" " * self.LEAD, "")]
        for place, (column, size, gap) in enumerate(self.columns.layout(width - self.LEAD)):
            text, style = self.head_of(self.columns.first + place - 1 if place else -1, size)
            parts.append((gap + fit(text, size, right=not column.text), style))
        left_out = self.columns.left_out(width - self.LEAD)
        return [*parts, (f" +{left_out}" if left_out else "", "dim")]

    def line_parts(self, width: int, title: Part, text: Callable[[int, int], Part]) -> list[Part]:
        """Lay out a line above or below the table in the table's columns; ``text(column, width)`` returns a cell."""
        (_, names, _), *layout = self.columns.layout(width - self.LEAD)
        parts: list[Part] = [(fit(title[0], names + self.LEAD), title[1])]
        for at, (_, size, gap) in enumerate(layout, self.columns.first):
            message, style = text(at, size)
            parts.append((gap + fit(message, size, right=True), style))
        return parts

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        return super().row_parts(y, width)[0], ""  # the cursor highlights a cell, not the row

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        parts = list(super().parts_of(index, width))
        at = 2 + self.at - self.columns.first  # the lead and the name come before the cells
        if 0 < index == self.cursor and at < len(parts):
            name, style = parts[1]
            parts[1] = name, style or "strong"
            parts[at : at + 1] = [(" ", ""), (parts[at][0][1:], "cursor" if self.has_focus else "cursor-blurred")]
        return parts

    def on_click(self, event: events.Click) -> None:
        column = self.columns.at(event.x - self.LEAD, self.text_width - self.LEAD)
        if column in self.columns.shown:
            self.to_column(self.columns.shown.index(column))


class PinnedLines(VirtualView, can_focus=False):
    """Lines above or below a cell table, aligned with its columns; they stay visible while the table scrolls."""

    ALLOW_SELECT: ClassVar[bool] = False
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self, lines: Callable[[int], Sequence[list[Part]]], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines = lines

    def relayout(self) -> None:
        count = self.row_count()
        self.styles.height, self.display = count, count > 0
        self.set_size(count)
        self.refresh()

    def row_count(self) -> int:
        return len(self._lines(self.text_width))

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        return self._lines(width)[y], ""
