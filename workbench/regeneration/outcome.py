"""Totals, pass@k and task results of a run, computed here for the app, commands and reports alike.

The input is :class:`workbench.session.sample_counts.SampleCount`, where each count covers one or more samples. Samples
of excluded tasks count only in the controls. The workbench's own errors do not count toward pass@k. A sample that is
being tested again counts by its previous verdict until the new one arrives. pass@k of a task requires at least k
counted samples.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.base.glyphs import DOUBTFUL
from workbench.base.text import plural
from workbench.regeneration.leakage import THRESHOLD
from workbench.regeneration.passk import PassEstimate, TaskCount, mean_over_tasks, pass_at_k, summarise
from workbench.session.groups import Group
from workbench.session.rows import TaskRow
from workbench.session.sample_counts import SampleCount, is_counted
from workbench.statistics.intervals import LEVEL

DEFAULT_KS = (1, 3)


@dataclass(frozen=True, slots=True)
class TaskResult:
    """The result of one task in one group."""

    task: str
    repository: str
    file: str
    leaking: bool  # whether the docstring repeats the code
    counted: int  # samples that count toward pass@k
    passed: int
    doubtful: int = 0  # number of counted samples that passed
    waiting: int = 0  # samples without a verdict
    repaired: int = 0  # passed samples whose answer needed a repair
    documented: bool = True  # whether the function has a docstring
    cut: int = 0  # counted samples whose answer was truncated at a token limit

    def at(self, k: int) -> float | None:
        """Return pass@k, or None if the task has fewer than k samples."""
        return pass_at_k(self.counted, self.passed, k)

    def count(self, *, doubtful: bool = True, repaired: bool = True) -> TaskCount:
        """Return the counts for pass@k; if ``doubtful`` or ``repaired`` is False, such passes count as failures."""
        passed = self.passed - (0 if doubtful else self.doubtful) - (0 if repaired else self.repaired)
        return TaskCount(self.task, self.repository, self.file, self.counted, passed)


@dataclass(frozen=True, slots=True)
class PassFigures:
    """pass@k of a group; each ``without_…`` and ``of_…`` field has a value for every k of ``pass_at``."""

    pass_at: tuple[PassEstimate, ...]  # one value for each requested k, in that order
    tasks: int  # tasks with at least one sample
    decided: int  # number of tasks in which every sample has a verdict
    samples_per_task: tuple[int, int]  # minimum and maximum number of counted samples per task
    leaking: int  # number of tasks with a docstring that repeats the code
    without_leaking: tuple[float | None, ...]
    doubtful: int  # number of doubtful passes: the body might have forged its result
    without_doubtful: tuple[float | None, ...]  # pass@k if doubtful passes counted as failures
    repaired: int = 0  # number of passed samples that required repairing the answer
    without_repairs: tuple[float | None, ...] = ()  # pass@k if repaired passes counted as failures
    documented: int = 0  # number of tasks whose function has a docstring
    of_documented: tuple[float | None, ...] = ()
    cut: int = 0  # number of counted samples with an answer truncated at a token limit

    @property
    def documented_share(self) -> float | None:
        return self.documented / self.tasks if self.tasks else None

    def more_json(self) -> dict[str, Any]:
        ks = [str(estimate.k) for estimate in self.pass_at]
        return {
            "leaking": self.leaking,
            "pass_at_k_without_leaking": dict(zip(ks, self.without_leaking, strict=True)),
            # Passes of bodies outside the safe subset, and pass@k if these passes counted as failures.
            "doubtful": self.doubtful,
            "pass_at_k_without_doubtful": dict(zip(ks, self.without_doubtful, strict=True)),
            # Passes of answers that needed a repair, and pass@k if these passes counted as failures.
            "repaired": self.repaired,
            "pass_at_k_without_repairs": dict(zip(ks, self.without_repairs, strict=True)),
            "cut_at_token_limit": self.cut,
            "documented": self.documented,
            "documented_share": self.documented_share,
            "pass_at_k_of_documented": dict(zip(ks, self.of_documented, strict=True)),
        }

    def samples_text(self, requested: int) -> str:
        """Return the number of counted samples per task, followed by the requested number if some are missing.

        For example, ``0 to 2 of 2``.
        """
        fewest, most = self.samples_per_task
        if fewest == most >= requested:
            return str(requested)
        counts = f"{fewest} to {most}" if fewest < most else str(fewest)
        return counts + (f" of {requested}" if fewest < requested else "")

    @property
    def variants(self) -> list[tuple[str, tuple[float | None, ...]]]:
        """Return labels and values of pass@k for subsets of tasks, and with certain passes counted as failures.

        These are the doubtful and the repaired passes. The label on truncated answers has no values.
        """
        documented = f"{self.documented:,}/{self.tasks:,} with docstring"
        variants = (
            (self.tasks - self.documented, documented, self.of_documented if self.documented else ()),
            (self.leaking, f"without {self.leaking:,} leaking", self.without_leaking),
            (self.doubtful, f"without {self.doubtful:,} {DOUBTFUL} doubtful", self.without_doubtful),
            (self.repaired, f"if {plural(self.repaired, 'repaired answer')} had failed", self.without_repairs),
            (self.cut, f"{plural(self.cut, 'answer')} cut at the token limit", ()),
        )
        return [(label, values) for count, label, values in variants if count]

    @property
    def partial(self) -> bool:
        return self.decided < self.tasks


@dataclass(frozen=True, slots=True)
class GroupTotals:
    """Sums over the samples of a group, excluding samples of excluded tasks."""

    samples: int
    verdicts: Mapping[str, int]
    unfinished: int  # samples without a verdict
    retesting: int  # samples being tested again, which count by their previous verdict
    routes: Mapping[str, int]  # number of verdicts by route
    tokens: int  # tokens of prompts and answers
    cost_usd: float | None  # None if no cost is known
    elapsed_s: float | None  # seconds from the first request to the last verdict, or to now while the run is live
    began: float | None  # time of the first request in Unix seconds

    @property
    def decided(self) -> int:
        """The number of samples with a verdict, including previous verdicts."""
        return self.samples - self.unfinished


@dataclass(frozen=True, slots=True)
class GroupOutcome:
    """The outcome of a group in a run with ``ready`` tasks; a ``control`` is shown separately from requested groups."""

    group: Group
    control: bool
    totals: GroupTotals
    figures: PassFigures
    results: tuple[TaskResult, ...]
    ready: int

    @property
    def marks(self) -> tuple[str, ...]:
        """Caveats to show next to pass@k: missing tasks and samples, doubtful passes, repaired or truncated answers."""
        figures, missing = self.figures, self.ready - self.figures.tasks
        fewest, most = figures.samples_per_task
        marks = [f"{figures.tasks:,} of the run's {self.ready:,} tasks"] if missing > 0 else []
        marks += [f"{figures.decided:,} of {figures.tasks:,} tasks so far"] if figures.partial else []
        marks += [f"{fewest:,} to {most:,} samples a task"] if fewest != most else []
        counts = (
            (figures.doubtful, "doubtful"), (figures.repaired, "repaired"), (figures.cut, "cut at the token limit")
        )  # fmt: skip
        return (*marks, *(f"{count:,} {label}" for count, label in counts if count))

    def to_json(self) -> dict[str, Any]:
        totals, figures = self.totals, self.figures
        return {
            **self.group.to_json(),
            "control": self.control,
            "tasks": figures.tasks,
            "tasks_of_run": self.ready,
            "samples": totals.samples,
            "samples_per_task": list(figures.samples_per_task),
            "pass_at_k": {
                str(e.k): {
                    "value": e.value,
                    "low": e.low,
                    "high": e.high,
                    "interval": e.interval.words if e.interval else None,
                    "tasks": e.tasks,
                    "undefined": e.undefined,
                }
                for e in figures.pass_at
            },
            **figures.more_json(),
            "verdicts": dict(totals.verdicts),
            "unfinished": totals.unfinished,
            "retesting": totals.retesting,
            "routes": dict(totals.routes),
            "tokens": totals.tokens,
            "cost": totals.cost_usd,
            "elapsed_s": totals.elapsed_s,
        }


def totals(counts: Iterable[SampleCount], *, now: float | None = None) -> GroupTotals:
    """Sum the samples of one group; pass ``now`` (Unix seconds) only while an engine is executing the run."""
    rows = [row for row in counts if not row.excluded]
    verdicts: Counter[str] = Counter()
    routes: Counter[str] = Counter()
    for row in rows:
        if row.verdict:
            verdicts[row.verdict] += row.count
        if row.route:
            routes[row.route] += row.count
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    samples = sum(row.count for row in rows)
    unfinished = samples - verdicts.total()
    retesting = sum(row.count for row in rows if row.retesting)
    starts = [row.began for row in rows if row.began is not None]
    ended = [row.ended for row in rows if row.ended is not None]
    is_live = now is not None and bool(unfinished or retesting)
    end = now if is_live else max(ended, default=None)
    began = min(starts, default=None)
    return GroupTotals(
        samples=samples,
        verdicts=dict(sorted(verdicts.items())),
        unfinished=unfinished,
        retesting=retesting,
        routes=dict(sorted(routes.items())),
        tokens=sum(row.tokens for row in rows),
        # SQLite and Python may round the last digits of a sum differently.
        cost_usd=round(math.fsum(costs), 9) if costs else None,
        elapsed_s=max(0.0, end - began) if end is not None and began is not None else None,
        began=began,
    )


def task_results(counts: Iterable[SampleCount], tasks: Mapping[str, TaskRow]) -> tuple[TaskResult, ...]:
    """Return the group's results in the order of ``tasks``, without excluded tasks and tasks without samples."""
    by_task: dict[str, list[SampleCount]] = {}
    for row in counts:
        if not row.excluded:
            by_task.setdefault(row.task, []).append(row)
    return tuple(task_result(tasks[key], by_task[key]) for key in tasks if key in by_task)


