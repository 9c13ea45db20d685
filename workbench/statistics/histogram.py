"""Counts of values in bins of a round width."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_NEAR = 1e-9
"""A value this close below a bin's end belongs to the next bin: 0.3 / 0.1 is 2.9999999999999996."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The number of values in ``low`` ≤ value < ``high``; the last bin includes its upper end."""

    low: float
    high: float
    count: int


def round_step(least: float) -> float:
    """Return the smallest of 1, 2, 2.5 and 5 times a power of ten that is at least ``least``."""
    if not least > 0:
        raise ValueError("a step is above 0")
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * one for one in (1, 2, 2.5, 5, 10) if power * one >= least * (1 - _NEAR))


def histogram(values: Iterable[float], low: float, high: float, most: int = 20) -> tuple[Bin, ...]:
    """Return at most ``most`` bins from ``low`` to ``high``; values beyond an end are counted in the bin there."""
    if not high > low or most < 1:
        raise ValueError("bins need a lower bound below the upper one, and a positive count")
    width = round_step((high - low) / most)
    counts = [0] * max(1, math.ceil((high - low) / width - _NEAR))
    for value in values:
        counts[min(len(counts) - 1, max(0, math.floor((value - low) / width + _NEAR)))] += 1
    return tuple(
        Bin(round(low + number * width, 12), round(low + (number + 1) * width, 12), count)
        for number, count in enumerate(counts)
    )


def means_of_runs(values: Sequence[float | None], most: int) -> tuple[tuple[float | None, ...], int]:
    """Divide values into at most ``most`` runs, and return the mean of each run (None if unknown) and their length."""
    if most < 1:
        raise ValueError("values need at least one run")
    each = max(1, math.ceil(len(values) / most))
    runs = []
    for start in range(0, len(values), each):
        known = [value for value in values[start : start + each] if value is not None]
        runs.append(math.fsum(known) / len(known) if known else None)
    return tuple(runs), each
