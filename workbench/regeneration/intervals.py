"""Intervals around a mean pass@k: what is drawn, how, and in which words that is said.

The percentile bootstrap over clusters, with its percentiles moved outwards for the number of clusters: Hesterberg (2015),
"What teachers should know about the bootstrap", section 3.2, expanded percentiles. Without that, 5 clusters cover .82 and
10 cover .90 instead of .95. Where all clusters have the same value nothing can be drawn, and the interval is Wilson's.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.regeneration.passk import TaskCount

LEVEL = 0.95
RESAMPLES = 2000
FEWEST = 5
"""Fewer clusters than this give no interval: whatever is drawn from them says more of the draw than of the data."""
_MAX_DRAWS = 8_000_000  # about a second; more tasks than 4,000 get fewer resamples
_PLURALS = {"repository": "repositories", "file": "files", "task": "tasks"}

_Cluster = tuple[float, int]  # sum of the values of its tasks, number of these


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds of a mean, None where there are too few clusters for any.

    Attributes:
        low: The lower bound.
        high: The upper bound.
        unit: What is drawn with replacement: ``repository``, ``file`` or ``task``; "" where there is no task at all.
        units: How many of these there are.
        certain: Whether all have the same value, so that the bounds are Wilson's and nothing was drawn.
    """

    low: float | None
    high: float | None
    unit: str
    units: int
    certain: bool = False

    @property
    def over(self) -> str:
        """Return what the bounds rest on in two words, ``over 12 files``; "" where there are none."""
        return "" if self.low is None else f"over {self.units:,} {_PLURALS[self.unit]}"

    @property
    def words(self) -> str:
        """Return a sentence on what was drawn, or why there is no interval."""
        if not self.unit:
            return "No interval: no task has enough samples."
        count = f"{self.units:,} {_PLURALS[self.unit] if self.units != 1 else self.unit}"
        if self.low is None:
            return (
                f"No interval: {count} {'are' if self.units != 1 else 'is'} too few to draw from ({FEWEST} are needed)."
            )
        if self.certain:
            return f"95 % interval (Wilson) over {count}, which all have the same value."
        return f"95 % bootstrap interval, {_PLURALS[self.unit]} drawn with replacement from {count}."


def interval_of(counts: Iterable[TaskCount], k: int, *, level: float = LEVEL, resamples: int = RESAMPLES) -> Interval:
    """Return the interval of the overall pass@k (unweighted mean over repositories, over tasks within one).

    Whole repositories are drawn where there are several; within one its files, for their tasks are alike; single tasks
    where it has fewer than :data:`FEWEST` files. Equal tasks give an equal interval, in whatever order they come: they
    are sorted, and the seed of the draw follows from them.

    Args:
        counts: The tasks; those with fewer than k samples are left out.
        k: The k of pass@k.
        level: Coverage, for example 0.95.
        resamples: How often to draw; lowered for very many tasks so that it stays at about a second.
    """
    from workbench.regeneration.passk import pass_at_k

    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in counts:
        value = pass_at_k(row.samples, row.passed, k)
        if value is not None:
            found[row.repository, row.file].append(value)
    if not found:
        return Interval(None, None, "", 0)
    unit, clusters = _clusters(found)
    clusters.sort()
    size = len(clusters)
    if size < FEWEST:
        return Interval(None, None, unit, size)
    means = {total / tasks for total, tasks in clusters}
    if len(means) == 1:
        return Interval(*_wilson(means.pop(), size, level), unit, size, certain=True)
    rng = random.Random(_seed(clusters, k, level))
    draw = _draw(clusters, equal_weight=unit != "file")
    drawn = sorted(draw(rng) for _ in range(max(200, min(resamples, _MAX_DRAWS // size))))
    outside = NormalDist().cdf(-_t_quantile((1 + level) / 2, size - 1) * math.sqrt(size / (size - 1)))
    return Interval(_percentile(drawn, outside), _percentile(drawn, 1 - outside), unit, size)


def _clusters(found: dict[tuple[str, str], list[float]]) -> tuple[str, list[_Cluster]]:
    by_repository: dict[str, list[float]] = defaultdict(list)
    for (repository, _), values in found.items():
        by_repository[repository] += values
    if len(by_repository) > 1:
        return "repository", [_cluster(values) for values in by_repository.values()]
    if len(found) >= FEWEST:
        return "file", [_cluster(values) for values in found.values()]
    return "task", [(value, 1) for values in found.values() for value in values]


def _cluster(values: list[float]) -> _Cluster:
    return math.fsum(values), len(values)  # fsum: the order of the tasks must not matter


def _seed(clusters: list[_Cluster], k: int, level: float) -> int:
    text = json.dumps([clusters, k, level])
    return int.from_bytes(hashlib.sha256(text.encode("ascii")).digest()[:8], "big")


def _draw(clusters: list[_Cluster], *, equal_weight: bool) -> Callable[[random.Random], float]:
    size = len(clusters)
    if equal_weight:
        means = [total / tasks for total, tasks in clusters]
        return lambda rng: sum(rng.choices(means, k=size)) / size

    def draw(rng: random.Random) -> float:
        chosen = rng.choices(clusters, k=size)
        return sum(total for total, _ in chosen) / sum(tasks for _, tasks in chosen)

    return draw


def _wilson(share: float, size: int, level: float) -> tuple[float, float]:
    """Return Wilson's score interval of a share of ``size`` trials; Wilson (1927)."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle = (share + z * z / (2 * size)) / (1 + z * z / size)
    half = z / (1 + z * z / size) * math.sqrt(share * (1 - share) / size + z * z / (4 * size * size))
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))


def _t_quantile(share: float, freedom: int) -> float:
    """Return Student's quantile by its expansion in the normal one; Abramowitz and Stegun 26.7.5, within 0.01 from 4 on."""
    z = NormalDist().inv_cdf(share)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term / freedom ** float(power) for power, term in enumerate(terms, 1))


def _percentile(ordered: list[float], share: float) -> float:
    """Return the value at ``share`` of a sorted list, between neighbours in proportion."""
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)
