"""Two groups of candidates side by side: evaluators, doc systems or prompts, of one run, two runs or two sessions.

Tasks are joined by what they are, not by what they are called in a file: repository snapshot, path, function. Every figure
comes from :mod:`workbench.regeneration.outcome` and :mod:`workbench.regeneration.passk`; here they are only set beside each other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.comparison.criteria import difference
from workbench.regeneration.outcome import GroupOutcome, TaskResult, group_outcomes, ks_of
from workbench.regeneration.passk import Estimate, summarise
from workbench.results.samples import failing_tests, samples_of
from workbench.session.groups import Group, settings_of
from workbench.session.rows import RunRow, TaskRow
from workbench.session.sample_counts import sample_counts
from workbench.statistics.clusters import Value
from workbench.statistics.intervals import Interval
from workbench.statistics.paired import paired_difference

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

MOST_KS = 3
"""So many k of pass@k are compared, the smallest ones."""
Function = tuple[str, str, str, int]
"""What a task is: snapshot ("" where the two are of different ones), path, qualified name, occurrence."""
_MESSAGE = 2_000  # characters of what a test said
_MOST_SAMPLES = 50


@dataclass(frozen=True, slots=True)
class GroupSide:
    """One of the two groups, as it was read.

    Attributes:
        session: Name of its session's file.
        run: Its run.
        outcome: What came of it; the group itself is ``outcome.group``.
        name: Its evaluator, with what tells it from others of the run.
        tasks: The tasks of the run by their ids.
        ks: The k that the run was asked for.
    """

    session: str
    run: RunRow
    outcome: GroupOutcome
    name: str
    tasks: Mapping[str, TaskRow]
    ks: tuple[int, ...]

    @property
    def group(self) -> Group:
        return self.outcome.group


@dataclass(frozen=True, slots=True)
class TaskPair:
    """A task of both groups, or of one (None for the other).

    Attributes:
        path: The function's file.
        name: Its qualified name, with its number where there are several.
        left: The first group's task, with its result.
        right: The second group's.
        differences: For each k pass@k of the right one minus that of the left one, None unless both are defined.
    """

    path: str
    name: str
    left: tuple[TaskRow, TaskResult] | None
    right: tuple[TaskRow, TaskResult] | None
    differences: tuple[float | None, ...]

    @property
    def both(self) -> bool:
        return self.left is not None and self.right is not None


@dataclass(frozen=True, slots=True)
class Tally:
    """pass@k over the tasks that both groups have.

    Attributes:
        k: The k.
        left: The first group's estimate over the tasks counted here; the mean over repositories, as everywhere.
        right: The second group's.
        wins: Tasks with a higher pass@k in the right group.
        ties: Tasks with the same.
        losses: Tasks with a lower one.
        undefined: Tasks that both have, of which one has fewer than k counted samples; they are in no figure here.
        interval: Of the paired difference, by the spread between repositories, files or tasks.
    """

    k: int
    left: Estimate
    right: Estimate
    wins: int
    ties: int
    losses: int
    undefined: int
    interval: Interval

    @property
    def tasks(self) -> int:
        return self.wins + self.ties + self.losses

    @property
    def difference(self) -> float | None:
        """pass@k of the right group minus that of the left one, over the same tasks."""
        return difference(self.left.value, self.right.value)


@dataclass(frozen=True, slots=True)
class GroupComparison:
    """Two groups and how they differ; every difference is right minus left.

    Attributes:
        left: The first group, A on the screen.
        right: The second one, B.
        ks: The k of pass@k.
        pairs: All tasks of either: those of both by the size of their difference, then A's alone, then B's alone.
        tallies: The figures over the tasks that both have, for each k.
        other_snapshot: Whether the groups are of different snapshots, so that tasks were joined by file and name alone.
        conditions: What the groups were made by where that differs: (what, left, right).
    """

    left: GroupSide
    right: GroupSide
    ks: tuple[int, ...]
    pairs: tuple[TaskPair, ...]
    tallies: tuple[Tally, ...]
    other_snapshot: bool
    conditions: tuple[tuple[str, str, str], ...]

    @property
    def common(self) -> int:
        return sum(pair.both for pair in self.pairs)

    @property
    def only_left(self) -> int:
        return sum(pair.right is None for pair in self.pairs)

    @property
    def only_right(self) -> int:
        return sum(pair.left is None for pair in self.pairs)

    def to_json(self) -> dict[str, Any]:
        return {
            "a": {"session": self.left.session, "run": self.left.run.id, **self.left.outcome.to_json()},
            "b": {"session": self.right.session, "run": self.right.run.id, **self.right.outcome.to_json()},
            "common_tasks": self.common,
            "only_a": self.only_left,
            "only_b": self.only_right,
            "joined_across_snapshots": self.other_snapshot,
            "conditions": [{"what": what, "a": a, "b": b} for what, a, b in self.conditions],
            "pass_at_k": {
                str(one.k): {
                    "a": one.left.value,
                    "b": one.right.value,
                    "difference": one.difference,
                    "low": one.interval.low,
                    "high": one.interval.high,
                    "interval": one.interval.words,
                    "tasks": one.tasks,
                    "wins": one.wins,
                    "ties": one.ties,
                    "losses": one.losses,
                    "undefined": one.undefined,
                }
                for one in self.tallies
            },
            "tasks": [
                {
                    "path": pair.path,
                    "name": pair.name,
                    "a": _result_json(pair.left, self.ks),
                    "b": _result_json(pair.right, self.ks),
                    "difference": dict(zip(map(str, self.ks), pair.differences, strict=True)),
                }
                for pair in self.pairs
            ],
        }


def _result_json(found: tuple[TaskRow, TaskResult] | None, ks: Sequence[int]) -> dict[str, Any] | None:
    if found is None:
        return None
    task, result = found
    at = {str(k): result.at(k) for k in ks}
    return {"task": task.id, "samples": result.counted, "passed": result.passed, "pass_at_k": at}


def groups_of(reader: SessionReader, run_id: str, only: Collection[Group] = ()) -> list[GroupSide]:
    """Read the groups of a run: those that were asked for by their names, then the controls; [] if it is not in the session.

    ``only`` names the groups that are wanted, which saves the intervals around the figures of all others.
    """
    run = reader.run(run_id)
    if run is None or run.kind != "regenerate":
        return []
    ks = ks_of(run.plan)[:MOST_KS]
    tasks = reader.tasks(run_id)
    known = {task.id: task for task in tasks}
    counts = sample_counts(reader, run_id, by_task=True)
    groups = sorted({row.group for row in counts if not row.control})
    outcomes = group_outcomes([row for row in counts if not only or row.group in only], tasks, ks)
    return [
        GroupSide(reader.path.name, run, one, one.group.name(groups if not one.control else [one.group]), known, ks)
        for one in outcomes
    ]


def read_group(reader: SessionReader, run_id: str, group: Group) -> GroupSide | None:
    """Read a group of a run; None if it has no sample there."""
    return next(iter(groups_of(reader, run_id, (group,))), None)


def compare_groups(left: GroupSide, right: GroupSide) -> GroupComparison:
    """Compare two groups, task by task."""
    ks = tuple(sorted({*left.ks, *right.ks}))[:MOST_KS]
    mine, other = _functions(left), _functions(right)
    apart = _of_other_snapshots(mine.values(), other.values())
    a, b = _by_function(left, mine, apart), _by_function(right, other, apart)
    pairs = [_pair(function, a.get(function), b.get(function), ks) for function in [*a, *(f for f in b if f not in a)]]
    return GroupComparison(
        left,
        right,
        ks,
        tuple(sorted(pairs, key=_place)),
        tuple(_tally(pairs, at, k) for at, k in enumerate(ks)),
        apart,
        _conditions(left, right),
    )


def join_tasks(mine: Mapping[str, Function], other: Mapping[str, Function]) -> dict[str, str]:
    """Return the id in ``mine`` for each id in ``other`` that is of the same function; the rest of ``other`` is left out."""
    apart = _of_other_snapshots(mine.values(), other.values())
    known = {_joined_by(function, apart): key for key, function in mine.items()}
    found = ((key, known.get(_joined_by(function, apart))) for key, function in other.items())
    return {key: same for key, same in found if same is not None}


def _of_other_snapshots(mine: Iterable[Function], other: Iterable[Function]) -> bool:
    left, right = ({snapshot for snapshot, *_ in functions} for functions in (mine, other))
    return bool(left and right) and not left & right


def _joined_by(function: Function, apart: bool) -> Function:
    # Two versions of one repository have hardly a snapshot in common; its functions are the same by name.
    return ("", *function[1:]) if apart else function


def _functions(side: GroupSide) -> dict[str, Function]:
    tasks = (side.tasks[result.task] for result in side.outcome.results)
    return {task.id: (task.snapshot, task.path, task.qualified_name, task.occurrence) for task in tasks}


def _by_function(
    side: GroupSide, functions: Mapping[str, Function], apart: bool
) -> dict[Function, tuple[TaskRow, TaskResult]]:
    return {
        _joined_by(functions[result.task], apart): (side.tasks[result.task], result) for result in side.outcome.results
    }


def _pair(
    function: Function,
    left: tuple[TaskRow, TaskResult] | None,
    right: tuple[TaskRow, TaskResult] | None,
    ks: Sequence[int],
) -> TaskPair:
    _, path, name, occurrence = function
    gaps = tuple(difference(left[1].at(k), right[1].at(k)) if left and right else None for k in ks)
    return TaskPair(path, name + (f"#{occurrence}" if occurrence > 1 else ""), left, right, gaps)


def _place(pair: TaskPair) -> tuple[Any, ...]:
    """Where a pair stands: the largest differences first, the right one's losses before its wins."""
    alone = 0 if pair.both else 1 if pair.right is None else 2
    gap = next(
        (one for one in pair.differences if one), next((one for one in pair.differences if one is not None), None)
    )
    return alone, gap is None, -abs(gap or 0.0), (gap or 0.0) > 0, pair.path, pair.name


