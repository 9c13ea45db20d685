"""Values of tasks in clusters, and intervals for means of shares and differences, with a description of the method.

A mean over several repositories varies with the choice of repositories. A mean within one repository varies with its
files, because tasks of a file are similar, and a mean within one file varies with its tasks. The cluster is the
coarsest of these units with more than one member.

A share (pass@k) gets Wilson's score interval with the effective number of clusters in place of the number of trials and
Student's quantile in place of the normal one, as in survey statistics (Dean and Pagano 2015; Franco et al. 2019). This
interval stays within 0 and 1 and leans away from the nearer bound. A few clusters near a bound underestimate the
spread, because rare values are unlikely to be among them, so a part of the possible spread is added (:data:`UNSEEN`).
Nothing is random, so equal data give equal intervals. ``tests/benchmarks/interval_coverage.py`` prints how often the
intervals contain the true mean.
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist

PLURALS = {"repository": "repositories", "file": "files", "task": "tasks", "case": "cases", "trial": "trials"}
OF_TRIALS = {"repository": "case", "file": "case", "task": "trial", "": ""}
"""Names of the clusters of trials that correspond to the clusters of tasks."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value of one task."""

    repository: str
    file: str
    value: float


@dataclass(frozen=True, slots=True)
class ClusteredValues:
    """Values of tasks by cluster."""

    unit: str  # ``repository``, ``file`` or ``task``; "" without values
    totals: tuple[float, ...]  # sum of the values of each cluster
    sizes: tuple[float, ...]  # weight in the mean: 1 for repositories, otherwise the number of tasks
    tasks: int  # total number of tasks

    @property
    def count(self) -> int:
        return len(self.totals)

    @property
    def mean(self) -> float:
        """The mean of the repositories' means, or of all tasks within one repository; 0.0 without values."""
        return math.fsum(self.totals) / math.fsum(self.sizes) if self.totals else 0.0

    @property
    def effective(self) -> float:
        """The effective number of equal clusters (Kish 1965): 1 / sum of squared shares."""
        whole = math.fsum(self.sizes)
        return whole * whole / math.fsum(size * size for size in self.sizes) if self.totals else 0.0

    @property
    def freedom(self) -> float:
        """Degrees of freedom of :attr:`variance`: clusters − 1, or fewer if a few clusters have most of the tasks."""
        return min(self.count - 1.0, self.effective)

    @property
    def variance(self) -> float:
        """Variance of the mean between clusters, corrected for their leverage (CR2; Bell and McCaffrey 2002).

        With clusters of equal size it is the usual s²/n. Raises ZeroDivisionError if there is only one cluster.
        """
        mean, whole = self.mean, math.fsum(self.sizes)
        squares = (
            (total - mean * size) ** 2 / (1 - size / whole) for total, size in zip(self.totals, self.sizes, strict=True)
        )
        return math.fsum(squares) / (whole * whole)

    @property
    def equal(self) -> bool:
        """Whether all clusters have the same mean, so that there is no variation between them."""
        means = [total / size for total, size in zip(self.totals, self.sizes, strict=True)]
        return bool(means) and max(means) - min(means) < 1e-12


def clusters_of(values: Iterable[Value]) -> ClusteredValues:
    """Cluster values by the coarsest unit (repository, file or task) that has more than one member."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    tasks = 0
    for one in values:
        found[one.repository][one.file].append(one.value)
        tasks += 1
    if not tasks:
        return ClusteredValues("", (), (), 0)
    if len(found) > 1:
        means = sorted(_mean([value for of_file in files.values() for value in of_file]) for files in found.values())
        return ClusteredValues("repository", tuple(means), (1.0,) * len(means), tasks)
    (files,) = found.values()
    if len(files) > 1:
        pairs = sorted((math.fsum(of_file), len(of_file)) for of_file in files.values())
        return ClusteredValues(
            "file", tuple(total for total, _ in pairs), tuple(float(size) for _, size in pairs), tasks
        )
    (alone,) = files.values()
    return ClusteredValues("task", tuple(sorted(alone)), (1.0,) * len(alone), tasks)


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)  # fsum, because the order of the tasks must not matter


_TINY = 1e-300
_CLOSE = 1e-15
_MOST_TERMS = 10_000


def normal_quantile(share: float) -> float:
    """Return the value below which ``share`` of the standard normal distribution lies."""
    if not 0 < share < 1:
        raise ValueError("the share of a quantile must be between 0 and 1")
    return NormalDist().inv_cdf(share)


def student_tail(value: float, freedom: float) -> float:
    """Return the share of Student's distribution above ``value``; ``freedom`` need not be an integer."""
    if freedom <= 0:
        raise ValueError("Student's distribution needs more than 0 degrees of freedom")
    half = _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + value * value)) / 2
    return half if value >= 0 else 1 - half


@functools.lru_cache(maxsize=4096)
def student_quantile(share: float, freedom: float) -> float:
    """Return the value below which ``share`` of Student's distribution lies, by bisection of its tail."""
    if not 0 < share < 1:
        raise ValueError("the share of a quantile must be between 0 and 1")
    if share < 0.5:
        return -student_quantile(1 - share, freedom)
    low, high = 0.0, 1.0
    while student_tail(high, freedom) > 1 - share:
        low, high = high, high * 4
    while high - low > 1e-12 * max(1.0, high):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if student_tail(middle, freedom) > 1 - share else (low, middle)
    return (low + high) / 2


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function (Abramowitz and Stegun 26.5.8, with Lentz's method)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    scale = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    numerator, denominator = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = denominator
    for step in range(1, _MOST_TERMS):
        for term in (
            step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step)),
            -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1)),
        ):
            denominator = 1 / _not_zero(1 + term * denominator)
            numerator = _not_zero(1 + term / numerator)
            factor = numerator * denominator
            value *= factor
        if abs(factor - 1) < _CLOSE:
            break
    return scale * value


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


