"""Two groups of candidates side by side: evaluators, doc systems or prompts, of one run, two runs or two sessions; two runs group by group.

Tasks are joined by what they are, not by what they are called in a file: repository snapshot, path, function. Every figure
comes from :mod:`workbench.regeneration.outcome`; here they are only set beside each other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from workbench.comparison import panes
from workbench.comparison.failing import failed_counts, failing_pane, join_tests
from workbench.comparison.paired import Paired, adjusted_chances
from workbench.comparison.tasks import gaps, passed_cell, result_json
from workbench.comparison.texts import TextSide, compare_texts, docstring_of
from workbench.errors import UsageError
from workbench.regeneration.outcome import GroupOutcome, TaskResult, group_outcomes, ks_of
from workbench.regeneration.passk import Estimate
from workbench.results.samples import samples_of
from workbench.session.groups import Group, settings_of
from workbench.session.rows import RunRow, TaskRow
from workbench.session.sample_counts import sample_counts
from workbench.statistics.clusters import Value
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

Function = tuple[str, str, str, int]
"""What a task is: snapshot ("" where the two are of different ones), path, qualified name, occurrence."""
_MOST_SAMPLES = 50


@dataclass(frozen=True, slots=True)
class GroupSide:
    """One of the two groups: ``name`` tells it from others of its run, ``tasks`` are those of the run, ``ks`` what that was asked for."""

    session: str
    run: RunRow
    outcome: GroupOutcome
    name: str
    tasks: Mapping[str, TaskRow]
    ks: tuple[int, ...]

    @property
    def group(self) -> Group:
        return self.outcome.group

    def functions(self) -> dict[str, Function]:
        tasks = (self.tasks[result.task] for result in self.outcome.results)
        return {task.id: (task.snapshot, task.path, task.qualified_name, task.occurrence) for task in tasks}

    def estimate(self, k: int) -> Estimate | None:
        return next((one for one in self.outcome.figures.pass_at if one.k == k), None)


@dataclass(frozen=True, slots=True)
class TaskPair(panes.Pair[tuple[TaskRow, TaskResult]]):
    """A task of both groups, or of one, with its results; ``differences`` are those of pass@k, None unless both are defined."""

    path: str
    name: str
    differences: tuple[float | None, ...]

    @property
    def results(self) -> tuple[TaskResult | None, TaskResult | None]:
        return self.left[1] if self.left else None, self.right[1] if self.right else None


# -- reading


def groups_of(reader: SessionReader, run_id: str, only: Collection[Group] = ()) -> list[GroupSide]:
    """Read the groups of a run: those that were asked for by their names, then the controls; [] if it is not in the session.

    ``only`` names the groups that are wanted, which saves the intervals around the figures of all others.
    """
    run = reader.run(run_id)
    if run is None or run.kind != "regenerate":
        return []
    ks = ks_of(run.plan)[: panes.MOST_KS]
    tasks = reader.tasks(run_id)
    known = {task.id: task for task in tasks}
    counts = sample_counts(reader, run_id, by_task=True)
    groups = sorted({row.group for row in counts if not row.control})
    outcomes = group_outcomes([row for row in counts if not only or row.group in only], tasks, ks)
    return [
        GroupSide(reader.path.name, run, one, one.group.name(groups if not one.control else [one.group]), known, ks)
        for one in outcomes
    ]


def read_groups(left: panes.Named, right: panes.Named, *scale: object) -> panes.Comparison:
    """Compare two groups, each named by its run and its columns."""
    keys = [(run, Group(*columns)) for _, (run, columns) in (left, right)]
    # Both of one run are read at once.
    wanted: dict[tuple[SessionReader, str], list[Group]] = {}
    for (reader, _), (run, group) in zip((left, right), keys, strict=True):
        wanted.setdefault((reader, run), []).append(group)
    read = {where: groups_of(*where, groups) for where, groups in wanted.items()}
    sides = []
    for name, (reader, _), (run, group) in zip("AB", (left, right), keys, strict=True):
        side = next((one for one in read[reader, run] if one.group == group), None)
        if side is None:
            raise UsageError(f"{name} has no samples in {one_line(reader.path.name, 80)}.")
        sides.append(side)
    return compare_groups([(sides[0], sides[1])])[0]


def read_runs(
    left: panes.Named, right: panes.Named, rubric: str = "", judge: str = "", at: int = 0
) -> panes.Comparison:
    """Compare the groups of two runs that belong together, the pair of a number."""
    for name, run in zip("AB", panes.both(left, right, lambda reader, key: reader.run(key), "Run"), strict=True):
        if run.kind != "regenerate":
            raise UsageError(f"Run {name} has trials, no tasks: mark two runs of one kind.")
    pairs, alone = join_groups(groups_of(*left), groups_of(*right))
    if not pairs:
        raise UsageError("These runs have no samples that could be compared.")
    return compare_groups([pairs[at % len(pairs)]], len(pairs), alone)[0]


_ALIKE: tuple[Callable[[GroupSide], Any], ...] = (
    lambda side: side.group,
    lambda side: (side.group.evaluator, side.group.docs),
    lambda side: side.group.evaluator,
)
"""What groups are put together by, the closest likeness first."""


def join_groups(
    left: Iterable[GroupSide], right: Iterable[GroupSide]
) -> tuple[list[tuple[GroupSide, GroupSide]], list[str]]:
    """Put the groups of two runs together, controls left out, and name those that only one run has.

    Equal groups belong together, then those of the same evaluator and documentation, then of the same evaluator; where one of each
    is left over, these two do.
    """
    mine, other = ([side for side in sides if not side.outcome.control] for sides in (left, right))
    pairs: list[tuple[GroupSide, GroupSide]] = []
    for alike in _ALIKE:
        for a in list(mine):
            b = next((one for one in other if alike(one) == alike(a)), None)
            if b is not None:
                pairs.append((a, b))
                mine.remove(a)
                other.remove(b)
    if len(mine) == len(other) == 1:
        pairs.append((mine.pop(), other.pop()))
    return pairs, [f"only {name}: {side.name}" for name, alone in (("A", mine), ("B", other)) for side in alone]


# -- comparing


def compare_groups(
    sides: Sequence[tuple[GroupSide, GroupSide]], of: int = 1, alone: Sequence[str] = ()
) -> list[panes.Comparison]:
    """Compare groups task by task; p-values are adjusted for all differences of all pairs."""
    joined = [_join(left, right) for left, right in sides]

    @cache
    def chances() -> tuple[dict[tuple[int, int], float], int]:
        found = {(at, k): one for at, (_, tallies, _) in enumerate(joined) for k, one in tallies.items()}
        adjusted = adjusted_chances(found)
        return adjusted, len(adjusted)

    def chance(at: int) -> Callable[[int], tuple[float | None, int]]:
        return lambda k: (chances()[0].get((at, k)), chances()[1])

    return [_compared(*pair, joined[at], chance(at), of, " · ".join(alone)) for at, pair in enumerate(sides)]


_Joined = tuple[list[TaskPair], dict[int, Paired], bool]
"""The tasks of either, the largest differences first, pass@k over those of both, and whether their snapshots differ."""


def _join(left: GroupSide, right: GroupSide) -> _Joined:
    ks = tuple(sorted({*left.ks, *right.ks}))[: panes.MOST_KS]
    functions = left.functions(), right.functions()
    apart = _of_other_snapshots(functions[0].values(), functions[1].values())
    mine, other = (
        {_joined_by(names[one.task], apart): (side.tasks[one.task], one) for one in side.outcome.results}
        for side, names in zip((left, right), functions, strict=True)
    )
    pairs = []
    for (_, path, name, occurrence), a, b in panes.joined(mine, other):
        differences = gaps(a[1] if a else None, b[1] if b else None, ks)
        pairs.append(TaskPair(a, b, path, name + (f"#{occurrence}" if occurrence > 1 else ""), differences))
    found = {}
    for at, k in enumerate(ks):
        defined = [pair for pair in pairs if pair.differences[at] is not None]
        # Both stand where the left one does: its repository and file are what differences are clustered by.
        values = [
            [Value(pair.left[1].repository, pair.left[1].file, result.at(k) or 0.0) for pair in defined if pair.left and (result := pair.results[side])]
            for side in (0, 1)
        ]  # fmt: skip
        found[k] = Paired(values[0], values[1], sum(pair.both for pair in pairs) - len(defined))
    return sorted(pairs, key=_place), found, apart


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


def _place(pair: TaskPair) -> tuple[Any, ...]:
    """Where a pair stands: the largest differences first, the right one's losses before its wins."""
    alone = 0 if pair.both else 1 if pair.right is None else 2
    known = [one for one in pair.differences if one is not None]
    gap = next(filter(None, known), known[0] if known else None)
    return alone, gap is None, -abs(gap or 0.0), (gap or 0.0) > 0, pair.path, pair.name


