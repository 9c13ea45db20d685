"""Many values as SVG: a column for each, or how many lie in each bin; readable with one value as with thousands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.reports.html_parts import e
from workbench.reports.svg import LETTER, svg, text
from workbench.statistics.histogram import Bin, round_step
from workbench.text import shortened

MOST_COLUMNS = 300
"""Columns of a strip, each at least 2 px wide."""
_STRIP_WIDE, _WIDEST = 600.0, 14.0
_PLOT_WIDE = 480.0
_HIGH, _GAP = 44.0, 22.0
_MOST_LABEL = 34


@dataclass(frozen=True, slots=True)
class Strip:
    """A row of columns: each as high as its share of 1, in the colour of its tone; None is a gap at the bottom line."""

    label: str
    columns: tuple[tuple[float, str] | None, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Strips:
    """Rows of the same columns, at most :data:`MOST_COLUMNS` of them; ``lines`` are shares that a line marks in each row."""

    caption: str
    rows: tuple[Strip, ...]
    lines: tuple[float, ...]
    said: str


@dataclass(frozen=True, slots=True)
class Counted:
    """A row of bins with their tones ("" for none), the mean of all their values, and what stands beside them."""

    label: str
    bins: tuple[tuple[Bin, str], ...]
    mean: float | None
    text: str


@dataclass(frozen=True, slots=True)
class Histograms:
    """Rows of the same bins on one axis from ``low`` to ``high``; each row's highest bar has its full height."""

    caption: str
    rows: tuple[Counted, ...]
    axis: str
    low: float
    high: float
    noun: str
    said: str


def strips(figure: Strips) -> str:
    """Return the rows under one another."""
    left = _left(row.label for row in figure.rows)
    count = max((len(row.columns) for row in figure.rows), default=0)
    each = min(_WIDEST, _STRIP_WIDE / max(1, count))
    wide = each * count
    parts = []
    for number, row in enumerate(figure.rows):
        bottom = 8 + (_HIGH + _GAP) * number + _HIGH
        parts.append(text(left - 10, bottom - _HIGH / 2 + 4, shortened(row.label, _MOST_LABEL), "end"))
        parts += [_line("grid", left, left + wide, bottom - _HIGH * share) for share in figure.lines]
        drawn: dict[str, list[str]] = {}
        for place, column in enumerate(row.columns):
            if column is not None:
                share, tone = column
                # A share of 0 is seen, too: it is a value, and no gap.
                high = max(1.5, _HIGH * min(1.0, max(0.0, share)))
                at = left + each * place
                across = max(1.0, each - 1) if each >= 4 else each
                drawn.setdefault(tone, []).append(f"M{at:.1f} {bottom:.1f}v{-high:.1f}h{across:.2f}v{high:.1f}z")
        parts += [f'<path class="{e(tone or "value")}" d="{"".join(paths)}"/>' for tone, paths in drawn.items()]
        parts.append(_line("base", left, left + wide, bottom))
        parts.append(text(left + wide + 12, bottom - _HIGH / 2 + 4, row.text, "start", "soft"))
    said = 24 + LETTER * max((len(row.text) for row in figure.rows), default=0)
    return svg(figure.caption, left + wide + said, 8 + (_HIGH + _GAP) * len(figure.rows), parts, figure.said)


def histograms(figure: Histograms) -> str:
    """Return the rows under one another over their axis; a bar that is wide enough has its count above it."""
    left = _left(row.label for row in figure.rows)
    span = figure.high - figure.low
    bottom = 8 + (_HIGH + _GAP) * len(figure.rows)

    def at(value: float) -> float:
        return left + _PLOT_WIDE * (min(figure.high, max(figure.low, value)) - figure.low) / span

    step = round_step(span / 5)
    ticks = [round(figure.low + step * number, 12) for number in range(int(span / step + 1e-9) + 1)]
    parts = []
    for tick in ticks:
        parts.append(f'<line class="grid" x1="{at(tick):.1f}" x2="{at(tick):.1f}" y1="8" y2="{bottom:.1f}"/>')
        parts.append(text(at(tick), bottom + 16, f"{tick:g}", "middle", "soft"))
    parts.append(text(left + _PLOT_WIDE / 2, bottom + 34, figure.axis, "middle", "soft"))
    for number, row in enumerate(figure.rows):
        base = 8 + (_HIGH + _GAP) * (number + 1)
        most = max((one.count for one, _ in row.bins), default=0)
        parts.append(text(left - 10, base - _HIGH / 2 + 4, shortened(row.label, _MOST_LABEL), "end"))
        counts = []
        for one, tone in row.bins:
            if not one.count:
                continue
            high = max(1.5, _HIGH * one.count / most)
            start, wide = at(one.low), max(1.0, at(one.high) - at(one.low) - 1)
            hint = f"{one.low:g} to {one.high:g}: {one.count:,} {figure.noun}"
            parts.append(
                f'<g><title>{e(hint)}</title><rect class="{e(tone or "value")}" x="{start:.1f}" y="{base - high:.1f}" '
                f'width="{wide:.1f}" height="{high:.1f}"/></g>'
            )
            if LETTER * len(f"{one.count:,}") <= wide + 2:
                counts.append(text(start + wide / 2, base - high - 4, f"{one.count:,}", "middle", "count"))
        parts.append(_line("base", left, left + _PLOT_WIDE, base))
        if row.mean is not None:
            x = at(row.mean)
            parts.append(f'<line class="mean" x1="{x:.1f}" x2="{x:.1f}" y1="{base - _HIGH:.1f}" y2="{base + 4:.1f}"/>')
        # Above the line of the mean, which may run through them.
        parts += counts
        parts.append(text(left + _PLOT_WIDE + 16, base - _HIGH / 2 + 4, row.text, "start", "soft"))
    said = 30 + LETTER * max((len(row.text) for row in figure.rows), default=0)
    return svg(figure.caption, left + _PLOT_WIDE + said, bottom + 42, parts, figure.said)


def _left(labels: Iterable[str]) -> float:
    return 16 + LETTER * max((len(shortened(label, _MOST_LABEL)) for label in labels), default=0)


def _line(kind: str, start: float, end: float, y: float) -> str:
    return f'<line class="{kind}" x1="{start:.1f}" x2="{end:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