def task_result(task: TaskRow, rows: Iterable[SampleCount]) -> TaskResult:
    counted = passed = doubtful = waiting = repaired = cut = 0
    for row in rows:
        counted += row.count if is_counted(row.verdict) else 0
        passed += row.count if row.verdict == "passed" else 0
        doubtful += row.count if row.verdict == "passed" and row.doubtful else 0
        cut += row.count if is_counted(row.verdict) and row.cut else 0
        waiting += row.count if not row.verdict else 0
        repaired += row.count if row.verdict == "passed" and row.repaired else 0
    leaking, documented = is_leaking(task.leak), task.docstring_blob is not None
    return TaskResult(
        task.id, task.snapshot, task.path, leaking, counted, passed, doubtful, waiting, repaired, documented, cut
    )


def is_leaking(leak: float | None) -> bool:
    return leak is not None and leak >= THRESHOLD


def pass_figures(results: Sequence[TaskResult], ks: Sequence[int], *, interval: bool = True) -> PassFigures:
    """Return pass@k and its variants over the tasks of one group, without intervals if ``interval`` is False."""
    overall = summarise([one.count() for one in results], ks, interval=LEVEL if interval else None)
    clean = [one for one in results if not one.leaking]
    without_leaking = summarise([one.count() for one in clean], ks)
    without_doubtful = summarise([one.count(doubtful=False) for one in results], ks)
    without_repairs = summarise([one.count(repaired=False) for one in results], ks)
    documented = [one for one in results if one.documented]
    of_documented = summarise([one.count() for one in documented], ks)
    counted = [one.counted for one in results]
    return PassFigures(
        pass_at=tuple(overall[k] for k in ks),
        tasks=len(results),
        decided=sum(not one.waiting for one in results),
        samples_per_task=(min(counted, default=0), max(counted, default=0)),
        leaking=len(results) - len(clean),
        without_leaking=tuple(without_leaking[k].value for k in ks),
        doubtful=sum(one.doubtful for one in results),
        without_doubtful=tuple(without_doubtful[k].value for k in ks),
        repaired=sum(one.repaired for one in results),
        without_repairs=tuple(without_repairs[k].value for k in ks),
        documented=len(documented),
        of_documented=tuple(of_documented[k].value for k in ks),
        cut=sum(one.cut for one in results),
    )


