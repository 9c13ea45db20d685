"""pass@k of parts of a run: of groups of tasks, of the first m samples, for every k; and what nobody solves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.regeneration.outcome import TaskResult
from workbench.regeneration.passk import Estimate, TaskCount, mean_over_tasks, summarise
from workbench.session.groups import Group
from workbench.statistics.intervals import LEVEL

MOST_SAMPLES = 200
"""Points of a curve at most; with more samples the first so many are looked at."""
OUTSIDE = "(no class)"
VERDICTS_OF_TASKS = ("all samples passed", "some passed", "none passed", "not decided", "taken out")
"""What can be said of a task as a whole, the best first."""


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """Tasks with something in common: how many, and their mean pass@k for each k (no interval)."""

    name: str
    tasks: int
    pass_at: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True)
class VerdictSequence:
    """The samples of a task by their numbers: whether each passed, None for one that does not count (yet)."""

    task: str
    repository: str
    file: str
    passed: tuple[bool | None, ...]


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """pass@k of the first ``m`` samples of every task; tasks with fewer than k counted ones of these are left out."""

    m: int
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class Unsolved:
    """A task of which no counted sample of any group passed; ``evaluators`` tried it."""

    task: str
    samples: int
    evaluators: int


def class_of(qualified_name: str) -> str:
    """Return the class in a function's qualified name, :data:`OUTSIDE` if there is none."""
    return qualified_name.partition("#")[0].rpartition(".")[0] or OUTSIDE


def verdict_of(result: TaskResult) -> str:
    """Return the verdict on a task over its samples, one of :data:`VERDICTS_OF_TASKS`."""
    if result.waiting or not result.counted:
        return "not decided"
    if result.passed == result.counted:
        return "all samples passed"
    return "some passed" if result.passed else "none passed"


def pass_by(named: Iterable[tuple[str, TaskResult]], ks: Sequence[int]) -> tuple[TaskGroup, ...]:
    """Return the mean pass@k of named groups of tasks, in the order of first mention; a task may be in several."""
    found: dict[str, list[TaskResult]] = {}
    for name, result in named:
        found.setdefault(name, []).append(result)
    groups = []
    for name, results in found.items():
        counts = [one.count() for one in results]
        groups.append(TaskGroup(name, len(results), tuple(mean_over_tasks(counts, k) for k in ks)))
    return tuple(groups)


def pass_by_samples(sequences: Sequence[VerdictSequence], k: int) -> tuple[CurvePoint, ...]:
    """Return pass@k of the first m samples for m from k to the most samples that a task has, with intervals."""
    most = min(MOST_SAMPLES, max((len(one.passed) for one in sequences), default=0))
    points = []
    for m in range(max(1, k), most + 1):
        estimate = summarise([_first(one, m) for one in sequences], (k,), interval=LEVEL).overall[k]
        points.append(CurvePoint(m, estimate))
    return tuple(points)


def pass_by_k(results: Sequence[TaskResult]) -> tuple[Estimate, ...]:
    """Return pass@k over all samples for k from 1 to the most counted samples of a task, with intervals."""
    most = min(MOST_SAMPLES, max((one.counted for one in results), default=0))
    ks = range(1, most + 1)
    overall = summarise([one.count() for one in results], ks, interval=LEVEL).overall
    return tuple(overall[k] for k in ks)


def unsolved(results: Mapping[Group, Sequence[TaskResult]]) -> tuple[Unsolved, ...]:
    """Return the tasks that no group solved, in their order; those without a counted sample are left out."""
    samples: dict[str, int] = {}
    passed: dict[str, int] = {}
    tried: dict[str, int] = {}
    for of_group in results.values():
        for one in of_group:
            samples[one.task] = samples.get(one.task, 0) + one.counted
            passed[one.task] = passed.get(one.task, 0) + one.passed
            tried[one.task] = tried.get(one.task, 0) + bool(one.counted)
    return tuple(Unsolved(task, count, tried[task]) for task, count in samples.items() if count and not passed[task])


def _first(sequence: VerdictSequence, m: int) -> TaskCount:
    counted = [passed for passed in sequence.passed[:m] if passed is not None]
    return TaskCount(sequence.task, sequence.repository, sequence.file, len(counted), sum(counted))
