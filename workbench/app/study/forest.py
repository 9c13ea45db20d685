"""A forest plot in text: a row per repository or case, its difference as a dot on its interval, zero as an upright line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.app.toolkit.virtual_view import Part

_LEAST = 11


@dataclass(frozen=True, slots=True)
class Scale:
    """From where to where the plot goes; zero always lies in it."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Scale:
        """Return the scale on which all values have their place."""
        known = [0.0, *(one for one in values if one is not None)]
        low, high = min(known), max(known)
        return cls(low, high) if high > low else cls(-1.0, 1.0)

    def cell(self, value: float, width: int) -> int:
        """Return in which of ``width`` cells a value lies."""
        share = (value - self.low) / (self.high - self.low)
        return min(width - 1, max(0, round(share * (width - 1))))


def forest_row(
    value: float | None, low: float | None, high: float | None, scale: Scale, width: int, dot: str = "●"
) -> list[Part]:
    """Return the plot of one difference in ``width`` cells; without bounds the dot stands alone."""
    signs = [" "] * width
    zero = scale.cell(0.0, width)
    signs[zero] = "│"
    if low is not None and high is not None:
        first, last = scale.cell(low, width), scale.cell(high, width)
        for at in range(first, last + 1):
            signs[at] = "┼" if at == zero else "─"
        if last > first:
            signs[first], signs[last] = "├", "┤"
    if value is not None:
        signs[scale.cell(value, width)] = dot
    return _in_styles(signs, dot)


def axis_row(low: str, high: str, scale: Scale, width: int) -> str:
    """Return the ends of the scale, and zero where it has room between them."""
    text = f"{low}{high.rjust(width - len(low))}" if len(low) + len(high) < width else ""
    zero = scale.cell(0.0, width)
    if text[max(0, zero - 1) : zero + 2].strip():
        return text
    return text[:zero] + "0" + text[zero + 1 :]


def room_for_plot(width: int, names: int, figures: int) -> int:
    """Return how many cells the plot has beside names and figures, 0 where these need all of them."""
    room = width - names - figures
    return room if room >= _LEAST else 0


def _in_styles(signs: list[str], dot: str) -> list[Part]:
    parts: list[Part] = []
    for sign in signs:
        style = "marked" if sign == dot else "rule" if sign in "│ " else "bar"
        if parts and parts[-1][1] == style:
            parts[-1] = parts[-1][0] + sign, style
        else:
            parts.append((sign, style))
    return parts
