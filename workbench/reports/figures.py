"""Matrices and forest plots as SVG inside a page, right in light and dark and on paper."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from workbench.reports.html_parts import e
from workbench.reports.page import Bar, Forest, Heat
from workbench.reports.svg import LETTER, svg, text
from workbench.statistics.histogram import round_step
from workbench.text import one_line, shortened

_HEAD_LINES = 3
_WORDS = re.compile(r"[^\s/-]*[/-]+|[^\s/-]+\s*|\s+")
"""What a heading is broken into: words, and what ends in a hyphen or slash."""
_MOST_LABEL = 34
_TONED = 0.3
"""How strong a colour is that tells the value by itself: the number on it stays readable."""


def heat(figure: Heat) -> str:
    """Return a matrix: the higher the value, the stronger the colour; its number stands in each cell."""
    heads = [_wrapped(one, 12) for one in figure.headings]
    labels = [shortened(name, _MOST_LABEL) for name, _ in figure.rows]
    left = 14 + LETTER * max(map(len, labels), default=0)
    top = 8 + 15 * max(map(len, heads), default=1)
    wide, high, gap = 96, 26, 2
    width, height = left + (wide + gap) * len(heads), top + (high + gap) * len(labels)
    parts = []
    for place, lines in enumerate(heads):
        middle = left + (wide + gap) * place + wide / 2
        for number, words in enumerate(lines):
            parts.append(text(middle, top - 9 - 15 * (len(lines) - 1 - number), words, "middle", "soft"))
    for line, (label, (name, cells)) in enumerate(zip(labels, figure.rows, strict=True)):
        above = top + (high + gap) * line
        parts.append(text(left - 10, above + 17, label, "end"))
        for place, cell in enumerate(cells):
            start = left + (wide + gap) * place
            hint = f"<title>{e(one_line(f'{name}, {figure.headings[place]}: {cell.hint or cell.text}', 300))}</title>"
            fill = "none" if cell.share is None else cell.tone or "value"
            strength = 1.0 if cell.share is None else 0.06 + 0.56 * min(1.0, max(0.0, cell.share))
            if cell.share is not None and cell.tone:
                strength = _TONED
            parts.append(
                f'<g>{hint}<rect class="{fill}" x="{start:.1f}" y="{above:.1f}" width="{wide}" height="{high}" rx="3" '
                f'fill-opacity="{strength:.2f}"/>{text(start + wide / 2, above + 17, cell.text, "middle")}</g>'
            )
    return svg(figure.caption, width, height, parts, figure.said)


def forest(figure: Forest) -> str:
    """Return a forest plot: a dot for each value, a line for its interval, and where 0 is."""
    labels = [shortened(bar.label, 58) for bar in figure.bars]
    left = 16 + LETTER * max(map(len, labels), default=0)
    said = 16 + LETTER * max((len(bar.text) for bar in figure.bars), default=0)
    plot, high, top = 340.0, 24, 8
    low, upper, ticks = scale_of(figure.bars)
    bottom = top + high * len(figure.bars)

    def at(value: float) -> float:
        return left + plot * (value - low) / (upper - low)

    parts = [
        f'<line class="{"zero" if abs(tick) < 1e-12 else "grid"}" x1="{at(tick):.1f}" x2="{at(tick):.1f}" y1="{top}" y2="{bottom}"/>'
        + text(at(tick), bottom + 16, f"{tick:g}".replace("-", "−"), "middle", "soft")
        for tick in ticks
    ]
    parts.append(text(left + plot / 2, bottom + 34, figure.axis, "middle", "soft"))
    for line, (label, bar) in enumerate(zip(labels, figure.bars, strict=True)):
        middle = top + high * line + high / 2
        sure = bar.low is not None and bar.high is not None and (bar.low > 0 or bar.high < 0)
        parts.append(text(left - 10, middle + 4, label, "end"))
        hint = f"<title>{e(one_line(f'{bar.label}: {bar.text}', 300))}</title>"
        inside = ""
        if bar.low is not None and bar.high is not None:
            inside = (
                f'<line class="interval" x1="{at(bar.low):.1f}" x2="{at(bar.high):.1f}" y1="{middle}" y2="{middle}"/>'
            )
        name = "sure" if sure else "unsure" if bar.low is not None else "alone"
        parts.append(f'<g class="{name}">{hint}{inside}<circle cx="{at(bar.value):.1f}" cy="{middle}" r="4"/></g>')
        parts.append(text(left + plot + 12, middle + 4, bar.text, "start"))
    return svg(figure.caption, left + plot + said, bottom + 42, parts)


def scale_of(bars: Sequence[Bar]) -> tuple[float, float, list[float]]:
    """Return both ends of the axis, 0 always within, and its round ticks."""
    ends = [one for bar in bars for one in (bar.value, bar.low, bar.high) if one is not None]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    if high - low < 1e-9:
        low, high = low - 1.0, high + 1.0
    step = round_step((high - low) / 5)
    first, last = math.floor(low / step), math.ceil(high / step)
    return first * step, last * step, [round(number * step, 12) for number in range(first, last + 1)]


def _wrapped(text: str, width: int) -> list[str]:
    """Return a heading in lines of at most ``width`` letters; what has no room in the last is cut in its middle."""
    lines: list[str] = []
    for word in _WORDS.findall(one_line(text, 200)):
        if lines and len(lines[-1]) + len(word.rstrip()) <= width:
            lines[-1] += word
        else:
            lines.append(word)
    lines = [shortened(line.strip(), width) for line in lines] or [""]
    return lines if len(lines) <= _HEAD_LINES else [*lines[: _HEAD_LINES - 1], "…"]
