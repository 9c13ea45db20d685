"""Made-up repositories, files and tasks with a known mean pass@1, for coverage simulations in tests and benchmarks."""

from __future__ import annotations

import random

from workbench.statistics.intervals import Value

UNEVEN = (2, 3, 4, 5, 6, 8, 10, 12)
"""Tasks of eight files of one repository."""


def share(rng: random.Random, mean: float, concentration: float) -> float:
    """Return a share around ``mean``; the smaller the concentration, the nearer to 0 or 1."""
    mean = min(1 - 1e-4, max(1e-4, mean))
    return rng.betavariate(mean * concentration, (1 - mean) * concentration)


def task(rng: random.Random, mean: float, samples: int) -> float:
    """Return pass@1 of a task whose chance is around ``mean``, most of them nearly always or hardly ever solved."""
    chance = share(rng, mean, 1.0)
    return sum(rng.random() < chance for _ in range(samples)) / samples


def repositories(rng: random.Random, count: int, mean: float, alike: float, samples: int = 5) -> list[Value]:
    """Return 12 tasks of each of so many repositories, whose means have concentration ``alike``."""
    found = []
    for number in range(count):
        own = share(rng, mean, alike)
        found += [Value(f"r{number}", "f", task(rng, own, samples)) for _ in range(12)]
    return found


def files(rng: random.Random, sizes: tuple[int, ...], mean: float, alike: float, samples: int = 5) -> list[Value]:
    """Return tasks of one repository in files of these sizes, whose means have concentration ``alike``."""
    found = []
    for number, size in enumerate(sizes):
        own = share(rng, mean, alike)
        found += [Value("r", f"f{number}", task(rng, own, samples)) for _ in range(size)]
    return found


def tasks(rng: random.Random, count: int, mean: float, samples: int = 5) -> list[Value]:
    """Return independent tasks of one file."""
    return [Value("r", "f", task(rng, mean, samples)) for _ in range(count)]