def group_outcomes(
    counts: Iterable[SampleCount], tasks: Iterable[TaskRow], ks: Sequence[int], *, now: float | None = None
) -> tuple[GroupOutcome, ...]:
    """Return the outcome of each group of a run: first the requested groups by name, then the controls."""
    tasks_by_id = {task.id: task for task in tasks}
    ready = sum(task.state != "excluded" for task in tasks_by_id.values())
    groups: dict[tuple[bool, Group], list[SampleCount]] = {}
    for row in counts:
        groups.setdefault((row.control, row.group), []).append(row)
    outcomes = []
    for (control, group), rows in sorted(groups.items()):
        results = task_results(rows, tasks_by_id)
        # A control must score exactly 0 or 1, so an interval would be misleading.
        figures = pass_figures(results, ks, interval=not control)
        outcomes.append(GroupOutcome(group, control, totals(rows, now=now), figures, results, ready))
    return tuple(outcomes)


def ks_of(plan: Mapping[str, Any]) -> tuple[int, ...]:
    k = plan.get("k")
    ks = k if isinstance(k, list | tuple) else [k]
    return tuple(sorted({k for k in ks if isinstance(k, int) and not isinstance(k, bool) and k >= 1})) or DEFAULT_KS


MOST_SAMPLES = 200
"""Maximum number of points on a curve; further samples are ignored."""
OUTSIDE = "(no class)"
VERDICTS_OF_TASKS = ("all samples passed", "some passed", "none passed", "not decided", "excluded")
"""The possible outcomes of a whole task, best first."""


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """A named set of tasks: its size, and the mean pass@k for each k, without an interval."""

    name: str
    tasks: int
    pass_at: tuple[PassEstimate, ...]