def _conditions(left: GroupSide, right: GroupSide) -> list[tuple[str, str, str]]:
    """Return what the groups were made by where that differs: (what, left, right)."""
    a, b = left.group, right.group
    rows = [("session", left.session, right.session), ("run", _run(left), _run(right))]
    for name in ("docs", "docs_scope", "evaluator", "prompt", "context"):
        rows.append((name, getattr(a, name) or "none", getattr(b, name) or "none"))
    mine, other = settings_of(a.settings), settings_of(b.settings)
    rows += [(key, str(mine.get(key, "not set")), str(other.get(key, "not set"))) for key in sorted({*mine, *other})]
    return [row for row in rows if row[1] != row[2]]


def _run(side: GroupSide) -> str:
    return side.run.name or side.run.id


def _compared(
    left: GroupSide,
    right: GroupSide,
    joined: _Joined,
    chance: Callable[[int], tuple[float | None, int]],
    of: int,
    alone: str,
) -> panes.Comparison:
    (pairs, tallies, other_snapshot), ks = joined, tuple(joined[1])
    common, only_left, only_right = panes.in_each(pairs)
    conditions = _conditions(left, right)
    names = ", ".join(what for what, _, _ in conditions)
    over = next((one.difference.interval.over for one in tallies.values() if one.bounds[0] is not None), "")
    sides = (("A", left), ("B", right))
    said = [f"{key} {', '.join(marks)}" for key, side in sides if (marks := side.outcome.marks)]
    for k, one in tallies.items():
        count, fewer = one.difference.tasks, f", {one.missing:,} with fewer samples" if one.missing else ""
        said.append(f"pass@{k}: B wins {count.wins:,}, ties {count.ties:,}, loses {count.losses:,}{fewer}")
    said += ["other snapshots: joined by file and function"] if other_snapshot else []
    head = panes.Head(
        names=panes.names_apart(_name(left), _name(right), 1, 4),
        shared=f"differ in: {names}" if names else "made alike",
        figures=(
            panes.plain("tasks", left.outcome.figures.tasks, right.outcome.figures.tasks, 6, 7),
            panes.plain("samples", left.outcome.totals.samples, right.outcome.totals.samples, 8, 6),
            *(
                figure
                for place, (k, one) in enumerate(tallies.items())
                for figure in pass_at(k, one, left.estimate(k), right.estimate(k), place)
            ),
        ),
        alike=f"over the {common:,} tasks of both" + (f", interval {over}" if over else ""),
        note=one_line(" · ".join(filter(None, (*said, alone))), 400),
    )

    of_run = (panes.Lead("run", left.run.id),)

    def choose(a: SessionReader, b: SessionReader, row: TaskPair) -> panes.Leads:
        if row.left is None or row.right is None:
            return of_run
        keys = telling_samples((a, row.left[0].id, left.group), (b, row.right[0].id, right.group))
        runs = ((False, left.run.id), (True, right.run.id))
        if keys is None:
            raise UsageError("One of them has no sample of this task yet.")
        return tuple(panes.Lead("candidate", key, *where) for key, where in zip(keys, runs, strict=True))

    def values() -> dict[str, Any]:
        pass_json = {}
        for k, one in tallies.items():
            adjusted, tests = chance(k)
            count = one.difference.tasks
            pass_json[str(k)] = {**one.to_json(adjusted, tests), "tasks": one.items, "undefined": one.missing,
                                 "wins": count.wins, "ties": count.ties, "losses": count.losses}  # fmt: skip
        return {
            "a": {"session": left.session, "run": left.run.id, **left.outcome.to_json()},
            "b": {"session": right.session, "run": right.run.id, **right.outcome.to_json()},
            "common_tasks": common,
            "only_a": only_left,
            "only_b": only_right,
            "joined_across_snapshots": other_snapshot,
            "conditions": [{"what": what, "a": a, "b": b} for what, a, b in conditions],
            "pass_at_k": pass_json,
            "tasks": [
                {
                    "path": pair.path,
                    "name": pair.name,
                    **panes.pair_json(pair, lambda side: result_json(side[1], ks, task=side[0].id)),
                    "difference": dict(zip(map(str, ks), pair.differences, strict=True)),
                }
                for pair in pairs
            ],
        }

    def notes() -> list[str]:
        differ = "; ".join(f"{what} {one_line(a, 60)} | {one_line(b, 60)}" for what, a, b in conditions)
        found = [f"They differ in {differ}"] if conditions else []
        for k, one in tallies.items():
            if one.items:
                bounds = panes.interval_words(one.bounds, 2)
                found.append(f"pass@{k} B − A {f'{bounds} ' if bounds else ''}{one.difference.interval.words}")
                found.append(f"pass@{k} {one.words(*chance(k))}")
        return found

    return panes.Comparison(
        left=left,
        right=right,
        head=lambda width: head,
        leads=lambda pane, rows: of_run,
        values=values,
        notes=notes,
        of=of,
        detail=lambda a, b, row: _detail((a, left.group, row.left), (b, right.group, row.right), row),
        choose=choose,
        panes={
            "task-diff": panes.Table(
                said=f"{common:,} in both · only A {only_left:,} · only B {only_right:,}",
                rows=pairs,
                columns=_task_columns(ks),
                sign=_more_solved,
                nothing="Neither has a task with a sample.",
            )
        },
    )


