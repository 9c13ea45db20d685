"""Glyphs, numbers and times of the Regeneration mode as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.glyphs import CANCELLED, RUNNING, VERDICTS, WAITING

if TYPE_CHECKING:
    from workbench.results.samples import SampleState

_SIGNS = VERDICTS | {"running": RUNNING, "waiting": WAITING, "cancelled": CANCELLED}
STYLES = {word: "unscored" if word == "error" else word for word in VERDICTS} | {
    "running": "running",
    "waiting": "waiting",
    "cancelled": "waiting",
}
"""Style of a sample by its word: the same names as the theme's ``verdict-…`` colours."""
NOTHING = "–"
_BARS = "▁▂▃▄▅▆▇█"


def cell_of(sample: SampleState) -> tuple[str, str]:
    """Return the sign of a sample and its style."""
    return _SIGNS[sample.word], STYLES[sample.word]


def share(value: float | None) -> str:
    """Return a rate of 0 to 1 with two decimals, as pass@k is written."""
    return NOTHING if value is None else f"{value:.2f}"


def percent(value: float | None) -> str:
    """Return a share of 0 to 1 in percent; 99.6 % is not 100 %."""
    if value is None:
        return NOTHING
    rounded = round(100 * value)
    return f"{99 if rounded == 100 and value < 1 else rounded} %"


def sparkline(values: Sequence[float]) -> str:
    """Return a bar per value between 0 and 1."""
    return "".join(_BARS[min(len(_BARS) - 1, max(0, int(value * len(_BARS))))] for value in values)


def pace(per_second: float) -> str:
    """Return a rate for reading: ``4.2/s``, ``7/min``."""
    return f"{per_second:.1f}/s" if per_second >= 0.95 else f"{max(1, round(60 * per_second))}/min"


def took(seconds: float | None) -> str:
    """Return how long a test took, with the digits that matter."""
    if seconds is None:
        return ""
    if seconds < 0.0095:
        return f"{seconds * 1000:.1f} ms"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:,.0f} s"


def plural(count: int, what: str) -> str:
    """Return ``1 task`` or ``3,000 tasks``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def test_name(test_id: str) -> str:
    """Return what follows the file in a test id: ``test_a`` of ``tests/test_x.py::test_a``."""
    return test_id.partition("::")[2] or test_id
