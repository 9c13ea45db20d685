"""Correlation of two values of tasks: Pearson, Spearman and Kendall, each with an interval over files or repositories.

The interval is Student's around Fisher's z by the jackknife over clusters (Efron and Stein 1981), because tasks of a
file are similar, and Fisher's own standard error assumes independent pairs. With fewer than five repositories, files
are left out in turn instead, and the interval is for these repositories only. Imports numpy and scipy.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.statistics.intervals import LEVEL, PLURALS, student_quantile

KINDS = ("pearson", "spearman", "kendall")
FEWEST = 5
"""Minimum number of clusters for an interval."""
MOST_GROUPS = 100
"""Maximum number of jackknife groups; more clusters are merged, because each group requires computing a correlation."""
_CLOSE_TO_ONE = 1 - 1e-9
_MOST_AT_ONCE = 200
_CONSTANT = 1e-6  # 32-bit scores of equal texts differ by less


@dataclass(frozen=True, slots=True)
class Pair:
    """Two values of one task."""

    repository: str
    file: str
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation; ``value`` is None if one side does not vary, and the bounds are None for too few clusters."""

    kind: str  # one of :data:`KINDS`
    value: float | None  # from −1 to 1
    low: float | None  # lower bound of the 95% interval
    high: float | None
    tasks: int
    unit: str  # the unit left out in turn: ``repository``, ``file`` or ``task``
    units: int

    @property
    def words(self) -> str:
        """``0.31 [0.12, 0.48] over 14 files``."""
        if self.value is None:
            return "–"
        over = f"over {self.units:,} {PLURALS[self.unit] if self.units != 1 else self.unit}"
        bounds = "" if self.low is None or self.high is None else f" [{self.low:.2f}, {self.high:.2f}]"
        # A value that is rounded to zero has no sign.
        return re.sub(r"-(?=0\.00(?!\d))", "", f"{self.value:.2f}{bounds} {over}").replace("-", "−")


def correlation(pairs: Sequence[Pair], kind: str, *, level: float = LEVEL) -> Correlation:
    """Return the correlation of one of :data:`KINDS`; ``level`` is the coverage of its interval."""
    import numpy

    measure = _measure(kind)
    unit = _unit(pairs)
    names = [
        (one.repository, "" if unit == "repository" else one.file, n if unit == "task" else 0)
        for n, one in enumerate(pairs)
    ]
    known = {name: number for number, name in enumerate(sorted(set(names)))}
    groups = numpy.array([known[name] % MOST_GROUPS for name in names], dtype=int)
    left, right = (numpy.array([getattr(one, side) for one in pairs], dtype=float) for side in ("left", "right"))
    value = measure(left, right)
    none = Correlation(kind, value, None, None, len(pairs), unit, len(known))
    size = min(len(known), MOST_GROUPS)
    if value is None or size < FEWEST or abs(value) > _CLOSE_TO_ONE:
        return none
    without = [measure(left[groups != number], right[groups != number]) for number in range(size)]
    if any(one is None or abs(one) > _CLOSE_TO_ONE for one in without):
        return none
    scores = numpy.arctanh(numpy.array(without, dtype=float))
    error = math.sqrt((size - 1) / size * float(((scores - scores.mean()) ** 2).sum()))
    half = student_quantile((1 + level) / 2, size - 1) * error
    low, high = (math.tanh(math.atanh(value) + sign * half) for sign in (-1, 1))
    return Correlation(kind, value, low, high, len(pairs), unit, len(known))


def _unit(pairs: Sequence[Pair]) -> str:
    """Return the jackknife unit.

    It is the repository, or the file if there are fewer than :data:`FEWEST` repositories, or the task if there is only
    one file.
    """
    if len({one.repository for one in pairs}) >= FEWEST:
        return "repository"
    return "file" if len({(one.repository, one.file) for one in pairs}) > 1 else "task"


def _measure(kind: str) -> Callable[[Any, Any], float | None]:
    import numpy

    measures = {"pearson": _pearson, "spearman": _spearman, "kendall": _kendall}
    if kind not in measures:
        raise ValueError(f"a correlation is one of {', '.join(KINDS)}")

    def measure(left: Any, right: Any) -> float | None:
        if len(left) < 3 or min(numpy.ptp(left), numpy.ptp(right)) < _CONSTANT:
            return None
        value = measures[kind](left, right)
        return None if math.isnan(value) else value

    return measure


def _pearson(left: Any, right: Any) -> float:
    one, other = left - left.mean(), right - right.mean()
    scale = math.sqrt(float(one @ one) * float(other @ other))
    return max(-1.0, min(1.0, float(one @ other) / scale)) if scale else math.nan


def _spearman(left: Any, right: Any) -> float:
    from scipy.stats import rankdata

    return _pearson(rankdata(left), rankdata(right))


def _kendall(left: Any, right: Any) -> float:
    """Return tau-b; for few tasks it is computed over all pairs at once, ten times as fast as scipy's test."""
    import numpy

    if len(left) > _MOST_AT_ONCE:
        from scipy.stats import kendalltau

        return float(kendalltau(left, right, method="asymptotic").statistic)
    one, other = (numpy.sign(side[:, None] - side[None, :]) for side in (left, right))
    scale = math.sqrt(float((one * one).sum()) * float((other * other).sum()))
    return float((one * other).sum()) / scale if scale else math.nan
