"""A small plot of curves in braille dots: values between 0 and 1 over whole numbers, with bands around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # by row and column within a cell
_STYLES = ("$primary", "$accent", "$success", "$secondary")
_QUIET = "$foreground 45%"
_LETTERS = "abcd"  # at the end of each curve: colours alone do not tell
_AXIS = 6  # cells left of the plot
_TALLEST = 24  # rows of the plot: a curve of a few points says no more in fifty


@dataclass(frozen=True, slots=True)
class PlotLine:
    """A named curve: (x, value, low, high) from left to right; bounds are None where there are none."""

    name: str
    points: tuple[tuple[int, float, float | None, float | None], ...]


class CurvePlot(Widget):
    """Curves over one axis, each with its own colour and its name below."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "CurvePlot { height: 1fr; width: 1fr; background: $background; }"

    lines: reactive[tuple[PlotLine, ...]] = reactive(())

    def render(self) -> RenderResult:
        """Return the plot for the present size."""
        rows = plotted(self.lines, self.size.width, self.size.height)
        return Content("\n").join(Content.assemble(*row) for row in rows)


def plotted(lines: Sequence[PlotLine], width: int, height: int) -> list[list[tuple[str, str]]]:
    """Return rows of (text, style) that show curves in ``width`` times ``height`` cells; [] where there is no room."""
    drawn = [line for line in lines if line.points][: len(_LETTERS)]
    rows, columns = min(_TALLEST, height - 2 - len(drawn)), width - _AXIS - 1
    if not drawn or rows < 2 or columns < 4:
        return []
    left = min(x for line in drawn for x, *_ in line.points)
    right = max(x for line in drawn for x, *_ in line.points)
    top = max(0.1, *(value if high is None else high for line in drawn for _, value, _, high in line.points))
    top = min(1.0, -(-top * 10 // 1) / 10)
    canvas = _Canvas(columns, rows, left, max(right, left + 1), top)
    for number, line in enumerate(drawn):
        canvas.draw(line, number)
    found = []
    for row in range(rows):
        value = top * (1 - row / (rows - 1))
        label = f"{value:.2f}" if row in {0, rows // 4, rows // 2, 3 * rows // 4, rows - 1} else ""
        found.append([(f"{label:>{_AXIS - 1}} ", _QUIET), ("│", _QUIET), *canvas.row(row)])
    found.append([(" " * _AXIS + "└" + "─" * columns, _QUIET)])
    first, last = f"{left:,}", f"{right:,}"
    gap = max(1, columns - len(first) - len(last))
    found.append([(" " * (_AXIS + 1) + first + " " * gap + last, _QUIET)])
    for number, line in enumerate(drawn):
        found.append([(" " * (_AXIS + 1), ""), (_LETTERS[number], f"bold {_STYLES[number]}"), (f"  {line.name}", "")])
    return found


class _Canvas:
    """Cells of two by four dots; the curve drawn first keeps the colour of a cell, and a value goes before a band."""

    def __init__(self, columns: int, rows: int, left: int, right: int, top: float) -> None:
        self._columns, self._rows = columns, rows
        self._left, self._right, self._top = left, right, top
        self._dots = [[0] * columns for _ in range(rows)]
        self._ends: dict[tuple[int, int], int] = {}
        self._owner: dict[tuple[int, int], tuple[int, bool]] = {}

    def draw(self, line: PlotLine, number: int) -> None:
        """Draw a curve with its bounds."""
        wide = 2 * self._columns - 1
        for column in range(wide + 1):
            x = self._left + (self._right - self._left) * column / wide
            for place, value in enumerate(_between(line, x)):
                if value is not None and (place == 0 or column % 3 == 0):
                    self._dot(column, value, number, band=place > 0)
        x, value, *_ = line.points[-1]
        column = round((x - self._left) / (self._right - self._left) * wide)
        self._dot(column, value, number, band=False)
        row, cell = self._cell(column, value)
        while (row, cell) in self._ends and cell > 0:
            cell -= 1
        self._ends[row, cell] = number

    def _cell(self, column: int, value: float) -> tuple[int, int]:
        return round((1 - min(1.0, max(0.0, value / self._top))) * (4 * self._rows - 1)) // 4, column // 2

    def _dot(self, column: int, value: float, number: int, *, band: bool) -> None:
        tall = 4 * self._rows - 1
        y = round((1 - min(1.0, max(0.0, value / self._top))) * tall)
        cell = y // 4, column // 2
        self._dots[cell[0]][cell[1]] |= _DOTS[y % 4][column % 2]
        owner = self._owner.get(cell)
        if owner is None or (owner[1] and not band):
            self._owner[cell] = number, band

    def row(self, row: int) -> list[tuple[str, str]]:
        """Return the pieces of a row."""
        pieces = []
        for column, dots in enumerate(self._dots[row]):
            if (end := self._ends.get((row, column))) is not None:
                pieces.append((_LETTERS[end], f"bold {_STYLES[end]}"))
                continue
            number, band = self._owner.get((row, column), (0, True))
            style = _QUIET if band else f"bold {_STYLES[number]}"
            pieces.append((chr(0x2800 + dots) if dots else " ", style))
        return pieces


def _between(line: PlotLine, x: float) -> tuple[float | None, float | None, float | None]:
    """Return value and bounds of a curve at x, on the straight line between its neighbours; None outside it."""
    for (x1, *first), (x2, *second) in zip(line.points, line.points[1:], strict=False):
        if x1 <= x <= x2:
            share = (x - x1) / (x2 - x1)
            value, low, high = (
                None if one is None or other is None else one + share * (other - one)
                for one, other in zip(first, second, strict=True)
            )
            return value, low, high
    return None, None, None
