"""Plots drawn with braille dots and bars: scatter plots, curves and dot strips."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from textual.app import RenderResult
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from workbench.app.toolkit.virtual_view import Part, VirtualView, fit

_BITS = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))  # by column, from bottom to top
ACROSS, UP = 2, 4
"""Number of dots per cell, horizontally and vertically."""
Cell = tuple[int, int]  # column from the left, row from the top


class Canvas:
    """A grid of ``width`` × ``height`` cells to draw dots on."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = max(0, width), max(0, height)
        self.bits: dict[Cell, int] = {}

    def dot(self, x: float, y: float) -> Cell:
        """Draw a dot at a fraction of the width and height (from below), clamped to the edges, and return its cell."""
        return self.dot_at(place(x, self.width * ACROSS), place(y, self.height * UP))

    def dot_at(self, column: int, row: int) -> Cell:
        """Draw a dot at a dot column (from the left) and dot row (from the bottom)."""
        cell = column // ACROSS, self.height - 1 - row // UP
        if 0 <= column < self.width * ACROSS and 0 <= row < self.height * UP:
            self.bits[cell] = self.bits.get(cell, 0) | _BITS[column % ACROSS][row % UP]
        return cell

    def row(self, y: int) -> str:
        return "".join(text for text, _ in painted([(self, "")], {}, y))


def painted(layers: Sequence[tuple[Canvas, str]], marks: Mapping[Cell, Part], y: int) -> list[Part]:
    """Return row ``y`` of layered canvases with their styles.

    The first layer with a dot in a cell sets its colour; ``marks`` replace cells.
    """
    parts: list[Part] = []
    for x in range(layers[0][0].width):
        found = [(canvas.bits[x, y], style) for canvas, style in layers if (x, y) in canvas.bits]
        bits = reduce(or_, (bits for bits, _ in found), 0)
        text, style = marks.get((x, y)) or (
            chr(0x2800 + bits) if bits else " ",
            found[0][1] if found else layers[-1][1],
        )
        if parts and parts[-1][1] == style:
            parts[-1] = parts[-1][0] + text, style
        else:
            parts.append((text, style))
    return parts


def interval_bar(shares: Sequence[float], width: int) -> list[str]:
    """Return the cells of an error bar ``├──●──┤``; low, value and high are fractions of the width."""
    first, at, last = (place(share, width) for share in shares)
    signs = [" "] * width
    if last > first:
        signs[first : last + 1] = ["├", *"─" * (last - first - 1), "┤"]
    signs[at] = _MARK
    return signs


def place(share: float, count: int) -> int:
    return min(max(0, count - 1), max(0, round(share * (count - 1))))


