"""What stands in the rows of the matrix: groups with their means, and below each its rows in order; no widget in sight."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len

from workbench.studies.declaration import row_titles

if TYPE_CHECKING:
    from workbench.studies.cells import Cell, Mean
    from workbench.studies.grouping import Group
    from workbench.studies.outcome import StudyOutcome


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


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A row, or the heading of a group.

    Attributes:
        title: What it is called there.
        row: The row of the study, "" for a group.
        cells: Its cells by the names of columns, none of a group.
        best: The best columns by measure.
        spread: How far the columns that are comparable are apart, by measure.
        group: The group in which it stands, "" for none.
        means: Of a group, of each column by its name, by measure.
        part: What of the study's row it is, "" for all of it.
    """

    title: str
    row: str
    cells: Mapping[str, Cell]
    best: Mapping[str, tuple[str, ...]]
    group: str = ""
    means: Mapping[str, Mapping[str, Mean]] = field(default_factory=dict)
    part: str = ""
    spread: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def is_group(self) -> bool:
        return not self.row

    @property
    def indent(self) -> str:
        return "  " if self.group else ""

    def stands_for(self, other: MatrixRow) -> bool:
        """Whether it is the same row of the study, or part of one, in the same group; its figures may be others."""
        return (self.title, self.row, self.group, self.part) == (other.title, other.row, other.group, other.part)

    def looks_as(self, other: MatrixRow) -> bool:
        """Whether it shows what another row shows: cells that did not change are the same objects."""
        return (
            self.stands_for(other)
            and (self.best, self.means) == (other.best, other.means)
            and self.cells.keys() == other.cells.keys()
            and all(one is other.cells[name] for name, one in self.cells.items())
        )


def matrix_rows(
    outcome: StudyOutcome, groups: Sequence[Group] | None, folded: Collection[str], order: Order, measure: str
) -> list[MatrixRow]:
    """Return the rows of the matrix: those of the study in order, or the groups, each with its rows in order unless it is folded."""
    if groups is None:
        titles = row_titles(outcome.rows)
        rows = [
            MatrixRow(
                title,
                row,
                {one.name: outcome.cell(row, one) for one in outcome.columns},
                summary.best,
                spread=summary.spread,
            )
            for title, row, summary in zip(titles, outcome.rows, outcome.by_row, strict=True)
        ]
        return in_order(rows, order, measure)
    found = []
    for group in groups:
        found.append(MatrixRow(group.title, "", {}, {}, means=group.means))
        if group.title not in folded:
            rows = [
                MatrixRow(
                    one.title,
                    one.row,
                    one.cells,
                    one.summary.best,
                    group.title,
                    part=one.part,
                    spread=one.summary.spread,
                )
                for one in group.parts
            ]
            found += in_order(rows, order, measure)
    return found
