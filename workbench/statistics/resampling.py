"""Bootstrap means of clusters, many at once; the only place that draws a bootstrap. Imports numpy."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from workbench.statistics.rankings import EQUAL, RankedTask, by_repository_of

_CHUNK = 4_000_000


def resampled_means(totals: Sequence[Sequence[float]], sizes: Sequence[float], resamples: int, seed: int) -> Any:
    """Return an array with a row per resample and a column per series: the series' mean over the clusters drawn.

    ``totals`` are the sums of each cluster by series, and ``sizes`` are the clusters' weights. Raises ValueError if
    there are no clusters.
    """
    import numpy

    if not totals:
        raise ValueError("there is no cluster to draw")
    rng = numpy.random.default_rng(seed)
    values, weights = numpy.asarray(totals, dtype=float), numpy.asarray(sizes, dtype=float)
    count = len(weights)
    at_once = max(1, _CHUNK // count)
    found = []
    for begin in range(0, resamples, at_once):
        ways = min(at_once, resamples - begin)
        drawn = rng.integers(0, count, (ways, count))
        drawn += numpy.arange(ways)[:, None] * count
        times = numpy.bincount(drawn.ravel(), minlength=ways * count).reshape(ways, count)
        found.append((times @ values) / (times @ weights)[:, None])
    return numpy.concatenate(found)


def can_be_drawn(tasks: Iterable[RankedTask]) -> bool:
    """Return whether resamples can differ, which takes two repositories, or two files of a single repository."""
    found = list(tasks)
    return len({one.repository for one in found}) > 1 or len({one.file for one in found}) > 1


def drawn_orders(tasks: Iterable[RankedTask], *, resamples: int, seed: int = 0) -> Callable[[str, str], float]:
    """Return a function of two systems that returns the share of resamples in which the first is strictly better.

    Repositories are drawn, or files if there is only one repository. Raises ValueError if there are no tasks.
    """
    found = list(tasks)
    systems = sorted(found[0].values) if found else []
    groups = by_repository_of(found)
    alone = len(groups) == 1
    if alone:
        groups = defaultdict(list)
        for one in found:
            groups[one.file].append(one)
    totals, sizes = [], []
    for _, mine in sorted(groups.items()):
        size = len(mine)
        sums = [math.fsum(one.values[name] for one in mine) for name in systems]
        totals.append(sums if alone else [total / size for total in sums])
        sizes.append(float(size) if alone else 1.0)
    means = resampled_means(totals, sizes, resamples, seed)
    place = {name: number for number, name in enumerate(systems)}
    return lambda better, worse: float((means[:, place[better]] - means[:, place[worse]] > EQUAL).mean())
