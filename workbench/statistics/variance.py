"""How much of the uncertainty of a mean pass@1 comes from the samples, and how much from the choice of tasks.

Of a task with m samples of which c pass, c/m varies by p(1−p)/m from draw to draw, unbiasedly (c/m)(1−c/m)/(m−1). The
rest of the variance between tasks is theirs: more samples do not lessen it, more tasks do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from workbench.statistics.clusters import Value, clusters_of


@dataclass(frozen=True, slots=True)
class Sampled:
    """Verdicts of one task: ``passed`` of ``samples``."""

    repository: str
    file: str
    samples: int
    passed: int


@dataclass(frozen=True, slots=True)
class Variances:
    """Standard errors of a mean pass@1."""

    mean: float  # over tasks, unweighted over repositories
    sampling: float | None  # by the samples alone; None: a task has one sample only
    total: float | None  # by the choice of ``unit``, samples included; None: there is one only
    unit: str
    tasks: int  # that count

    @property
    def between(self) -> float | None:
        """Standard error by the tasks alone, 0 if the samples explain all; None if one of the two is unknown."""
        if self.sampling is None or self.total is None:
            return None
        return math.sqrt(max(0.0, self.total**2 - self.sampling**2))

    @property
    def share_of_sampling(self) -> float | None:
        """Part of the variance that more samples would take away, from 0 to 1."""
        if self.sampling is None or not self.total:
            return None
        return min(1.0, self.sampling**2 / self.total**2)


def variances(tasks: Iterable[Sampled]) -> Variances | None:
    """Return both standard errors; None without a task that has a sample."""
    found = [one for one in tasks if one.samples > 0]
    if not found:
        return None
    clusters = clusters_of(Value(one.repository, one.file, one.passed / one.samples) for one in found)
    sizes: dict[str, int] = {}
    for one in found:
        sizes[one.repository] = sizes.get(one.repository, 0) + 1
    sampling = None
    if all(one.samples > 1 for one in found):
        own = (
            share * (1 - share) / (one.samples - 1) / (sizes[one.repository] * len(sizes)) ** 2
            for one in found
            for share in [one.passed / one.samples]
        )
        sampling = math.sqrt(math.fsum(own))
    total = math.sqrt(clusters.variance) if clusters.count > 1 else None
    return Variances(clusters.mean, sampling, total, clusters.unit, len(found))