@dataclass(frozen=True, slots=True)
class VerdictSequence:
    """For each sample of a task, in order, whether it passed.

    None for a sample that does not count or has no verdict.
    """

    task: str
    repository: str
    file: str
    passed: tuple[bool | None, ...]


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """pass@k computed from the first ``m`` samples of every task with at least k counted samples among them."""

    m: int
    estimate: PassEstimate


@dataclass(frozen=True, slots=True)
class Unsolved:
    """A task that no group has solved; ``evaluators`` is the number of groups that tried it."""

    task: str
    samples: int
    evaluators: int


def class_of(qualified_name: str) -> str:
    """Return the class part of a qualified name, or :data:`OUTSIDE` if there is none."""
    return qualified_name.partition("#")[0].rpartition(".")[0] or OUTSIDE


def verdict_of(result: TaskResult) -> str:
    """Return the combined verdict of all samples of a task, one of :data:`VERDICTS_OF_TASKS`."""
    if result.waiting or not result.counted:
        return "not decided"
    if result.passed == result.counted:
        return "all samples passed"
    return "some passed" if result.passed else "none passed"


def pass_by(named: Iterable[tuple[str, TaskResult]], ks: Sequence[int]) -> tuple[TaskGroup, ...]:
    """Return the mean pass@k of named sets of tasks, in order of first appearance; a task may be in several sets."""
    by_name: dict[str, list[TaskResult]] = {}
    for name, result in named:
        by_name.setdefault(name, []).append(result)
    groups = []
    for name, results in by_name.items():
        counts = [one.count() for one in results]
        groups.append(TaskGroup(name, len(results), tuple(mean_over_tasks(counts, k) for k in ks)))
    return tuple(groups)


def pass_by_samples(sequences: Sequence[VerdictSequence], k: int) -> tuple[CurvePoint, ...]:
    """Return pass@k of the first m samples, for m from k to the largest number of samples, with intervals."""
    most = min(MOST_SAMPLES, max((len(one.passed) for one in sequences), default=0))
    points = []
    for m in range(max(1, k), most + 1):
        estimate = summarise([_first(one, m) for one in sequences], (k,), interval=LEVEL)[k]
        points.append(CurvePoint(m, estimate))
    return tuple(points)


def pass_by_k(results: Sequence[TaskResult]) -> tuple[PassEstimate, ...]:
    """Return pass@k over all samples for k from 1 to the largest number of counted samples, with intervals."""
    most = min(MOST_SAMPLES, max((one.counted for one in results), default=0))
    ks = range(1, most + 1)
    overall = summarise([one.count() for one in results], ks, interval=LEVEL)
    return tuple(overall[k] for k in ks)


def unsolved(results: Mapping[Group, Sequence[TaskResult]]) -> tuple[Unsolved, ...]:
    """Return the tasks with counted samples that no group solved, in their original order."""
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