def _tally(pairs: Iterable[TaskPair], at: int, k: int) -> Tally:
    both = [pair for pair in pairs if pair.left is not None and pair.right is not None]
    defined = [pair for pair in both if pair.differences[at] is not None]
    left = summarise([pair.left[1].count() for pair in defined if pair.left], [k]).overall[k]
    right = summarise([pair.right[1].count() for pair in defined if pair.right], [k]).overall[k]
    paired = paired_difference(
        Value(pair.left[1].repository, pair.left[1].file, gap)
        for pair in defined
        if pair.left and (gap := pair.differences[at]) is not None
    )
    counted = paired.tasks
    return Tally(k, left, right, counted.wins, counted.ties, counted.losses, len(both) - len(defined), paired.interval)


def differences(comparison: GroupComparison, k: int) -> list[Value]:
    """Return pass@k of B minus that of A for each task that both have with k samples, for tests of the difference."""
    at = comparison.ks.index(k)
    return [
        Value(pair.left[1].repository, pair.left[1].file, gap)
        for pair in comparison.pairs
        if pair.left and pair.right and (gap := pair.differences[at]) is not None
    ]


def _conditions(left: GroupSide, right: GroupSide) -> tuple[tuple[str, str, str], ...]:
    a, b = left.group, right.group
    rows = [
        ("session", left.session, right.session),
        ("run", left.run.name or left.run.id, right.run.name or right.run.id),
        *(
            (name, getattr(a, name) or "none", getattr(b, name) or "none")
            for name in ("docs", "docs_scope", "evaluator", "prompt", "context")
        ),
    ]
    mine, other = settings_of(a.settings), settings_of(b.settings)
    rows += [(key, str(mine.get(key, "not set")), str(other.get(key, "not set"))) for key in sorted({*mine, *other})]
    return tuple(row for row in rows if row[1] != row[2])


