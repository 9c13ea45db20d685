"""The figures of a run's samples: the one place that computes them, for app, commands and reports alike.

It reads plain rows (:class:`workbench.session.sample_counts.SampleCount`), whether these count one sample each or
thousands. The rules: a sample of an excluded task counts only in the controls; our own errors are no samples of pass@k;
a sample that is being tested again counts by its former verdict until the new one is there; a task with fewer than k
counted samples has no pass@k.
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
    """One task under one group."""

    task: str
    repository: str
    file: str
    leaking: bool  # the docstring carries the code
    counted: int  # samples that go into pass@k
    passed: int
    doubtful: int = 0  # of the passed ones
    waiting: int = 0  # without a verdict
    repaired: int = 0  # passed ones whose answer needed a repair
    documented: bool = True  # the function has a docstring
    cut: int = 0  # counted ones whose answer was cut at a token limit

    def at(self, k: int) -> float | None:
        """Return the task's pass@k, None if it has fewer than k samples."""
        return pass_at_k(self.counted, self.passed, k)

    def count(self, *, doubtful: bool = True, repaired: bool = True) -> TaskCount:
        """Return the counts for pass@k; without ``doubtful`` or ``repaired`` ones such a pass counts as a failure."""
        passed = self.passed - (0 if doubtful else self.doubtful) - (0 if repaired else self.repaired)
        return TaskCount(self.task, self.repository, self.file, self.counted, passed)


@dataclass(frozen=True, slots=True)
class PassFigures:
    """pass@k of a group; ``without_…`` and ``of_…`` are pass@k for each k as ``pass_at``."""

    pass_at: tuple[PassEstimate, ...]  # for each k, in the order asked for
    tasks: int  # with a sample
    decided: int  # tasks whose samples all have a verdict
    samples_per_task: tuple[int, int]  # the fewest and the most counted ones
    leaking: int  # tasks whose docstring carries the code
    without_leaking: tuple[float | None, ...]
    doubtful: int  # passed samples
    without_doubtful: tuple[float | None, ...]  # these count as failed
    repaired: int = 0  # passed samples: a header, a docstring, fences were left out
    without_repairs: tuple[float | None, ...] = ()  # these count as failed
    documented: int = 0  # tasks whose function has a docstring
    of_documented: tuple[float | None, ...] = ()
    cut: int = 0  # counted samples whose answers were cut at a token limit

    @property
    def documented_share(self) -> float | None:
        return self.documented / self.tasks if self.tasks else None

    def more_json(self) -> dict[str, Any]:
        ks = [str(estimate.k) for estimate in self.pass_at]
        return {
            "leaking": self.leaking,
            "pass_at_k_without_leaking": dict(zip(ks, self.without_leaking, strict=True)),
            # Passes of bodies that are not plain, and pass@k as if they had failed.
            "doubtful": self.doubtful,
            "pass_at_k_without_doubtful": dict(zip(ks, self.without_doubtful, strict=True)),
            # Passes of answers that had to be repaired, and pass@k as if they had failed.
            "repaired": self.repaired,
            "pass_at_k_without_repairs": dict(zip(ks, self.without_repairs, strict=True)),
            "cut_at_token_limit": self.cut,
            "documented": self.documented,
            "documented_share": self.documented_share,
            "pass_at_k_of_documented": dict(zip(ks, self.of_documented, strict=True)),
        }

    def drawn(self, asked: int) -> str:
        """Return the number of counted samples per task, with the requested number if some are missing: ``0 to 2 of 2``."""
        fewest, most = self.samples_per_task
        if fewest == most >= asked:
            return str(asked)
        return (f"{fewest} to {most}" if fewest < most else str(fewest)) + (f" of {asked}" if fewest < asked else "")

    @property
    def otherwise(self) -> list[tuple[str, tuple[float | None, ...]]]:
        """What pass@k is of documented functions alone, without leaking ones, and as if doubtful or repaired passes had failed.

        Each comes with its words; where answers were cut, these alone.
        """
        documented = f"{self.documented:,}/{self.tasks:,} with docstring"
        # Repaired passes are not left out: they count as failed, as if nobody had mended the answers.
        known = (
            (self.tasks - self.documented, documented, self.of_documented if self.documented else ()),
            (self.leaking, f"without {self.leaking:,} leaking", self.without_leaking),
            (self.doubtful, f"without {self.doubtful:,} {DOUBTFUL} doubtful", self.without_doubtful),
            (self.repaired, f"if {plural(self.repaired, 'repaired answer')} had failed", self.without_repairs),
            (self.cut, f"{plural(self.cut, 'answer')} cut at the token limit", ()),
        )
        return [(words, values) for count, words, values in known if count]

    @property
    def partial(self) -> bool:
        return self.decided < self.tasks


@dataclass(frozen=True, slots=True)
class GroupTotals:
    """Sums over the samples of a group, without those of excluded tasks."""

    samples: int
    verdicts: Mapping[str, int]
    unfinished: int  # without a verdict
    retesting: int  # being tested again; they count by their former verdict
    routes: Mapping[str, int]  # verdicts by route
    tokens: int  # of prompts and answers
    cost_usd: float | None  # None: no cost is known
    elapsed_s: float | None  # from the first request to the last verdict, while live to now
    began: float | None  # the first request, unix seconds

    @property
    def decided(self) -> int:
        """Samples with a verdict, former ones included."""
        return self.samples - self.unfinished


