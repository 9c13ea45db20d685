"""Dots on a grid of characters, two by four to a cell, and the axes beside them; no widget in sight.

The signs are Unicode's braille patterns; where a terminal lacks them, :func:`workbench.glyphs.narrow` shows how dense a cell is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_BITS = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))  # by column, from below
ACROSS, UP = 2, 4
"""Dots of a cell."""


class Canvas:
    """A grid of ``width`` × ``height`` cells."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = max(0, width), max(0, height)
        self._cells: dict[tuple[int, int], int] = {}

    def cell_of(self, x: float, y: float) -> tuple[int, int]:
        """Return column and row (from above) of the cell at shares of the width and of the height (from below)."""
        column, row = self._dot(x, y)
        return column // ACROSS, self.height - 1 - row // UP

    def dot(self, x: float, y: float) -> None:
        """Put a dot at shares of the width and of the height (from below); what lies outside goes to the edge."""
        self.dot_at(*self._dot(x, y))

    def dot_at(self, column: int, row: int) -> None:
        """Put a dot on one of 2 × width columns and 4 × height rows, from the left and from below."""
        if 0 <= column < self.width * ACROSS and 0 <= row < self.height * UP:
            cell = column // ACROSS, self.height - 1 - row // UP
            self._cells[cell] = self._cells.get(cell, 0) | _BITS[column % ACROSS][row % UP]

    def _dot(self, x: float, y: float) -> tuple[int, int]:
        return _place(x, self.width * ACROSS), _place(y, self.height * UP)

    def row(self, y: int) -> str:
        """Return a row of cells, from above; a cell without a dot is a space."""
        cells = (self._cells.get((x, y), 0) for x in range(self.width))
        return "".join(chr(0x2800 + bits) if bits else " " for bits in cells)


def _place(share: float, count: int) -> int:
    return min(max(0, count - 1), max(0, round(share * (count - 1))))


def stacked(groups: Sequence[Sequence[float]], width: int, height: int) -> tuple[list[Canvas], int]:
    """Return dot plots of groups of values, which are shares of the width, and how many values a dot stands for at most.

    That number is the same for all groups, so that they compare.
    """
    plots = [Counter(_place(share, width * ACROSS) for share in shares) for shares in groups]
    highest = max((count for plot in plots for count in plot.values()), default=0)
    each = max(1, math.ceil(highest / max(1, height * UP)))
    canvases = []
    for plot in plots:
        canvas = Canvas(width, height)
        for column, count in plot.items():
            for row in range(math.ceil(count / each)):
                canvas.dot_at(column, row)
        canvases.append(canvas)
    return canvases, each


_RISING = "▁▂▃▄▅▆▇█"
_GROWING = "▏▎▍▌▋▊▉█"


def bar(value: float, most: float, width: int) -> str:
    """Return a bar of exactly ``width`` cells, full where ``value`` is ``most``; in one cell it rises instead.

    What is more than nothing is never shown as nothing.
    """
    share = min(1.0, value / most) if most > 0 and value > 0 else 0.0
    if width <= 0 or not share:
        return " " * max(0, width)
    eighths = max(1, round(share * 8 * width))
    if width == 1:
        return _RISING[eighths - 1]
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_GROWING[rest - 1] if rest else "")).ljust(width)


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of values with round ticks at both of its ends and between them."""

    ticks: tuple[float, ...]

    @property
    def low(self) -> float:
        """The first tick."""
        return self.ticks[0]

    @property
    def high(self) -> float:
        """The last tick."""
        return self.ticks[-1]

    def share(self, value: float) -> float:
        """Return where a value lies, 0 at the first tick and 1 at the last."""
        return (value - self.low) / (self.high - self.low)

    def label(self, tick: float) -> str:
        """Return a tick in as many decimals as tell it from the next."""
        step = self.ticks[1] - self.ticks[0]
        decimals = max(0, -math.floor(math.log10(step) + 1e-9))
        if round(step, decimals) != float(f"{step:.12g}"):
            decimals += 1
        return f"{tick:,.{decimals}f}"

    def written(self, width: int) -> str:
        """Return the ticks' labels on a line, each under its place; one that has no room is left out."""
        line = ""
        for tick in self.ticks:
            label = self.label(tick)
            at = min(max(0, round(self.share(tick) * (width - 1)) - len(label) // 2), width - len(label))
            if at >= len(line) + bool(line):
                line = line.ljust(at) + label
        return line.ljust(width)[: max(0, width)]


def axis(values: Sequence[float], most: int = 6) -> Axis:
    """Return an axis over values with at most ``most`` + 1 ticks, at steps of 1, 2 or 5 times a power of ten."""
    known = [value for value in values if math.isfinite(value)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if high - low < 1e-9 * max(1.0, abs(high)):
        room = max(abs(high) * 0.1, 1e-6)
        low, high = low - (room if low else 0.0), high + room
    rough = (high - low) / max(1, most)
    power = 10.0 ** math.floor(math.log10(rough))
    for factor in (1, 2, 5, 10, 20, 50):
        step = factor * power
        # Only what division rounds away is forgiven: a value a billionth of a step below a tick is below it.
        first = math.floor(low / step + 1e-12 * max(1.0, abs(low / step)))
        last = math.ceil(high / step - 1e-12 * max(1.0, abs(high / step)))
        if last - first <= most:
            break
    return Axis(tuple(place * step for place in range(first, max(last, first + 1) + 1)))