LEVEL = 0.95
FEWEST = 3
"""Minimum number of clusters for an interval; with one degree of freedom, Student's would span all possible values."""
FEWEST_EFFECTIVE = 1.3
"""Minimum effective number of clusters, which excludes a single cluster with nearly all tasks."""
UNSEEN = 0.002
"""Share of the possible spread added per effective cluster (at most 20), decreasing with the distance from 0 and 1."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds of a mean, or None if there are too few clusters."""

    low: float | None
    high: float | None
    unit: str  # the unit by which the mean varies: ``repository``, ``file`` or ``task``; "" without tasks
    units: int  # number of units
    certain: bool = False  # all values are the same, so the certainty depends only on their number
    lopsided: bool = False  # no bounds, because one unit has nearly all tasks
    difference: bool = False  # whether it is for a difference

    @property
    def over(self) -> str:
        """The basis of the bounds, ``over 12 files``, or "" without bounds."""
        return "" if self.low is None else f"over {self.units:,} {PLURALS[self.unit]}"

    @property
    def words(self) -> str:
        """A sentence on the method and the unit, or on why there is no interval."""
        if not self.unit:
            return "No interval: no task has enough samples."
        count = f"{self.units:,} {PLURALS[self.unit] if self.units != 1 else self.unit}"
        if self.low is None:
            if self.lopsided:
                return f"No interval: one of {count} contains nearly all tasks."
            if self.units >= FEWEST:
                return f"No interval: all of {count} have the same difference, which shows no spread."
            alike = "; tasks of one file are similar and are no substitute" if self.unit == "file" else ""
            return f"No interval: {count} {'are' if self.units != 1 else 'is'} too few ({FEWEST} are needed){alike}."
        if self.certain:
            return f"95 % interval (Wilson) over {count}, which all have the same value."
        if self.difference:
            return f"95 % interval (Student's) by the spread of the differences between {count}."
        inside = " of one file, and of that file only" if self.unit == "task" else ""
        return f"95 % interval (Wilson's with Student's quantile) by the spread between {count}{inside}."


def share_interval(values: Iterable[Value], *, level: float = LEVEL) -> Interval:
    """Return the interval of a mean share (0 to 1 by task).

    The mean is unweighted over repositories, or over tasks if there is only one repository.
    """
    return share_interval_of(clusters_of(values), level=level)


def share_interval_of(clusters: ClusteredValues, *, level: float = LEVEL) -> Interval:
    """Return :func:`share_interval` for shares that are already summed by cluster."""
    if (none := _too_few(clusters, difference=False)) is not None:
        return none
    mean, size = min(1.0, max(0.0, clusters.mean)), clusters.effective
    possible = mean * (1 - mean)
    if clusters.equal or possible < 1e-12:
        low, high = wilson(mean, size, normal_quantile((1 + level) / 2))
        return Interval(low, high, clusters.unit, clusters.count, certain=True)
    # The spread relative to the maximum for a share, which is 1 if all clusters are 0 or 1.
    seen = min(1.0, clusters.variance * size / possible)
    unseen = UNSEEN * min(20.0, size) * math.exp(-size * min(mean, 1 - mean) / 2)
    spread = seen + (1 - seen) * unseen
    low, high = wilson(mean, size / spread, student_quantile((1 + level) / 2, clusters.freedom))
    return Interval(low, high, clusters.unit, clusters.count)


def difference_interval(values: Iterable[Value], *, level: float = LEVEL) -> Interval:
    """Return the interval of a mean of paired differences by task, weighted as in :func:`share_interval`.

    It is Student's interval with a cluster-robust variance. If all clusters have the same difference, it has no bounds.
    """
    clusters = clusters_of(values)
    if (none := _too_few(clusters, difference=True)) is not None:
        return none
    if clusters.equal:
        return Interval(None, None, clusters.unit, clusters.count, certain=True, difference=True)
    half = student_quantile((1 + level) / 2, clusters.freedom) * math.sqrt(clusters.variance)
    return Interval(clusters.mean - half, clusters.mean + half, clusters.unit, clusters.count, difference=True)


def _too_few(clusters: ClusteredValues, *, difference: bool) -> Interval | None:
    if clusters.count < FEWEST:
        return Interval(None, None, clusters.unit, clusters.count, difference=difference)
    if clusters.effective < FEWEST_EFFECTIVE:
        return Interval(None, None, clusters.unit, clusters.count, lopsided=True, difference=difference)
    return None


def wilson(share: float, size: float, quantile: float) -> tuple[float, float]:
    """Return Wilson's score interval (1927) for a share of ``size`` trials, which need not be an integer."""
    square = quantile * quantile
    middle = (share + square / (2 * size)) / (1 + square / size)
    half = quantile / (1 + square / size) * math.sqrt(share * (1 - share) / size + square / (4 * size * size))
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))


def newcombe(
    passed: int, samples: int, passed_after: int, samples_after: int, *, level: float = LEVEL
) -> tuple[float, float] | None:
    """Return the interval of second − first for independent shares (Newcombe 1998, method 10), or None with too few."""
    if min(samples, samples_after) < FEWEST:
        return None
    quantile = normal_quantile((1 + level) / 2)
    before, after = passed / samples, passed_after / samples_after
    low, high = wilson(before, samples, quantile)
    low_after, high_after = wilson(after, samples_after, quantile)
    difference = after - before
    return (
        difference - math.hypot(after - low_after, high - before),
        difference + math.hypot(high_after - after, before - low),
    )
