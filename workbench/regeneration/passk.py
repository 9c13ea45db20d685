"""The unbiased estimator of pass@k (Chen et al. 2021) and its means.

With m samples, c of which pass, pass@k = 1 − C(m−c, k) / C(m, k). For k > m it is undefined, never 1. A repository's
value is the mean over its tasks, and the overall value is the unweighted mean over repositories, as in the paper.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.statistics.intervals import LEVEL, Interval, Value, share_interval


@dataclass(frozen=True, slots=True)
class TaskCount:
    """The counts of one task: ``samples`` (m) and ``passed`` (c)."""

    task: str
    repository: str
    file: str
    samples: int
    passed: int


@dataclass(frozen=True, slots=True)
class PassEstimate:
    """A mean pass@k over ``tasks``; ``undefined`` tasks have fewer than k samples.

    ``value`` is None if all tasks are undefined.
    """

    k: int
    value: float | None
    tasks: int
    undefined: int
    interval: Interval | None = None  # present if requested; its bounds are None if there are too few clusters

    @property
    def low(self) -> float | None:
        return self.interval.low if self.interval else None

    @property
    def high(self) -> float | None:
        return self.interval.high if self.interval else None


def pass_at_k(samples: int, passed: int, k: int) -> float | None:
    """Return the unbiased pass@k of one task, or None if k > samples. Raises ValueError for inconsistent arguments."""
    if k < 1:
        raise ValueError("k must be at least 1")
    if not 0 <= passed <= samples:
        raise ValueError("passed must lie between 0 and samples")
    if k > samples:
        return None
    if samples - passed < k:
        return 1.0
    # The product form of 1 − C(m−c, k) / C(m, k) avoids huge binomial coefficients.
    return 1.0 - math.prod(1.0 - k / i for i in range(samples - passed + 1, samples + 1))


def summarise(
    counts: Iterable[TaskCount], ks: Sequence[int], *, interval: float | None = None
) -> dict[int, PassEstimate]:
    """Return the mean of the repositories' pass@k for each k, with a confidence interval of level ``interval``."""
    rows = list(counts)
    repositories: dict[str, list[TaskCount]] = defaultdict(list)
    for row in rows:
        repositories[row.repository].append(row)
    overall: dict[int, PassEstimate] = {}
    for k in ks:
        means = [mean_over_tasks(group, k) for _, group in sorted(repositories.items())]
        defined = [one.value for one in means if one.value is not None]
        tasks = sum(one.tasks for one in means)
        bounds = None if interval is None else interval_of(rows, k, level=interval)
        overall[k] = PassEstimate(k, _mean(defined), tasks, len(rows) - tasks, bounds)
    return overall


def interval_of(counts: Iterable[TaskCount], k: int, *, level: float = LEVEL) -> Interval:
    """Return the confidence interval of the overall pass@k for tasks with at least k samples."""
    shares = ((row, pass_at_k(row.samples, row.passed, k)) for row in counts)
    return share_interval(
        (Value(row.repository, row.file, share) for row, share in shares if share is not None), level=level
    )


def mean_over_tasks(rows: Sequence[TaskCount], k: int) -> PassEstimate:
    """Return the unweighted mean pass@k of tasks, without an interval."""
    values = [pass_at_k(row.samples, row.passed, k) for row in rows]
    defined = [value for value in values if value is not None]
    return PassEstimate(k, _mean(defined), len(defined), len(values) - len(defined))


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
