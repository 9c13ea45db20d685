"""Means of clusters drawn with replacement, many at once; the only place where a bootstrap is drawn. Imports numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_CHUNK = 4_000_000


def resampled_means(totals: Sequence[Sequence[float]], sizes: Sequence[float], resamples: int, seed: int) -> Any:
    """Return an array of ``resamples`` rows and a column for each series: its mean over clusters drawn with replacement.

    Args:
        totals: For each cluster the sums of its values, one for each series.
        sizes: The weight of each cluster in the mean.
        resamples: How often to draw.
        seed: Of the draws; the same one gives the same means.

    Raises:
        ValueError: there is no cluster.
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
