"""Figures as inline SVG: heat maps, forest plots, strips and histograms.

The colours are defined in the page's style sheet, for light, dark and print. Texts are escaped, and nothing is loaded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from html import escape

from workbench.base.text import clean, one_line, shortened
from workbench.pages.page import Bar, Figure, Forest, Heat, Histograms, Strips
from workbench.statistics.histogram import round_step

LETTER = 7.7
"""The width in px of a letter at 12 px in the widest font."""
_HEAD_LINES = 3
_WORDS = re.compile(r"[^\s/-]*[/-]+|[^\s/-]+\s*|\s+")
"""The pieces of a heading: words, and parts that end in a hyphen or slash."""
_MOST_LABEL = 34

_TONED = 0.3
"""The opacity of a colour that has a meaning, so that the number on top of it is readable."""
MOST_COLUMNS = 300
"""The maximum number of columns in a strip, so that each is at least 2 px wide."""
_STRIP_WIDE, _WIDEST = 600.0, 14.0
_PLOT_WIDE = 480.0
_HIGH, _GAP = 44.0, 22.0


def drawn(figure: Figure) -> str:
    match figure:
        case Heat():
            return heat(figure)
        case Forest():
            return forest(figure)
        case Strips():
            return strips(figure)
        case Histograms():
            return histograms(figure)


def e(value: object) -> str:
    return escape(clean(str(value)))


def heat(figure: Heat) -> str:
    """Return a matrix of colours with numbers."""
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
            parts.append(_text(middle, top - 9 - 15 * (len(lines) - 1 - number), words, "middle", "soft"))
    for line, (label, (name, cells)) in enumerate(zip(labels, figure.rows, strict=True)):
        above = top + (high + gap) * line
        parts.append(_text(left - 10, above + 17, label, "end"))
        for place, cell in enumerate(cells):
            start = left + (wide + gap) * place
            hint = f"<title>{e(one_line(f'{name}, {figure.headings[place]}: {cell.hint or cell.text}', 300))}</title>"
            fill = "none" if cell.share is None else cell.tone or "value"
            strength = 1.0 if cell.share is None else 0.06 + 0.56 * min(1.0, max(0.0, cell.share))
            if cell.share is not None and cell.tone:
                strength = _TONED
            parts.append(
                f'<g>{hint}<rect class="{fill}" x="{start:.1f}" y="{above:.1f}" width="{wide}" height="{high}" rx="3" '
                f'fill-opacity="{strength:.2f}"/>{_text(start + wide / 2, above + 17, cell.text, "middle")}</g>'
            )
    return _svg(figure.caption, width, height, parts, figure.description)


def forest(figure: Forest) -> str:
    """Return a dot for each value, a line for its interval, and a line at 0."""
    labels = [shortened(bar.label, 58) for bar in figure.bars]
    left = 16 + LETTER * max(map(len, labels), default=0)
    texts = 16 + LETTER * max((len(bar.text) for bar in figure.bars), default=0)
    plot, high, top = 340.0, 24, 8
    low, upper, ticks = scale_of(figure.bars)
    bottom = top + high * len(figure.bars)

    def at(value: float) -> float:
        return left + plot * (value - low) / (upper - low)

    parts = [
        f'<line class="{"zero" if abs(tick) < 1e-12 else "grid"}" x1="{at(tick):.1f}" x2="{at(tick):.1f}" y1="{top}" y2="{bottom}"/>'
        + _text(at(tick), bottom + 16, f"{tick:g}".replace("-", "−"), "middle", "soft")
        for tick in ticks
    ]
    parts.append(_text(left + plot / 2, bottom + 34, figure.axis, "middle", "soft"))
    for line, (label, bar) in enumerate(zip(labels, figure.bars, strict=True)):
        middle = top + high * line + high / 2
        parts.append(_text(left - 10, middle + 4, label, "end"))
        hint = f"<title>{e(one_line(f'{bar.label}: {bar.text}', 300))}</title>"
        inside = ""
        if bar.low is not None and bar.high is not None:
            inside = (
                f'<line class="interval" x1="{at(bar.low):.1f}" x2="{at(bar.high):.1f}" y1="{middle}" y2="{middle}"/>'
            )
        name = "sure" if bar.is_sure else "unsure" if bar.low is not None else "alone"
        parts.append(f'<g class="{name}">{hint}{inside}<circle cx="{at(bar.value):.1f}" cy="{middle}" r="4"/></g>')
        parts.append(_text(left + plot + 12, middle + 4, bar.text, "start"))
    return _svg(figure.caption, left + plot + texts, bottom + 42, parts)


def scale_of(bars: Sequence[Bar]) -> tuple[float, float, list[float]]:
    """Return both ends of an axis that includes 0, and its ticks at round numbers."""
    ends = [one for bar in bars for one in (bar.value, bar.low, bar.high) if one is not None]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    if high - low < 1e-9:
        low, high = low - 1.0, high + 1.0
    step = round_step((high - low) / 5)
    first, last = math.floor(low / step), math.ceil(high / step)
    return first * step, last * step, [round(number * step, 12) for number in range(first, last + 1)]


def _wrapped(text: str, width: int) -> list[str]:
    """Return a heading in at most three lines of ``width`` letters; longer words are shortened in the middle."""
    lines: list[str] = []
    for word in _WORDS.findall(one_line(text, 200)):
        if lines and len(lines[-1]) + len(word.rstrip()) <= width:
            lines[-1] += word
        else:
            lines.append(word)
    lines = [shortened(line.strip(), width) for line in lines] or [""]
    return lines if len(lines) <= _HEAD_LINES else [*lines[: _HEAD_LINES - 1], "…"]


def strips(figure: Strips) -> str:
    left = _left(row.label for row in figure.rows)
    count = max((len(row.columns) for row in figure.rows), default=0)
    each = min(_WIDEST, _STRIP_WIDE / max(1, count))
    wide = each * count
    parts = []
    for number, row in enumerate(figure.rows):
        bottom = 8 + (_HIGH + _GAP) * number + _HIGH
        parts.append(_text(left - 10, bottom - _HIGH / 2 + 4, shortened(row.label, _MOST_LABEL), "end"))
        parts += [_line("grid", left, left + wide, bottom - _HIGH * share) for share in figure.lines]
        drawn: dict[str, list[str]] = {}
        for place, column in enumerate(row.columns):
            if column is not None:
                share, tone = column
                # A share of 0 has a visible height, to distinguish it from a gap.
                high = max(1.5, _HIGH * min(1.0, max(0.0, share)))
                at = left + each * place
                across = max(1.0, each - 1) if each >= 4 else each
                drawn.setdefault(tone, []).append(f"M{at:.1f} {bottom:.1f}v{-high:.1f}h{across:.2f}v{high:.1f}z")
        parts += [f'<path class="{e(tone or "value")}" d="{"".join(paths)}"/>' for tone, paths in drawn.items()]
        parts.append(_line("base", left, left + wide, bottom))
        parts.append(_text(left + wide + 12, bottom - _HIGH / 2 + 4, row.text, "start", "soft"))
    texts = 24 + LETTER * max((len(row.text) for row in figure.rows), default=0)
    return _svg(figure.caption, left + wide + texts, 8 + (_HIGH + _GAP) * len(figure.rows), parts, figure.description)


def histograms(figure: Histograms) -> str:
    """Return histograms below one another on one axis; bars that are wide enough show their counts."""
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
        parts.append(_text(at(tick), bottom + 16, f"{tick:g}", "middle", "soft"))
    parts.append(_text(left + _PLOT_WIDE / 2, bottom + 34, figure.axis, "middle", "soft"))
    for number, row in enumerate(figure.rows):
        base = 8 + (_HIGH + _GAP) * (number + 1)
        most = max((one.count for one, _ in row.bins), default=0)
        parts.append(_text(left - 10, base - _HIGH / 2 + 4, shortened(row.label, _MOST_LABEL), "end"))
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
                counts.append(_text(start + wide / 2, base - high - 4, f"{one.count:,}", "middle", "count"))
        parts.append(_line("base", left, left + _PLOT_WIDE, base))
        if row.mean is not None:
            x = at(row.mean)
            parts.append(f'<line class="mean" x1="{x:.1f}" x2="{x:.1f}" y1="{base - _HIGH:.1f}" y2="{base + 4:.1f}"/>')
        # The counts are drawn after the line of the mean, so that they stay readable where it crosses them.
        parts += counts
        parts.append(_text(left + _PLOT_WIDE + 16, base - _HIGH / 2 + 4, row.text, "start", "soft"))
    texts = 30 + LETTER * max((len(row.text) for row in figure.rows), default=0)
    return _svg(figure.caption, left + _PLOT_WIDE + texts, bottom + 42, parts, figure.description)


def _left(labels: Iterable[str]) -> float:
    return 16 + LETTER * max((len(shortened(label, _MOST_LABEL)) for label in labels), default=0)


def _line(kind: str, start: float, end: float, y: float) -> str:
    return f'<line class="{kind}" x1="{start:.1f}" x2="{end:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'


def _text(x: float, y: float, words: str, anchor: str, kind: str = "") -> str:
    name = f' class="{kind}"' if kind else ""
    return f'<text{name} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{e(words)}</text>'


def _svg(caption: str, width: float, height: float, parts: Sequence[str], description: str = "") -> str:
    """Return a figure with its caption; ``description`` describes it for screen readers."""
    # The width is in px rather than in % of the page, so that letters have a constant size; a wide figure scrolls.
    return (
        f'<figure><div class="wide"><svg role="img" aria-label="{e(" ".join(filter(None, (caption, description))))}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}">{"".join(parts)}</svg></div>'
        f"<figcaption>{e(caption)}</figcaption></figure>\n"
    )