# -- one task of both


@dataclass(frozen=True, slots=True)
class FailingCount:
    """A test that samples of a task did not pass: of how many samples in each group, and what it said first."""

    test: str
    left: int
    right: int
    left_message: str
    right_message: str


def failing_counts(
    left: tuple[SessionReader, str, Group] | None, right: tuple[SessionReader, str, Group] | None
) -> tuple[FailingCount, ...]:
    """Return the tests that samples of a task fail in either group, those first that only one group fails.

    Args:
        left: The session, task and group of one, None where it has no such task.
        right: The same of the other.
    """
    mine, other = (failed_counts(*side) if side is not None else {} for side in (left, right))
    none = (0, "")
    found = [
        FailingCount(
            test, mine.get(test, none)[0], other.get(test, none)[0], mine.get(test, none)[1], other.get(test, none)[1]
        )
        for test in mine.keys() | other.keys()
    ]
    return tuple(sorted(found, key=lambda one: (bool(one.left and one.right), -abs(one.left - one.right), one.test)))


def failed_counts(reader: SessionReader, task: str, group: Group | None = None) -> dict[str, tuple[int, str]]:
    """Return of how many samples of a task each test failed, and what it said of the first of them in order."""
    found: dict[str, tuple[int, str]] = {}
    for row in failing_tests(reader, task, group):
        count, message = found.get(row.test_id, (0, row.message))
        found[row.test_id] = (count + 1, min(message, row.message))
    return {test: (count, message[:_MESSAGE]) for test, (count, message) in found.items()}


def telling_samples(
    left: tuple[SessionReader, str, Group], right: tuple[SessionReader, str, Group]
) -> tuple[str, str] | None:
    """Return a candidate of each group for a task whose verdicts differ, or the first of each; None where one has none."""
    mine, other = ([(row.id, row.verdict or "") for row in samples_of(*side)[:_MOST_SAMPLES]] for side in (left, right))
    if not mine or not other:
        return None
    apart = [(a, b) for a, verdict in mine for b, said in other if verdict != said and "passed" in (verdict, said)]
    return apart[0] if apart else (mine[0][0], other[0][0])