@dataclass(frozen=True, slots=True)
class GroupOutcome:
    """A group of a run with ``ready`` tasks; a ``control`` is shown apart from what was asked for."""

    group: Group
    control: bool
    totals: GroupTotals
    figures: PassFigures
    results: tuple[TaskResult, ...]
    ready: int

    @property
    def marks(self) -> tuple[str, ...]:
        """What has to stand beside pass@k: missing tasks and samples, doubtful passes, repaired or cut answers."""
        figures, missing = self.figures, self.ready - self.figures.tasks
        fewest, most = figures.samples_per_task
        found = [f"{figures.tasks:,} of the run's {self.ready:,} tasks"] if missing > 0 else []
        found += [f"{figures.decided:,} of {figures.tasks:,} tasks so far"] if figures.partial else []
        found += [f"{fewest:,} to {most:,} samples a task"] if fewest != most else []
        counts = (
            (figures.doubtful, "doubtful"), (figures.repaired, "repaired"), (figures.cut, "cut at the token limit")
        )  # fmt: skip
        return (*found, *(f"{count:,} {what}" for count, what in counts if count))

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as JSON values, the same in every report and summary."""
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
    """Return the sums over the samples of one group; ``now`` (unix seconds) only while an engine executes the run."""
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
    at_work = now is not None and bool(unfinished or retesting)
    end = now if at_work else max(ended, default=None)
    began = min(starts, default=None)
    return GroupTotals(
        samples=samples,
        verdicts=dict(sorted(verdicts.items())),
        unfinished=unfinished,
        retesting=retesting,
        routes=dict(sorted(routes.items())),
        tokens=sum(row.tokens for row in rows),
        # Sums of SQLite and of Python differ in the last bits.
        cost_usd=round(math.fsum(costs), 9) if costs else None,
        elapsed_s=max(0.0, end - began) if end is not None and began is not None else None,
        began=began,
    )


def task_results(counts: Iterable[SampleCount], tasks: Mapping[str, TaskRow]) -> tuple[TaskResult, ...]:
    """Return the result of each task that has samples in the group and is not excluded, in the order of ``tasks``."""
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
    """Return whether a docstring repeats so much of the body that it carries the code."""
    return leak is not None and leak >= THRESHOLD


def pass_figures(results: Sequence[TaskResult], ks: Sequence[int], *, interval: bool = True) -> PassFigures:
    """Return pass@k over tasks of one group: of all, without doubtful passes, and for documented functions alone."""
    overall = summarise([one.count() for one in results], ks, interval=LEVEL if interval else None)
    clean = [one for one in results if not one.leaking]
    without_leaking = summarise([one.count() for one in clean], ks)
    without_doubtful = summarise([one.count(doubtful=False) for one in results], ks)
    without_repairs = summarise([one.count(repaired=False) for one in results], ks)
    documented = [one for one in results if one.documented]
    of_documented = summarise([one.count() for one in documented], ks)
    drawn = [one.counted for one in results]
    return PassFigures(
        pass_at=tuple(overall[k] for k in ks),
        tasks=len(results),
        decided=sum(not one.waiting for one in results),
        samples_per_task=(min(drawn, default=0), max(drawn, default=0)),
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
    """Return the outcome of each group of a run: those asked for by name, then the controls."""
    known = {task.id: task for task in tasks}
    ready = sum(task.state != "excluded" for task in known.values())
    groups: dict[tuple[bool, Group], list[SampleCount]] = {}
    for row in counts:
        groups.setdefault((row.control, row.group), []).append(row)
    outcomes = []
    for (control, group), rows in sorted(groups.items()):
        results = task_results(rows, known)
        # A control must be exactly 1 or 0: an interval around it would say that it need not.
        figures = pass_figures(results, ks, interval=not control)
        outcomes.append(GroupOutcome(group, control, totals(rows, now=now), figures, results, ready))
    return tuple(outcomes)


def ks_of(plan: Mapping[str, Any]) -> tuple[int, ...]:
    asked = plan.get("k")
    listed = asked if isinstance(asked, list | tuple) else [asked]
    return tuple(sorted({k for k in listed if isinstance(k, int) and not isinstance(k, bool) and k >= 1})) or DEFAULT_KS


MOST_SAMPLES = 200
"""Points of a curve at most; with more samples the first so many are looked at."""
OUTSIDE = "(no class)"
VERDICTS_OF_TASKS = ("all samples passed", "some passed", "none passed", "not decided", "taken out")
"""The outcomes of a whole task, best first."""


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """Tasks with something in common: how many, and their mean pass@k for each k (no interval)."""

    name: str
    tasks: int
    pass_at: tuple[PassEstimate, ...]


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
    estimate: PassEstimate


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
        estimate = summarise([_first(one, m) for one in sequences], (k,), interval=LEVEL)[k]
        points.append(CurvePoint(m, estimate))
    return tuple(points)


def pass_by_k(results: Sequence[TaskResult]) -> tuple[PassEstimate, ...]:
    """Return pass@k over all samples for k from 1 to the most counted samples of a task, with intervals."""
    most = min(MOST_SAMPLES, max((one.counted for one in results), default=0))
    ks = range(1, most + 1)
    overall = summarise([one.count() for one in results], ks, interval=LEVEL)
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