# -- what is shown


def _name(side: GroupSide) -> list[str]:
    group = side.group
    made = (getattr(group, field) or f"no {field}" for field in ("prompt", "context", "settings"))
    return [group.evaluator, f"docs {group.docs_words}", f"run {_run(side)}", side.session, *made]


def pass_at(
    k: int, one: Paired, left: Estimate | None, right: Estimate | None, place: int
) -> tuple[panes.Figure, panes.Figure]:
    """Return the columns of a k: pass@k of all tasks of each, with intervals where there is room, and of the tasks of both."""

    def value(estimate: Estimate | None) -> str:
        return panes.NOTHING if estimate is None or estimate.value is None else f"{estimate.value:.2f}"

    def bounded(estimate: Estimate | None) -> str:
        known = estimate is not None and estimate.value is not None and estimate.low is not None
        return value(estimate) + (f" [{estimate.low:.2f}, {estimate.high:.2f}]" if estimate and known else "")

    a, b = (panes.NOTHING if mean is None else f"{mean:.2f}" for mean in (one.left, one.right))
    return (
        panes.Figure(
            f"pass@{k}", (bounded(left), bounded(right), (panes.interval_words(one.bounds, 2), "dim")), 7, place,
            (value(left), value(right), ""), widest=20, style="score",
        ),
        panes.Figure(f"both @{k}", (a, b, panes.change_cell(one.gap, 2, none="strong")), 8, place),
    )  # fmt: skip


