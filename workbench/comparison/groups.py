"""Compare two groups of candidates, or two runs group by group.

Groups are evaluators, doc systems or prompts of one run, of two runs, or of two sessions. All figures are computed by
:mod:`workbench.regeneration.outcome`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from workbench.base.errors import UsageError
from workbench.base.text import one_line, share
from workbench.comparison import panes, tasks
from workbench.comparison.texts import TextSide, compare_texts, docstring_of
from workbench.regeneration.outcome import GroupOutcome, TaskResult, group_outcomes, ks_of
from workbench.regeneration.passk import PassEstimate
from workbench.results.samples import samples_of
from workbench.session.groups import Group, settings_of
from workbench.session.rows import RunRow, TaskRow
from workbench.session.sample_counts import sample_counts
from workbench.statistics.intervals import Value
from workbench.statistics.paired import Paired, holm

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

Function = tuple[str, str, str, int]  # snapshot, path, qualified name, occurrence
Sides = tuple["GroupSide", "GroupSide"]
_MOST_SAMPLES = 50


class GroupSide:
    """One of two groups of candidates.

    ``name`` distinguishes it from the other groups of its run; ``ks`` has the values of k requested in that run.
    """

    def __init__(self, session: str, run: RunRow, of: GroupOutcome, name: str, rows: Mapping[str, TaskRow]) -> None:
        self.session, self.run, self.run_name = session, run, run.name or run.id
        self.ks = ks_of(run.plan)[: panes.MOST_KS]
        self.outcome, self.group, self.name = of, of.group, name
        mine = [rows[result.task] for result in of.results]
        self.functions = {task.id: (task.snapshot, task.path, task.qualified_name, task.occurrence) for task in mine}
        self.names = {task.id: tasks.function_name(task) for task in mine}

    @property
    def parts(self) -> list[str]:
        group = self.group
        prompt, context, settings = (getattr(group, name) or f"no {name}" for name in ("prompt", "context", "settings"))
        if self.run.kind == "usage":
            return [group.evaluator, context, f"run {self.run_name}", self.session, prompt, settings]
        where = (f"docs {group.docs_words}", f"run {self.run_name}", self.session)
        return [group.evaluator, *where, prompt, context, settings]

    @property
    def figure(self) -> str:
        """The name of pass@k for this kind of run, without k."""
        return "use" if self.run.kind == "usage" else "pass"

    @property
    def made(self) -> dict[str, str]:
        names = "docs", "docs_scope", "evaluator", "prompt", "context"
        columns = {name: getattr(self.group, name) or "none" for name in names}
        limits = {name: str(value) for name, value in settings_of(self.group.settings).items()}
        return {"session": self.session, "run": self.run_name, **columns, **limits}

    def to_json(self) -> dict[str, Any]:
        return {"session": self.session, "run": self.run.id, **self.outcome.to_json()}


def groups_of(reader: SessionReader, run_id: str, only: Collection[Group] = ()) -> list[GroupSide]:
    """Read the groups of a run, sorted by name and followed by the controls; [] if the session lacks the run.

    ``only`` selects groups, so that no intervals are computed for other groups.
    """
    run = reader.run(run_id)
    if run is None or not run.has_candidates:
        return []
    rows = {task.id: task for task in reader.tasks(run_id)}
    counts = sample_counts(reader, run_id, by_task=True)
    groups = sorted({row.group for row in counts if not row.control})
    wanted = [row for row in counts if not only or row.group in only]
    return [
        GroupSide(reader.path.name, run, one, one.group.name(groups if not one.control else [one.group]), rows)
        for one in group_outcomes(wanted, rows.values(), ks_of(run.plan)[: panes.MOST_KS])
    ]


def read_groups(left: panes.Named, right: panes.Named, *scale: object) -> panes.PairComparison:
    groups = [Group(*columns) for _, (_, columns) in (left, right)]

    @cache  # two groups of the same run are read together
    def groups_in(reader: SessionReader, run: str) -> dict[Group, GroupSide]:
        return {one.group: one for one in groups_of(reader, run, groups)}

    both = panes.both(left, right, lambda reader, key: groups_in(reader, key[0]).get(Group(*key[1])), "Evaluator")
    return compare_groups([both])[0]


def read_runs(left: panes.Named, right: panes.Named, rubric: str = "", judge: str = "", at: int = 0) -> panes.PairComparison:  # fmt: skip
    """Compare the matching groups of two runs; ``at`` is the index of the pair to show."""
    for name, run in zip("AB", panes.both(left, right, lambda reader, key: reader.run(key), "Run"), strict=True):
        if not run.has_candidates:
            raise UsageError(f"Run {name} has trials, not tasks: mark two runs of the same kind.")
    pairs, alone = join_groups(groups_of(*left), groups_of(*right))
    if not pairs:
        raise UsageError("These runs have no samples in common to compare.")
    (found,) = compare_groups([pairs[at % len(pairs)]])
    return replace(found, of=len(pairs), note=one_line(" · ".join((found.note, *alone)), 400))


def join_groups(left: Iterable[GroupSide], right: Iterable[GroupSide]) -> tuple[list[Sides], list[str]]:
    """Match the groups of two runs, without controls; return the pairs and the names of unmatched groups.

    Equal groups are matched first, then groups with the same evaluator and docs, then those with the same evaluator,
    and finally the last remaining group of each run.
    """
    mine, other = ([side for side in sides if not side.outcome.control] for sides in (left, right))
    if mine and other:
        panes.check_same_kind(mine[0].run, other[0].run)
    pairs: list[Sides] = []
    for names in (("group",), ("group.evaluator", "group.docs"), ("group.evaluator",)):
        alike = attrgetter(*names)
        for a in list(mine):
            b = next((one for one in other if alike(one) == alike(a)), None)
            if b is not None:
                pairs.append((a, b))
                mine.remove(a)
                other.remove(b)
    if len(mine) == len(other) == 1:
        pairs.append((mine.pop(), other.pop()))
    return pairs, [f"only {name}: {side.name}" for name, alone in (("A", mine), ("B", other)) for side in alone]


def compare_groups(sides: Sequence[Sides]) -> list[panes.PairComparison]:
    """Compare groups by task; p-values are adjusted for all pairs and values of k. Raises UsageError."""
    for left, right in sides:
        panes.check_same_kind(left.run, right.run)
    joined = [_join(left, right) for left, right in sides]

    @cache
    def adjusted() -> dict[Paired, float]:
        return holm({one: one.test.p for _, found, _ in joined for one in found.values() if one.test.p is not None})

    return [_compared(a, b, *found, adjusted) for (a, b), found in zip(sides, joined, strict=True)]


def _join(left: GroupSide, right: GroupSide) -> tuple[list[tasks.PassPair], dict[int, Paired], bool]:
    """Return the tasks of both sides, pass@k over their common tasks, and whether the snapshots differ.

    The tasks are sorted by difference, largest first.
    """
    ks = tuple(sorted({*left.ks, *right.ks}))[: panes.MOST_KS]
    same = join_tasks(left.functions, right.functions)
    mine: dict[object, TaskResult] = {one.task: one for one in left.outcome.results}
    # Tasks that only the right side has get keys that cannot occur on the left side.
    other = {same.get(one.task, (one.task,)): one for one in right.outcome.results}
    pairs = []
    for _, a, b in panes.joined(mine, other):
        name = left.names[a.task] if a is not None else right.names[b.task] if b is not None else ""
        pairs.append(tasks.pass_pair(a, b, ks, name))
    found = {}
    for at, k in enumerate(ks):
        defined = [(pair.left, pair.right) for pair in pairs if pair.left and pair.right and pair.gaps[at] is not None]
        # Differences are clustered by the repository and file of the left side.
        values = [
            [Value(both[0].repository, both[0].file, both[side].at(k) or 0.0) for both in defined] for side in (0, 1)
        ]
        found[k] = Paired(values[0], values[1], sum(pair.both for pair in pairs) - len(defined))
    pairs.sort(key=lambda pair: (pair.order, pair.either.file, pair.name))
    return pairs, found, _of_other_snapshots(left.functions, right.functions)


def join_tasks(mine: Mapping[str, Function], other: Mapping[str, Function]) -> dict[str, str]:
    """Map each id in ``other`` to the id in ``mine`` of the same function."""
    # Versions of a repository have different snapshots, so functions are matched by name.
    first = 1 if _of_other_snapshots(mine, other) else 0
    known = {function[first:]: key for key, function in mine.items()}
    return {key: known[function[first:]] for key, function in other.items() if function[first:] in known}


def _of_other_snapshots(mine: Mapping[str, Function], other: Mapping[str, Function]) -> bool:
    left, right = ({snapshot for snapshot, *_ in functions.values()} for functions in (mine, other))
    return bool(left and right) and not left & right


def _compared(
    left: GroupSide, right: GroupSide, pairs: Sequence[tasks.PassPair], figures: Mapping[int, Paired], other_snapshot: bool,
    adjusted: Callable[[], Mapping[Paired, float]],
) -> panes.PairComparison:  # fmt: skip
    ks = tuple(figures)
    mine, other = ({one.k: one for one in side.outcome.figures.pass_at} for side in (left, right))
    common, only_left, only_right = panes.in_each(pairs)
    made = panes.joined(left.made, right.made)
    conditions = [(what, a or "not set", b or "not set") for what, a, b in made if a != b]
    names = ", ".join(what for what, _, _ in conditions)
    over = next((one.difference.interval.over for one in figures.values() if one.bounds[0] is not None), "")
    note = [f"{key} {', '.join(marks)}" for key, side in (("A", left), ("B", right)) if (marks := side.outcome.marks)]
    for k, one in figures.items():
        fewer = f", {one.missing:,} with fewer samples" if one.missing else ""
        note.append(f"{left.figure}@{k}: {panes.wins(one.difference.tasks)}{fewer}")
    note += ["other snapshots: joined by file and function"] if other_snapshot else []
    name = left.figure
    of_run = (panes.Lead("run", left.run.id), panes.Lead("run", right.run.id, of_b=True))

    def pass_json(one: Paired) -> dict[str, Any]:
        count = {"tasks": one.items, "undefined": one.missing, **asdict(one.difference.tasks)}
        return {**one.to_json(adjusted().get(one), len(adjusted())), **count}

    def choose(a: SessionReader, b: SessionReader, rows: Mapping[str, Any]) -> panes.Leads:
        row = rows["Tasks"]
        if row is None or row.left is None or row.right is None:
            return of_run[:1]
        mine, other = samples_of(a, row.left.task, left.group), samples_of(b, row.right.task, right.group)
        pairs = itertools.product(mine[:_MOST_SAMPLES], other[:_MOST_SAMPLES])
        # Choose the first pair with different verdicts, or the first sample of each side.
        found = min(pairs, key=lambda pair: len({one.verdict == "passed" for one in pair}) == 1, default=())
        if not found:
            raise UsageError("One of them has no sample of this task yet.")
        return tuple(panes.Lead("candidate", one.id, of.of_b, of.key) for one, of in zip(found, of_run, strict=True))

    def detail(a: SessionReader, b: SessionReader, row: tasks.PassPair) -> dict[str, panes.Pane]:
        failed: list[tasks.Tests] = [{}, {}]
        docs = [TextSide("docs ", None, f"{name} has no such task") for name in "AB"]
        for at, (reader, group, result) in enumerate(((a, left.group, row.left), (b, right.group, row.right))):
            if result is not None and (task := reader.task(result.task)) is not None:
                failed[at], docs[at] = tasks.failed_counts(reader, task.id, group), docstring_of(reader, task, 40)
        tests = tasks.failing_pane(tasks.join_tests(failed[0], failed[1]), one_line(row.name, 40))
        return {"Failing tests": tests, "Docstrings": compare_texts(docs[0], docs[1])}

    def notes() -> list[str]:
        differ = "; ".join(f"{what} {one_line(a, 60)} | {one_line(b, 60)}" for what, a, b in conditions)
        found = [f"They differ in {differ}"] if conditions else []
        for k, one in figures.items():
            if one.items:
                bounds = panes.interval_words(one.bounds, 2)
                found.append(f"{name}@{k} B − A {f'{bounds} ' if bounds else ''}{one.difference.interval.words}")
                found.append(f"{name}@{k} {one.words(adjusted().get(one), len(adjusted()))}")
        return found

    return panes.PairComparison(
        names=panes.names_apart(left.parts, right.parts, 1, 4),
        shared=f"differ in: {names}" if names else "made alike",
        columns=(
            panes.Amount("tasks", left.outcome.figures.tasks, right.outcome.figures.tasks, 6, 0, 7, False).column,
            panes.Amount("samples", left.outcome.totals.samples, right.outcome.totals.samples, 8, 0, 6, False).column,
            *itertools.chain(*(pass_at(name, k, figures[k], mine.get(k), other.get(k), at) for at, k in enumerate(ks))),
        ),
        alike=f"over the {common:,} tasks of both" + (f", interval {over}" if over else ""),
        note=one_line(" · ".join(note), 400),
        leads=of_run,
        notes=notes,
        detail=detail,
        choose=choose,
        panes={
            "Tasks": panes.PaneTable(
                summary=panes.in_each_words(pairs),
                rows=pairs,
                columns=(
                    panes.texts("function" if name == "pass" else "call", lambda one: (one_line(one.name, 200), "strong" if one.gap else ""), 18, 80, cut="end"),
                    panes.texts("file", lambda one: (one_line(one.either.file, 300), "dim"), 16, 120, priority=100),
                    *tasks.pass_columns(ks),
                ),
                nothing="Neither has a task with a sample.",
            )
        },
        to_json=lambda: {
            "a": left.to_json(),
            "b": right.to_json(),
            "common_tasks": common,
            "only_a": only_left,
            "only_b": only_right,
            "joined_across_snapshots": other_snapshot,
            "conditions": [{"what": what, "a": a, "b": b} for what, a, b in conditions],
            "pass_at_k": {str(k): pass_json(one) for k, one in figures.items()},
            "tasks": [{"path": one.either.file, "name": one.name, **tasks.result_json(one, ks, "task")} for one in pairs],
        },
    )  # fmt: skip


def pass_at(
    name: str, k: int, one: Paired, left: PassEstimate | None, right: PassEstimate | None, at: int
) -> list[panes.PaneColumn[int]]:
    """Return the columns for one k; ``name`` is ``pass`` or ``use``.

    They are pass@k over all tasks of each side with its intervals, and pass@k over the common tasks.
    """

    def bounds(estimate: PassEstimate | None) -> str:
        known = estimate is not None and estimate.value is not None and estimate.low is not None
        return f"[{estimate.low:.2f}, {estimate.high:.2f}]" if estimate and known else ""

    values = *(share(None if each is None else each.value) for each in (left, right)), ""
    intervals = bounds(left), bounds(right), (panes.interval_words(one.bounds, 2), "dim")
    return [
        panes.head_column(f"{name}@{k}", values, 7, at, "score"),
        panes.head_column("interval", intervals, 14, 10 + at, widest=16, text=True),
        panes.head_column(f"both @{k}", [*map(share, one.means), panes.change_cell(one.gap, 2, none="strong")], 8, at),
    ]  # fmt: skip


_TITLES = ("Tasks", "Failing tests", "Docstrings")
GROUPS = panes.ComparisonKind("groups", "two evaluators", _TITLES, read_groups)
RUNS = panes.ComparisonKind("groups", "two runs", _TITLES, read_runs)
