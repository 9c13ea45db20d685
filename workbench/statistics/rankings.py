"""Rankings of systems by evaluator, k and weighting: Kendall's tau, and how often pairs keep their order."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

WEIGHTINGS: Final = ("repositories", "tasks", "tests")
"""The unit with equal weight: each repository (as in the paper), each task, or each test of a task."""
EQUAL = 1e-9
"""Means that differ by less than this are equal."""


@dataclass(frozen=True, slots=True)
class RankedTask:
    """A task with the values of all systems; ``tests`` is the size of its T_i."""

    repository: str
    file: str
    values: Mapping[str, float]
    tests: int = 1


@dataclass(frozen=True, slots=True)
class PairOrder:
    """Two systems, better one first, and how often they keep that order."""

    better: str
    worse: str
    difference: float  # difference of their means, at least 0
    repositories: int  # number of repositories with strictly that order
    ties: int  # number of repositories with equal means
    of: int  # total number of repositories
    resampled: float | None = None  # share of resamples with that order; None if nothing was drawn


def kendall_tau(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Return Kendall's tau-b of two lists of scores of the same items, or None if either has no order at all."""
    same = agree = tied_left = tied_right = 0
    pairs = list(zip(left, right, strict=True))
    for (a, x), (b, y) in itertools.combinations(pairs, 2):
        first, second = _sign(a - b), _sign(x - y)
        agree += first * second
        tied_left += first == 0
        tied_right += second == 0
        same += 1
    scale = math.sqrt((same - tied_left) * (same - tied_right))
    return agree / scale if scale else None


def ranking(scores: Mapping[str, float]) -> tuple[tuple[str, ...], ...]:
    """Return names from best to worst; those with equal scores are grouped together, sorted."""
    places: list[list[str]] = []
    last = math.inf
    for name in sorted(scores, key=lambda one: (-scores[one], one)):
        if places and last - scores[name] < EQUAL:
            places[-1].append(name)
        else:
            places.append([name])
            last = scores[name]
    return tuple(tuple(sorted(place)) for place in places)


def ranking_words(places: Sequence[Sequence[str]]) -> str:
    """Return ``RepoAgent > OSA = default``."""
    return " > ".join(" = ".join(place) for place in places)


def scores(tasks: Iterable[RankedTask], weighting: str = "repositories") -> dict[str, float]:
    """Return the mean of each system over the tasks that all systems have, by one of :data:`WEIGHTINGS`."""
    if weighting not in WEIGHTINGS:
        raise ValueError(f"a weighting is one of {', '.join(WEIGHTINGS)}")
    found = list(tasks)
    if not found:
        return {}
    systems = list(found[0].values)
    if any(set(one.values) != set(systems) for one in found):
        raise ValueError("every task needs a value of every system; take the common tasks")
    if weighting == "repositories":
        means = [_weighted(mine, systems, lambda one: 1.0) for mine in by_repository_of(found).values()]
        return {name: math.fsum(one[name] for one in means) / len(means) for name in systems}
    return _weighted(found, systems, (lambda one: 1.0) if weighting == "tasks" else lambda one: float(one.tests))


def pair_orders(
    tasks: Iterable[RankedTask], *, drawn: Callable[[str, str], float] | None = None
) -> tuple[PairOrder, ...]:
    """Return each pair of systems with the number of repositories in which it keeps its order.

    ``tasks`` are those that all systems have. ``drawn`` is :func:`workbench.statistics.resampling.drawn_orders`, or
    None to draw nothing.
    """
    found = list(tasks)
    overall = scores(found)
    systems = sorted(overall, key=lambda one: (-overall[one], one))
    by_repository = {name: _weighted(mine, systems, lambda one: 1.0) for name, mine in by_repository_of(found).items()}
    orders = []
    for better, worse in itertools.combinations(systems, 2):
        signs = [_sign(one[better] - one[worse]) for one in by_repository.values()]
        orders.append(
            PairOrder(
                better,
                worse,
                overall[better] - overall[worse],
                signs.count(1),
                signs.count(0),
                len(signs),
                drawn(better, worse) if drawn is not None and found else None,
            )
        )
    return tuple(orders)


def by_repository_of(tasks: Iterable[RankedTask]) -> dict[str, list[RankedTask]]:
    found: dict[str, list[RankedTask]] = defaultdict(list)
    for one in tasks:
        found[one.repository].append(one)
    return found


def _weighted(
    tasks: Sequence[RankedTask], systems: Sequence[str], weight: Callable[[RankedTask], float]
) -> dict[str, float]:
    whole = math.fsum(weight(one) for one in tasks)
    return {
        name: math.fsum(weight(one) * one.values[name] for one in tasks) / whole if whole else 0.0 for name in systems
    }


def _sign(value: float) -> int:
    return (value > EQUAL) - (value < -EQUAL)
