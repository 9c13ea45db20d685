"""pass@k without bias (Chen et al. 2021), its means, and bootstrap intervals around them.

With m samples of which c pass, pass@k = 1 − C(m−c, k) / C(m, k); for k > m it is undefined and never 1. A repository's
value is the mean over its tasks, the overall value the unweighted mean over repositories, as in the paper.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Cluster = Literal["repository", "task"]

RESAMPLES = 2000
_MAX_DRAWS = 8_000_000  # about a second; more tasks than 4,000 get fewer resamples


@dataclass(frozen=True, slots=True)
class TaskCount:
    """The verdicts of one task: ``samples`` drawn (m), ``passed`` of them (c)."""

    task: str
    repository: str
    file: str
    samples: int
    passed: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean pass@k.

    ``value`` is None when no task has k samples; ``tasks`` went into it, ``undefined`` had fewer than k samples and did not.
    ``low`` and ``high`` bound the interval where one was asked for.
    """

    k: int
    value: float | None
    tasks: int
    undefined: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class PassReport:
    """pass@k at every level, each a mapping k → estimate; ``task_weighted`` is the mean over all tasks."""

    overall: Mapping[int, Estimate]
    task_weighted: Mapping[int, Estimate]
    repositories: Mapping[str, Mapping[int, Estimate]]
    files: Mapping[tuple[str, str], Mapping[int, Estimate]]
    tasks: Mapping[str, Mapping[int, float | None]]


def pass_at_k(samples: int, passed: int, k: int) -> float | None:
    """Return the unbiased pass@k of one task; None when k > samples.

    Raises:
        ValueError: when k < 1 or the counts contradict each other.
    """
    if k < 1:
        raise ValueError("k must be at least 1")
    if not 0 <= passed <= samples:
        raise ValueError("passed must lie between 0 and samples")
    if k > samples:
        return None
    if samples - passed < k:
        return 1.0
    # The product form of 1 − C(m−c, k) / C(m, k): no huge binomials.
    return 1.0 - math.prod(1.0 - k / i for i in range(samples - passed + 1, samples + 1))


def summarise(
    counts: Iterable[TaskCount], ks: Sequence[int], *, interval: float | None = None, seed: int = 0
) -> PassReport:
    """Return pass@k for every k of ``ks`` per task, file and repository, and overall.

    ``interval`` (for example 0.95) adds a bootstrap interval to ``overall``: clustered by repository when there are
    several, else by task.
    """
    rows = list(counts)
    per_file: dict[tuple[str, str], list[TaskCount]] = defaultdict(list)
    per_repository: dict[str, list[TaskCount]] = defaultdict(list)
    for row in rows:
        per_file[row.repository, row.file].append(row)
        per_repository[row.repository].append(row)
    repositories = {name: {k: _mean_over_tasks(group, k) for k in ks} for name, group in sorted(per_repository.items())}
    overall: dict[int, Estimate] = {}
    for k in ks:
        values = [each[k].value for each in repositories.values()]
        defined = [value for value in values if value is not None]
        tasks = sum(each[k].tasks for each in repositories.values())
        low = high = None
        if interval is not None and defined:
            low, high = bootstrap_interval(rows, k, level=interval, seed=seed)
        overall[k] = Estimate(k, _mean(defined), tasks, len(rows) - tasks, low, high)
    return PassReport(
        overall=overall,
        task_weighted={k: _mean_over_tasks(rows, k) for k in ks},
        repositories=repositories,
        files={name: {k: _mean_over_tasks(group, k) for k in ks} for name, group in sorted(per_file.items())},
        tasks={row.task: {k: pass_at_k(row.samples, row.passed, k) for k in ks} for row in rows},
    )


def bootstrap_interval(
    counts: Iterable[TaskCount],
    k: int,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    cluster: Cluster | None = None,
    seed: int = 0,
) -> tuple[float | None, float | None]:
    """Return the percentile bootstrap interval of the overall pass@k (unweighted mean over repositories).

    Args:
        counts: The tasks; those with fewer than k samples are left out.
        k: The k of pass@k.
        level: Coverage, for example 0.95.
        resamples: How often to draw; lowered for very many tasks so that it stays at about a second.
        cluster: ``repository`` draws whole repositories, ``task`` draws tasks within each repository; by default
            the first when there are several repositories.
        seed: The same seed gives the same interval.
    """
    groups: dict[str, list[float]] = defaultdict(list)
    for row in counts:
        value = pass_at_k(row.samples, row.passed, k)
        if value is not None:
            groups[row.repository].append(value)
    if not groups:
        return None, None
    cluster = cluster or ("repository" if len(groups) > 1 else "task")
    values = [groups[name] for name in sorted(groups)]
    draw = _draw_repositories(values) if cluster == "repository" else _draw_tasks(values)
    size = len(values) if cluster == "repository" else sum(map(len, values))
    rng = random.Random(seed)
    drawn = sorted(draw(rng) for _ in range(max(200, min(resamples, _MAX_DRAWS // size))))
    return _percentile(drawn, (1 - level) / 2), _percentile(drawn, (1 + level) / 2)


def _draw_repositories(values: list[list[float]]) -> Callable[[random.Random], float]:
    means = [math.fsum(group) / len(group) for group in values]
    return lambda rng: sum(rng.choices(means, k=len(means))) / len(means)


def _draw_tasks(values: list[list[float]]) -> Callable[[random.Random], float]:
    return lambda rng: sum(sum(rng.choices(group, k=len(group))) / len(group) for group in values) / len(values)


def _percentile(ordered: list[float], share: float) -> float:
    """The value at ``share`` of a sorted list, between neighbours in proportion."""
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def _mean_over_tasks(rows: Sequence[TaskCount], k: int) -> Estimate:
    values = [pass_at_k(row.samples, row.passed, k) for row in rows]
    defined = [value for value in values if value is not None]
    return Estimate(k, _mean(defined), len(defined), len(values) - len(defined))


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
