"""Column declarations, and the layout that decides which columns fit and how wide they are.

Example: ``TableColumn(title="agent", cell=lambda row: row.agent, width=11, text=True, sort=lambda row: row.agent)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Generic, TypeVar

from rich.cells import cell_len

from workbench.app.toolkit.virtual_view import Part, fit

Row = TypeVar("Row")
Cell = str | Part | list[Part]  # a text, a text with a style name, or several of these
MEASURED_ROWS = 1_000  # number of rows at the top that are measured to size a column
_NARROWEST_TEXT = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn(Generic[Row]):
    """A column of a table; ``title`` is also the name of its sort order.

    Attributes:
      width: Number of cells that the column needs.
      widest: Maximum number of cells for long values, 0 for a fixed ``width``. A column that sets this is hidden
        if all its values are empty.
      text: Whether cells are left-aligned, as for text, instead of right-aligned, as for numbers.
      priority: Drop order if space is short: the highest number is dropped first, and 0 is never dropped.
      sort: Function that returns the sort key of a row; rows with None come last in both directions.
      figure: Function that returns the summary of a group of rows, shown in the group's heading.
      shorten: Function that cuts a text to a number of cells.
      brief: Short form for cells that do not fit. A column that sets this gets its full width only if at least as
        much space remains for the other columns.
    """

    title: str
    cell: Callable[[Row], Cell]
    width: int
    widest: int = 0
    text: bool = False
    priority: int = 0
    sort: Callable[[Row], Any] | None = None
    descending: bool = False
    figure: Callable[[Sequence[Row]], str] | None = None
    shorten: Callable[[str, int], str] = fit
    brief: Callable[[Row], Part] | None = None


def fit_end(text: str, width: int) -> str:
    """Pad or cut ``text`` to exactly ``width`` cells; it is cut at the start because paths differ at their ends."""
    return fit(text if len(text) <= width else "…" + text[len(text) - width + 1 :], width)


def number_column(
    title: str, width: int, value: Callable[[Row], float | None], digits: int = 0, *, priority: int = 0
) -> TableColumn[Row]:
    """Return a right-aligned column of numbers, sorted descending; None is shown as a dash."""

    def cell(row: Row) -> str:
        return "–" if (number := value(row)) is None else f"{number:,.{digits}f}"

    return TableColumn(title=title, cell=cell, width=width, priority=priority, sort=value, descending=True)


class ColumnLayout(Generic[Row]):
    """Lays out columns for a width.

    It drops columns by priority until the others fit, then divides the remaining space among texts that are cut.
    """

    def __init__(self, columns: Sequence[TableColumn[Row]], rows: Sequence[Row] = ()) -> None:
        self.all = tuple(columns)
        self._rows = rows
        self._content: dict[int, int] = {}  # by id() of the column, since titles may repeat
        self._laid_out: tuple[int, list[tuple[TableColumn[Row], int, str]]] = (0, [])

    def measure(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self._content.clear()
        self._laid_out = 0, []

    def widen(self, rows: Sequence[Row]) -> bool:
        """Remeasure the columns for changed rows; returns whether the content of a column became wider."""
        measured = [column for column in self.all if id(column) in self._content]
        longer = {id(one): size for one in measured if (size := _longest(one, rows)) > self._content[id(one)]}
        if longer:
            self._content |= longer
            self._laid_out = 0, []
        return bool(longer)

    def layout(self, width: int) -> list[tuple[TableColumn[Row], int, str]]:
        """Return the columns that are visible at a width, each with its width in cells and the gap before it."""
        if self._laid_out[0] != width:
            self._laid_out = width, self._lay_out(width)
        return self._laid_out[1]

    def _lay_out(self, width: int) -> list[tuple[TableColumn[Row], int, str]]:
        columns = [column for column in self.all if not column.widest or self._longest(column)]

        def needed() -> int:
            return sum(self._least(column) + len(gap) for column, gap in zip(columns, _gaps(columns), strict=True))

        while needed() > width and (last := max(column.priority for column in columns)):
            columns = [column for column in columns if column.priority != last]
        sizes = {id(column): self._least(column) for column in columns}
        spare = width - needed()
        for column in columns:
            more = self._wanted(column) - sizes[id(column)]
            if column.brief is not None and more <= spare // 2:
                sizes[id(column)] += more
                spare -= more
        cut = [one for one in columns if one.brief is None and self._wanted(one) > self._least(one)]
        while spare > 0 and cut:
            share = max(1, spare // len(cut))
            for column in cut[:spare]:
                more = min(share, self._wanted(column) - sizes[id(column)])
                sizes[id(column)] += more
                spare -= more
            cut = [column for column in cut if self._wanted(column) > sizes[id(column)]]
        for column in columns:  # no more columns can be dropped, so cut texts
            if spare < 0 and column.widest:
                less = min(-spare, max(0, sizes[id(column)] - _NARROWEST_TEXT))
                sizes[id(column)] -= less
                spare += less
        return list(zip(columns, sizes.values(), _gaps(columns), strict=True))

    def _longest(self, column: TableColumn[Row]) -> int:
        if id(column) not in self._content:
            # If no measured row has a value, use the first later row that has one.
            others = (_longest(column, (row,)) for row in self._rows[MEASURED_ROWS:])
            longest = _longest(column, self._rows[:MEASURED_ROWS]) or next(filter(None, others), 0)
            self._content[id(column)] = longest
        return self._content[id(column)]

    def _least(self, column: TableColumn[Row]) -> int:
        longest = max(self._longest(column), cell_len(column.title)) if column.widest else column.width
        return min(column.width, longest)

    def _wanted(self, column: TableColumn[Row]) -> int:
        return max(self._least(column), min(column.widest, self._longest(column)))

    def heading(self, width: int, order: str = "") -> list[Part]:
        return [
            (gap + fit(column.title, size, right=not column.text), "strong" if column.title == order != "" else "dim")
            for column, size, gap in self.layout(width)
        ]

    def cells(self, row: Row, width: int, style: str = "", span: tuple[str, Part] | None = None) -> list[Part]:
        """Return the cells of a row.

        ``style`` applies to cells without a style of their own. ``span`` is the title of a column and a text that
        replaces the cells from that column on.
        """
        parts: list[Part] = []
        for column, size, gap in self.layout(width):
            if span is not None and column.title == span[0]:
                return [*parts, (gap + span[1][0], span[1][1])]
            cell = column.cell(row)
            if column.brief is not None and cell_len(cell_text(cell)) > size:
                cell = column.brief(row)
            if isinstance(cell, list):
                parts += [(gap, ""), *cell, (" " * (size - cell_len(cell_text(cell))), "")]
                continue
            text, own = cell if isinstance(cell, tuple) else (cell, "")
            text = column.shorten(text, size) if column.text else text
            parts.append((gap + fit(text, size, right=not column.text), own or style))
        return parts

    def figures(self, rows: Sequence[Row], name: str, width: int) -> list[Part]:
        layout = self.layout(width)
        named = next((at for at, (column, _, _) in enumerate(layout) if column.figure is not None), len(layout))
        parts: list[Part] = [(fit(name, sum(len(gap) + size for _, size, gap in layout[:named])), "group")]
        for column, size, gap in layout[named:]:
            text = column.figure(rows) if column.figure is not None else ""
            parts.append((gap + fit(text, size, right=not column.text), "group"))
        return parts

    def at(self, x: int, width: int) -> TableColumn[Row] | None:
        ends = accumulate(len(gap) + size for _, size, gap in self.layout(width))
        return next((column for (column, _, _), end in zip(self.layout(width), ends, strict=True) if x < end), None)


def _gaps(columns: Sequence[TableColumn[Any]]) -> list[str]:
    """Return the gap before each column; it is wider between a number and a text, which are both aligned to it."""
    gaps = ("  " if right.text and not left.text else " " for left, right in pairwise(columns))
    return ["", *gaps][: len(columns)]


def _longest(column: TableColumn[Row], rows: Sequence[Row]) -> int:
    return max((cell_len(cell_text(column.cell(row))) for row in rows), default=0)


def cell_text(cell: Cell) -> str:
    if isinstance(cell, list):
        return "".join(text for text, _ in cell)
    return cell[0] if isinstance(cell, tuple) else cell
