"""Figures of a study in words: one way of writing a mean with its interval, a difference, a share, a p-value."""

from __future__ import annotations

from workbench.studies.declaration import in_points
from workbench.studies.outcome import Cell, Mean

NOTHING = "–"


def digits_of(measure: str) -> int:
    """Return how many decimals a mean of a measure is written with: points of 100 have one, shares two."""
    return 1 if in_points(measure) else 2


def mean_words(mean: Mean, measure: str) -> str:
    """Return ``0.58 [0.41, 0.73]``, without bounds where there are none."""
    if mean.value is None:
        return NOTHING
    digits = digits_of(measure)
    bounds = ""
    if mean.interval.low is not None and mean.interval.high is not None:
        bounds = f" [{mean.interval.low:.{digits}f}, {mean.interval.high:.{digits}f}]"
    return f"{mean.value:.{digits}f}{bounds}"


def cell_words(cell: Cell, measure: str) -> str:
    """Return a cell's mean and, unless it is done, how it stands."""
    shown = mean_words(cell.means[measure], measure)
    if cell.state == "done":
        return shown
    planned = "?" if cell.planned is None else f"{cell.planned:,}"
    return f"{shown} ({cell.state}, {cell.done:,} of {planned})" if cell.done else cell.state


def difference_words(value: float, low: float | None, high: float | None, measure: str) -> str:
    """Return ``+0.050 [−0.010, +0.110]``; a difference has one decimal more than a mean of shares."""
    digits = 1 if in_points(measure) else 3
    bounds = "" if low is None or high is None else f" [{signed(low, digits)}, {signed(high, digits)}]"
    return signed(value, digits) + bounds


def chance_words(p: float | None) -> str:
    """Return a p-value with four decimals; one below them is not 0."""
    return NOTHING if p is None else f"{p:.4f}" if p >= 0.00005 else "< 0.0001"


def figure(value: float | None, digits: int) -> str:
    """Return a number, or that there is none."""
    return NOTHING if value is None else f"{value:.{digits}f}"


def signed(value: float, digits: int) -> str:
    """Return a number with its sign; one that is rounded to zero has none."""
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text.replace("-", "−")


def percent(value: float | None) -> str:
    """Return a share as a percentage."""
    return NOTHING if value is None else f"{100 * value:.0f} %"


def dollars(value: float | None) -> str:
    """Return a price in US dollars, without a sign that Markdown takes for mathematics; requests cost fractions of a cent."""
    return NOTHING if value is None else f"{value:,.4f} USD" if value else "0 USD"
