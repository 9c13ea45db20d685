"""Values of tasks in clusters, and how uncertain the mean of such values is.

A mean over several repositories varies with which repositories there are; a mean within one with its files, for tasks
of a file are alike; if all are in one file, with its tasks. The unit is the coarsest of these of which there are
several.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

PLURALS = {"repository": "repositories", "file": "files", "task": "tasks", "case": "cases", "trial": "trials"}
OF_TRIALS = {"repository": "case", "file": "case", "task": "trial", "": ""}
"""What clusters of trials are, where those of tasks are repositories, files and tasks."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value of one task."""

    repository: str
    file: str
    value: float


@dataclass(frozen=True, slots=True)
class Clusters:
    """Values of tasks by cluster."""

    unit: str  # ``repository``, ``file`` or ``task``; "" without a value
    totals: tuple[float, ...]  # sum of the values of each cluster
    sizes: tuple[float, ...]  # weight in the mean: 1 for repositories, else the number of tasks
    tasks: int  # in all of them

    @property
    def count(self) -> int:
        return len(self.totals)

    @property
    def mean(self) -> float:
        """The mean of repositories' means, or of all tasks within one repository; 0.0 without any."""
        return math.fsum(self.totals) / math.fsum(self.sizes) if self.totals else 0.0

    @property
    def effective(self) -> float:
        """The effective number of equal clusters (Kish 1965): 1 / sum of squared shares."""
        whole = math.fsum(self.sizes)
        return whole * whole / math.fsum(size * size for size in self.sizes) if self.totals else 0.0

    @property
    def freedom(self) -> float:
        """Degrees of freedom of :attr:`variance`: clusters − 1, fewer if few of them hold most tasks."""
        return min(self.count - 1.0, self.effective)

    @property
    def variance(self) -> float:
        """Variance of the mean between clusters, corrected for their leverage (CR2; Bell and McCaffrey 2002).

        With clusters of equal size it is the usual s²/n. ZeroDivisionError: there is one cluster only.
        """
        mean, whole = self.mean, math.fsum(self.sizes)
        squares = (
            (total - mean * size) ** 2 / (1 - size / whole) for total, size in zip(self.totals, self.sizes, strict=True)
        )
        return math.fsum(squares) / (whole * whole)

    @property
    def equal(self) -> bool:
        """Whether all clusters have the same mean, so that nothing varies between them."""
        means = [total / size for total, size in zip(self.totals, self.sizes, strict=True)]
        return bool(means) and max(means) - min(means) < 1e-12


def clusters_of(values: Iterable[Value]) -> Clusters:
    """Return values by the coarsest unit of which there are several; in no order that matters."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    tasks = 0
    for one in values:
        found[one.repository][one.file].append(one.value)
        tasks += 1
    if not tasks:
        return Clusters("", (), (), 0)
    if len(found) > 1:
        means = sorted(_mean([value for of_file in files.values() for value in of_file]) for files in found.values())
        return Clusters("repository", tuple(means), (1.0,) * len(means), tasks)
    (files,) = found.values()
    if len(files) > 1:
        pairs = sorted((math.fsum(of_file), len(of_file)) for of_file in files.values())
        return Clusters("file", tuple(total for total, _ in pairs), tuple(float(size) for _, size in pairs), tasks)
    (alone,) = files.values()
    return Clusters("task", tuple(sorted(alone)), (1.0,) * len(alone), tasks)


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)  # fsum: the order of the tasks must not matter