def _task_columns(ks: Sequence[int]) -> list[panes.Column[TaskPair]]:
    def value(side: int, k: int) -> Callable[[TaskPair], panes.Cell]:
        def cell(pair: TaskPair) -> panes.Cell:
            result = pair.results[side]
            return panes.NOTHING if result is None or result.at(k) is None else f"{result.at(k):.2f}", "dim"

        return cell

    columns: list[panes.Column[TaskPair]] = [
        panes.texts("function", lambda pair: (one_line(pair.name, 200), "strong" if any(pair.differences) else ""), 18, 80, cut="end"),
        panes.texts("file", lambda pair: (one_line(pair.path, 300), "dim"), 16, 120, priority=100),
        panes.Column("A passed", lambda pair: passed_cell(pair.results[0]), 8),
        panes.Column("B", lambda pair: passed_cell(pair.results[1]), 8, page="B passed"),
    ]  # fmt: skip
    changes: list[panes.Column[TaskPair]] = panes.changes(ks, lambda pair: pair.differences)
    for at, (k, gap) in enumerate(zip(ks, changes, strict=True)):
        sides = [
            panes.Column(f"{name} @{k}", value(side, k), 5, priority=50 + at, page="-")
            for side, name in enumerate("AB")
        ]
        columns += [*sides, gap]
    return columns