def stacked(groups: Sequence[Sequence[float]], width: int, height: int) -> tuple[list[Canvas], int]:
    """Return a dot plot per group of values (fractions of the width), and the number of values per dot."""
    plots = [Counter(place(share, width * ACROSS) for share in shares) for shares in groups]
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
    """Return a bar of ``width`` cells, full at ``most`` and never empty above 0; a one-cell bar grows upwards."""
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
    """An axis with ticks at round numbers, including both ends."""

    ticks: tuple[float, ...]

    @property
    def low(self) -> float:
        return self.ticks[0]

    @property
    def high(self) -> float:
        return self.ticks[-1]

    def share(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low)

    def label(self, tick: float) -> str:
        step = self.ticks[1] - self.ticks[0]
        decimals = max(0, -math.floor(math.log10(step) + 1e-9))
        if round(step, decimals) != float(f"{step:.12g}"):
            decimals += 1
        return f"{tick:,.{decimals}f}"

    def written(self, width: int) -> str:
        """Return one line with the tick labels below their ticks; labels that do not fit are omitted."""
        line = ""
        for tick in self.ticks:
            label = self.label(tick)
            at = min(max(0, round(self.share(tick) * (width - 1)) - len(label) // 2), width - len(label))
            if at >= len(line) + bool(line):
                line = line.ljust(at) + label
        return line.ljust(width)[: max(0, width)]


def axis(values: Sequence[float], most: int = 6) -> Axis:
    """Return an axis that covers values with at most ``most`` + 1 ticks, spaced 1, 2 or 5 times a power of ten."""
    known = [value for value in values if math.isfinite(value)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if high - low < 1e-9 * max(1.0, abs(high)):
        room = max(abs(high) * 0.1, 1e-6)
        low, high = low - (room if low else 0.0), high + room
    rough = (high - low) / max(1, most)
    power = 10.0 ** math.floor(math.log10(rough))
    for factor in (1, 2, 5, 10, 20, 50):
        step = factor * power
        # Tolerate no more than the rounding error of the division: a value a billionth of a step below a tick counts
        # as below it.
        first = math.floor(low / step + 1e-12 * max(1.0, abs(low / step)))
        last = math.ceil(high / step - 1e-12 * max(1.0, abs(high / step)))
        if last - first <= most:
            break
    return Axis(tuple(place * step for place in range(first, max(last, first + 1) + 1)))


_MARK = "●"
_TOP, _BELOW = 1, 3  # rows above the dots (name of the y axis) and below (line, ticks, name)


class ScatterPlot(VirtualView):
    """A scatter plot of points (group, x, y); points of the ``marked`` group are drawn as ●."""

    @dataclass
    class Stepped(Message):
        """The user requested the next (1) or previous (-1) group."""

        step: int

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.points: Sequence[tuple[Hashable, float, float]] = ()
        self.names = "", ""
        self.marked: Hashable = None
        self.empty_text = ""
        self._drawn: tuple[tuple[int, int], list[list[Part]]] | None = None

    def put(
        self, points: Sequence[tuple[Hashable, float, float]], names: tuple[str, str], empty_text: str = ""
    ) -> None:
        self.points, self.names, self.empty_text = points, names, empty_text
        self._again()

    def mark(self, group: Hashable) -> None:
        if group != self.marked:
            self.marked = group
            self._again()

    def _again(self) -> None:
        self._drawn = None
        self.refresh()

    def action_move(self, rows: int) -> None:
        self.post_message(self.Stepped(1 if rows > 0 else -1))

    # -- painting

    def row_count(self) -> int:
        return self.page_height()

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        size = width, self.page_height()
        if self._drawn is None or self._drawn[0] != size:
            self._drawn = size, self._draw(*size)
        return next(iter(self._drawn[1][y : y + 1]), []), ""

    def _draw(self, width: int, height: int) -> list[list[Part]]:
        tall = height - _TOP - _BELOW
        if not self.points:
            return [[(fit(f" {self.empty_text}", width), "dim")]]
        up = axis([y for _, _, y in self.points], max(1, tall // 3))
        labels = max(len(up.label(tick)) for tick in up.ticks) + 1
        wide = width - labels - 2
        if tall < 2 or wide < 10:
            return [[(fit(" There is no room for the plot.", width), "dim")]]
        across = axis([x for _, x, _ in self.points], max(1, min(8, wide // 12)))
        canvas, marks = Canvas(wide, tall), dict[Cell, Part]()
        for group, x, y in self.points:
            cell = canvas.dot(across.share(x), up.share(y))
            if group == self.marked:
                marks[cell] = _MARK, "marked"
        scale = Canvas(wide, tall)
        at = {scale.dot(0, up.share(tick))[1]: up.label(tick) for tick in up.ticks}
        rows: list[list[Part]] = [[(fit(f" {self.names[1]}", width), "dim")]]
        for y in range(tall):
            left = (at.get(y, "").rjust(labels), "dim"), ("┤" if y in at else "│", "rule")
            rows.append([*left, *painted([(canvas, "bar")], marks, y)])
        pad = " " * labels
        below = (
            ("└" + "─" * wide, "rule"),
            (f" {across.written(wide)}", "dim"),
            (f" {fit(self.names[0], wide, right=True)}", "dim"),
        )
        return [*rows, *([(pad, ""), part] for part in below)]


_STYLES = ("$primary", "$accent", "$success", "$secondary")
_QUIET = "$foreground 45%"
_LETTERS = "abcd"  # labels at the ends of the curves, in addition to colours
_AXIS = 6  # width in cells of the axis left of the plot
_TALLEST = 24  # maximum height in rows: more adds nothing to a curve with a few points


@dataclass(frozen=True, slots=True)
class PlotLine:
    """A named curve of points (x, value, low, high) from left to right; the bounds may be None."""

    name: str
    points: tuple[tuple[int, float, float | None, float | None], ...]


class CurvePlot(Widget):
    """Curves on a common axis, with a legend below."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "CurvePlot { height: 1fr; width: 1fr; background: $background; }"

    lines: reactive[tuple[PlotLine, ...]] = reactive(())

    def render(self) -> RenderResult:
        rows = plotted(self.lines, self.size.width, self.size.height)
        return Content("\n").join(Content.assemble(*row) for row in rows)


def plotted(lines: Sequence[PlotLine], width: int, height: int) -> list[list[tuple[str, str]]]:
    """Plot curves in ``width`` × ``height`` cells; returns rows of (text, style), or [] if there is no room."""
    drawn = [line for line in lines if line.points][: len(_LETTERS)]
    rows, columns = min(_TALLEST, height - 2 - len(drawn)), width - _AXIS - 1
    if not drawn or rows < 2 or columns < 4:
        return []
    left = min(x for line in drawn for x, *_ in line.points)
    right = max(x for line in drawn for x, *_ in line.points)
    top = max(0.1, *(value if high is None else high for line in drawn for _, value, _, high in line.points))
    top = min(1.0, -(-top * 10 // 1) / 10)
    layers, marks = _curves(drawn, Canvas(columns, rows), left, max(right, left + 1), top)
    found = []
    for row in range(rows):
        value = top * (1 - row / (rows - 1))
        label = f"{value:.2f}" if row in {0, rows // 4, rows // 2, 3 * rows // 4, rows - 1} else ""
        found.append([(f"{label:>{_AXIS - 1}} ", _QUIET), ("│", _QUIET), *painted(layers, marks, row)])
    found.append([(" " * _AXIS + "└" + "─" * columns, _QUIET)])
    first, last = f"{left:,}", f"{right:,}"
    gap = max(1, columns - len(first) - len(last))
    found.append([(" " * (_AXIS + 1) + first + " " * gap + last, _QUIET)])
    for number, line in enumerate(drawn):
        found.append([(" " * (_AXIS + 1), ""), (_LETTERS[number], f"bold {_STYLES[number]}"), (f"  {line.name}", "")])
    return found


def _curves(
    drawn: Sequence[PlotLine], bands: Canvas, left: int, right: int, top: float
) -> tuple[list[tuple[Canvas, str]], dict[Cell, Part]]:
    layers, ends, wide = list[tuple[Canvas, str]](), dict[Cell, Part](), ACROSS * bands.width - 1
    for number, line in enumerate(drawn):
        canvas, style = Canvas(bands.width, bands.height), f"bold {_STYLES[number]}"
        layers.append((canvas, style))
        for column in range(wide + 1):
            value, *bounds = _between(line, left + (right - left) * column / wide)
            if value is not None:
                canvas.dot(column / wide, value / top)
            for bound in bounds if column % 3 == 0 else ():
                if bound is not None:
                    bands.dot(column / wide, bound / top)
        x, value, *_ = line.points[-1]
        column, row = canvas.dot((x - left) / (right - left), value / top)
        while (column, row) in ends and column > 0:
            column -= 1
        ends[column, row] = _LETTERS[number], style
    return [*layers, (bands, _QUIET)], ends


def _between(line: PlotLine, x: float) -> tuple[float | None, float | None, float | None]:
    """Interpolate the value and bounds of a curve at x; all are None outside the curve."""
    for (x1, *first), (x2, *second) in zip(line.points, line.points[1:], strict=False):
        if x1 <= x <= x2:
            share = (x - x1) / (x2 - x1)
            value, low, high = (
                None if one is None or other is None else one + share * (other - one)
                for one, other in zip(first, second, strict=True)
            )
            return value, low, high
    return None, None, None
