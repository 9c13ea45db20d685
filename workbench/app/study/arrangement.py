"""In which order the rows of a matrix stand, and how its columns share the width; no widget in sight."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from workbench.app.study.matrix_rows import MatrixRow

ORDERS = ("declared", "column", "spread", "name")
"""As the study declares them, by the value under one column, by how far columns are apart, by name."""
_NARROWEST, _USUAL, _WITH_INTERVAL = 9, 14, 15
_LEAST_NAME = 10
MORE = 4
"""Cells for what says how many columns are left out at the right."""


@dataclass(frozen=True, slots=True)
class Order:
    """An order of rows; ``column`` is the one whose values count, by its name."""

    by: str = "declared"
    column: str = ""
    reverse: bool = False

    def following(self, column: str) -> Order:
        """Return the next order; ``column`` is the one under the cursor."""
        return Order(ORDERS[(ORDERS.index(self.by) + 1) % len(ORDERS)], column)

    def clicked(self, by: str, column: str = "") -> Order:
        """Return the order that a click on a heading asks for: the other way round where it is that already."""
        same = (self.by, self.column if by == "column" else "") == (by, column)
        return replace(self, reverse=not self.reverse) if same else Order(by, column)


def in_order(rows: Sequence[MatrixRow], order: Order, measure: str) -> list[MatrixRow]:
    """Return rows in an order: the largest values first, rows without one last either way."""
    if order.by == "declared":
        return list(reversed(rows)) if order.reverse else list(rows)
    if order.by == "name":
        return sorted(rows, key=lambda row: row.title, reverse=order.reverse)
    values = {row.title: _value(row, order, measure) for row in rows}
    sign = 1 if order.reverse else -1
    return sorted(rows, key=lambda row: (values[row.title] is None, sign * (values[row.title] or 0.0)))


def _value(row: MatrixRow, order: Order, measure: str) -> float | None:
    if order.by == "column":
        cell = row.cells.get(order.column)
        return cell.means[measure].value if cell is not None else None
    return row.spread.get(measure)


@dataclass(frozen=True, slots=True)
class Layout:
    """How a row of the matrix is divided: cells of the screen for the name and for each column, and which columns these are."""

    names: int
    width: int
    first: int
    shown: int

    def column_at(self, x: int) -> int | None:
        """Return the column at a place of the row, None on the names or behind the last one."""
        at = (x - self.names) // (self.width + 1)
        return self.first + at if x >= self.names and at < self.shown else None


def longest_of(rows: Iterable[str]) -> int:
    """Return the cells of the longest name."""
    return max((cell_len(row) for row in rows), default=_LEAST_NAME)


def layout_of(longest: int, heads: int, columns: int, width: int, current: int, first: int) -> Layout:
    """Return the layout for ``width`` cells in which the column ``current`` is in sight.

    Args:
        longest: Cells of the longest name.
        heads: Cells of the longest heading; columns are as wide as that where there is room.
        columns: How many columns there are.
        width: Cells of the whole row.
        current: The column under the cursor.
        first: The column that was the first one in sight before.
    """
    # A third for the names, a quarter where that leaves a column out; more where all columns have what they need.
    least = min(longest + 1, max(_LEAST_NAME, width // 3))
    if columns * (_NARROWEST + 2) > width - least:
        least = min(least, max(_LEAST_NAME, width // 4))
    room = width - least
    if columns * (_WITH_INTERVAL + 1) <= room:
        each = max(_WITH_INTERVAL, min(heads, room // max(1, columns) - 1))
    else:
        each = min(_USUAL, max(_NARROWEST, room // max(1, columns) - 1))
    shown = max(1, room // (each + 1))
    if shown >= columns:
        names = min(longest + 1, width - columns * (each + 1))
        return Layout(max(names, least), each, 0, columns)
    shown = max(1, (room - MORE) // (each + 1))
    if current < first or current >= first + shown:
        first = current if current < first else current - shown + 1
    return Layout(least, each, max(0, min(first, columns - shown)), shown)