def _more_solved(row: TaskPair) -> tuple[str, str]:
    if side := panes.sided(row.left, row.right):
        return side
    known = [gap for gap in row.differences if gap is not None]
    a, b = row.results
    alike = not any(known) if known else passed_cell(a) == passed_cell(b)
    return panes.SAME if alike else panes.signed(next(filter(None, known), None))


_Asked = tuple["SessionReader", Group, tuple[TaskRow, TaskResult] | None]


def _detail(left: _Asked, right: _Asked, row: TaskPair) -> dict[str, panes.Pane]:
    """Return the failing tests and docstrings of a task on both sides."""
    failed, docs = [], []
    for name, (reader, group, task) in zip("AB", (left, right), strict=True):
        failed.append(failed_counts(reader, task[0].id, group) if task is not None else {})
        absent = TextSide("docs ", None, f"{name} has no such task")
        docs.append(docstring_of(reader, task[0], 40) if task is not None else absent)
    texts = compare_texts(docs[0], docs[1]).named()
    said = "the same" if texts.same else f"{texts.diff.common_words:,} words in common"
    nothing = "No sample of either fails a test."
    return {
        "test-diff": failing_pane(join_tests(failed[0], failed[1]), nothing, one_line(row.name, 40)),
        "docs-diff": panes.Texts(texts, said),
    }


def telling_samples(
    left: tuple[SessionReader, str, Group], right: tuple[SessionReader, str, Group]
) -> tuple[str, str] | None:
    """Return a candidate of each group for a task whose verdicts differ, or the first of each; None where one has none."""
    mine, other = ([(row.id, row.verdict or "") for row in samples_of(*side)[:_MOST_SAMPLES]] for side in (left, right))
    if not mine or not other:
        return None
    apart = [(a, b) for a, verdict in mine for b, said in other if verdict != said and "passed" in (verdict, said)]
    return apart[0] if apart else (mine[0][0], other[0][0])


_TITLES = {"task-diff": "Tasks", "test-diff": "Failing tests", "docs-diff": "Docstrings"}
GROUPS = panes.Kind("groups", "two evaluators", _TITLES, read_groups, head_lines=5)
RUNS = panes.Kind("groups", "two runs", _TITLES, read_runs, head_lines=5)
KINDS = {"group": GROUPS, "run": RUNS}
