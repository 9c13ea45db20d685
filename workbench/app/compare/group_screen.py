"""Two groups of candidates side by side (evaluators, doc systems, prompts), or two runs group by group: pass@k task by task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import BindingType

from workbench.app.compare.difference_list import DifferenceList, DifferenceTable
from workbench.app.compare.frame import SideBySide, reading
from workbench.app.compare.head import Figure, HeadTable
from workbench.app.compare.task_tables import TASKS, FailingLine, failing
from workbench.app.compare.text_rows import TextRows
from workbench.app.compare.wording import NOTHING, change, of_change
from workbench.app.keys import bind
from workbench.app.location import Place
from workbench.app.marks import Marked, Pair
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.row_list import RowList
from workbench.comparison import (
    FailingCount,
    GroupComparison,
    GroupSide,
    Tally,
    TextPair,
    compare_groups,
    compare_texts,
    failing_counts,
    groups_of,
    join_groups,
    read_group,
    read_text,
    telling_samples,
)
from workbench.regeneration.passk import Estimate
from workbench.session.groups import Group
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.comparison import TaskPair
    from workbench.session.reader import SessionReader


def name_of(side: GroupSide, other: GroupSide) -> str:
    """Return the evaluator with whatever else tells the two apart."""
    mine, theirs = side.group, other.group
    parts = [mine.evaluator]
    for field in ("docs_words", "prompt", "context", "settings"):
        if getattr(mine, field) != getattr(theirs, field):
            parts.append(f"docs {mine.docs_words}" if field == "docs_words" else getattr(mine, field) or f"no {field}")
    if side.run.id != other.run.id:
        parts.append(f"run {side.run.name or side.run.id}")
    if side.session != other.session:
        parts.append(side.session)
    return one_line(" · ".join(parts), 200)


def tallies_in_words(comparison: GroupComparison) -> str:
    """Return what marks each side's figures, then ``pass@1: B wins 4, ties 30, loses 2``, for each k, and what is in no figure."""
    sides = (("A", comparison.left), ("B", comparison.right))
    parts = [f"{key} {', '.join(marks)}" for key, side in sides if (marks := side.outcome.marks)]
    for one in comparison.tallies:
        left_out = f", {one.undefined:,} with fewer samples" if one.undefined else ""
        parts.append(f"pass@{one.k}: B wins {one.wins:,}, ties {one.ties:,}, loses {one.losses:,}{left_out}")
    if comparison.other_snapshot:
        parts.append("other snapshots: joined by file and function")
    return " · ".join(parts)


def tasks_in_words(comparison: GroupComparison) -> str:
    """Return how many tasks both have, and how many only one has."""
    return f"{comparison.common:,} in both · only A {comparison.only_left:,} · only B {comparison.only_right:,}"


def pass_at(one: Tally, left: Estimate | None, right: Estimate | None, *, place: int) -> tuple[Figure, Figure]:
    """Return the columns of a k: pass@k of all tasks of each, with intervals where there is room, and of the tasks of both."""
    gap = change(one.difference, 2) or NOTHING, of_change(one.difference) or "strong"
    a, b = _with_interval(left), _with_interval(right)
    bounds = one.interval
    interval = "" if bounds.low is None else f"[{change(bounds.low, 2)}, {change(bounds.high, 2)}]"
    return (
        Figure(title=f"pass@{one.k}", of=(a, b, (interval, "dim")), width=7, widest=20, style="score", priority=place,
               brief=(_value(left), _value(right), "")),
        Figure(title=f"both @{one.k}", of=(_value(one.left), _value(one.right), gap), width=8, priority=place),
    )  # fmt: skip


def _estimates(comparison: GroupComparison, k: int) -> tuple[Estimate | None, Estimate | None]:
    left, right = (
        {one.k: one for one in side.outcome.figures.pass_at}.get(k) for side in (comparison.left, comparison.right)
    )
    return left, right


def _with_interval(one: Estimate | None) -> str:
    bounds = "" if one is None or one.value is None or one.low is None else f" [{one.low:.2f}, {one.high:.2f}]"
    return _value(one) + bounds


def _value(one: Estimate | None) -> str:
    return NOTHING if one is None or one.value is None else f"{one.value:.2f}"


@dataclass(frozen=True, slots=True)
class TaskDetail:
    """What stands beside the tasks: the failing tests of the one under the cursor, and its docstrings."""

    tests: tuple[FailingCount, ...]
    docstrings: TextPair


class GroupsScreen(SideBySide):
    """Two groups, or two runs of which the groups stand beside each other pair by pair."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("compare.next-pair", "pair(1)", "next pair", key_display="[ ]"),
        bind("compare.previous-pair", "pair(-1)", "Previous pair", show=False),
    ]
    titles: ClassVar[dict[str, str]] = {
        "task-diff": "Tasks", "test-diff": "Failing tests", "docs-diff": "Docstrings",
    }  # fmt: skip
    begins: ClassVar[dict[str, str]] = {"Docstring": "docs-diff"}

    def __init__(self, pair: Pair) -> None:
        super().__init__(pair)
        self.detailing, self.choosing = Latest(self, "detail"), Latest(self, "samples")
        self._at, self._of, self._alone = 0, 1, ""
        self._detail: TaskDetail | None = None

    head_lines = 5

    def lists_of(self) -> Sequence[DifferenceList[Any]]:
        tests = failing(_failing_lines, "No sample of either fails a test.")
        return (
            DifferenceTable(TASKS, id="task-diff-list"),
            DifferenceTable(tests, id="test-diff-list"),
            TextRows(lambda detail: detail.docstrings, id="docs-diff-list"),
        )

    @property
    def what(self) -> str:  # type: ignore[override]
        return "two runs" if self.pair.left.kind == "run" else "two evaluators"

    # -- what is shown

    @property
    def lists(self) -> list[DifferenceList[Any]]:
        return [self.tasks]

    @property
    def tasks(self) -> DifferenceTable[GroupComparison, TaskPair]:
        return self.query_one("#task-diff-list", DifferenceTable)

    def read(self, left: SessionReader, right: SessionReader) -> GroupComparison | str:
        a, b = self.pair.left, self.pair.right
        if a.kind == "group":
            sides = _sides(left, right, a, b)
            for name, reader, side in zip("AB", (left, right), sides, strict=True):
                if side is None:
                    return f"{name} has no samples in {one_line(reader.path.name, 80)}."
            self._of, self._alone = 1, ""
            return compare_groups(sides[0], sides[1])  # type: ignore[arg-type]
        for name, reader, one in (("A", left, a), ("B", right, b)):
            run = reader.run(str(one.key))
            if run is None:
                return f"Run {name} is not in {one_line(reader.path.name, 80)}."
            if run.kind != "regenerate":
                return f"Run {name} has trials, no tasks: mark two runs of one kind."
        beside = join_groups(groups_of(left, str(a.key)), groups_of(right, str(b.key)))
        if not beside.pairs:
            return "These runs have no samples that could be compared."
        alone = [f"only A: {side.name}" for side in beside.only_left] + [
            f"only B: {side.name}" for side in beside.only_right
        ]
        self._of, self._alone = len(beside.pairs), one_line(" · ".join(alone), 200)
        return compare_groups(*beside.pairs[self._at % len(beside.pairs)])

    def show_figures(self) -> None:
        super().show_figures()
        for one in self.query(DifferenceList):
            if one is not self.tasks and one.only_differences is not self.only_differences:
                one.show_only_differences(self.only_differences)
        self._show_task()

    def figures_of(self, pane: str, comparison: GroupComparison) -> str:
        detail = self._detail
        if pane == "task-diff":
            return tasks_in_words(comparison)
        if pane == "test-diff":
            return one_line(self.tasks.selected.name, 40) if self.tasks.selected is not None else ""
        if detail is None:
            return ""
        return "the same" if detail.docstrings.same else f"{detail.docstrings.diff.common_words:,} words in common"

    def head_of(self, comparison: GroupComparison, width: int) -> HeadTable:
        which = f"pair {self._at % self._of + 1} of {self._of}, [ ] turns" if self._of > 1 else ""
        names = [what for what, _, _ in comparison.conditions]
        a, b = comparison.left, comparison.right
        tasks, samples = (
            [f"{value:,}" for value in values]
            for values in (
                (a.outcome.figures.tasks, b.outcome.figures.tasks),
                (a.outcome.totals.samples, b.outcome.totals.samples),
            )
        )
        over = next((one.interval.over for one in comparison.tallies if one.interval.low is not None), "")
        said = [f"over the {comparison.common:,} tasks of both", *([f"interval {over}"] if over else [])]
        return HeadTable(
            names=(name_of(a, b), name_of(b, a)),
            shared=f"differ in: {', '.join(names)}" if names else "made alike",
            figures=(
                Figure(title="tasks", of=(tasks[0], tasks[1], ""), width=6, priority=7),
                Figure(title="samples", of=(samples[0], samples[1], ""), width=8, priority=6),
                *(
                    one
                    for place, tally in enumerate(comparison.tallies)
                    for one in pass_at(tally, *_estimates(comparison, tally.k), place=place)
                ),
            ),
            alike=", ".join(said),
            note=one_line(" · ".join(filter(None, (tallies_in_words(comparison), which, self._alone))), 400),
        )

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        if message.row_list is self.tasks:
            self._show_task()
        self.show_below()

    def _show_task(self) -> None:
        found: GroupComparison | None = self.comparison
        task = self.tasks.selected
        if found is None or task is None:
            self._show_detail(None)
            return
        pair, opened = self.pair, self.workbench.reader

        def work() -> TaskDetail:
            with (
                reading(opened, pair.left.session, surveyed=False) as left,
                reading(opened, pair.right.session, surveyed=False) as right,
            ):
                return detail_of(left, right, found, task)

        self.detailing.ask(work, self._show_detail)

    def _show_detail(self, detail: TaskDetail | None) -> None:
        self._detail = detail
        for one in self.query(DifferenceList):
            if one is not self.tasks:
                one.put(detail)
        super().show_figures()

    # -- what one can do

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self._of > 1 if action == "pair" else super().check_action(action, parameters)

    def action_pair(self, step: int) -> None:
        self._at = (self._at + step) % self._of
        self._load()

    def target(self) -> tuple[Marked, Place | None] | None:
        found: GroupComparison | None = self.comparison
        if found is None:
            return None
        return replace(self.pair.left, kind="run", key=found.left.run.id), None

    def action_open_item(self) -> None:
        found: GroupComparison | None = self.comparison
        task = self.tasks.selected
        if found is None or task is None or task.left is None or task.right is None:
            super().action_open_item()
            return
        pair, opened = self.pair, self.workbench.reader
        left_task, right_task = task.left[0].id, task.right[0].id

        def work() -> tuple[str, str] | None:
            with (
                reading(opened, pair.left.session, surveyed=False) as left,
                reading(opened, pair.right.session, surveyed=False) as right,
            ):
                return telling_samples((left, left_task, found.left.group), (right, right_task, found.right.group))

        def done(keys: tuple[str, str] | None) -> None:
            if keys is None:
                self.notify("One of them has no sample of this task yet.", timeout=4)
                return
            a, b = (
                Marked(one.session, "candidate", key, run=side.run.id)
                for one, key, side in ((pair.left, keys[0], found.left), (pair.right, keys[1], found.right))
            )
            self.workbench.show_pair(Pair(a, b))

        self.choosing.ask(work, done)


def _sides(left: SessionReader, right: SessionReader, a: Marked, b: Marked) -> list[GroupSide | None]:
    groups = [Group(*one.key) if isinstance(one.key, tuple) else None for one in (a, b)]
    if left is right and a.run == b.run:
        found = groups_of(left, a.run, [group for group in groups if group is not None])
        return [next((side for side in found if side.group == group), None) for group in groups]
    return [
        read_group(reader, one.run, group) if group is not None else None
        for reader, one, group in ((left, a, groups[0]), (right, b, groups[1]))
    ]


def detail_of(left: SessionReader, right: SessionReader, found: GroupComparison, task: TaskPair) -> TaskDetail:
    """Read the failing tests and docstrings of a task on both sides."""
    sides = []
    texts = []
    for name, reader, side, one in (("A", left, found.left, task.left), ("B", right, found.right, task.right)):
        sides.append((reader, one[0].id, side.group) if one is not None else None)
        row = one[0] if one is not None else None
        absent = f"{name} has no such task" if row is None else "no docstring"
        docs = one_line(row.docs_words, 40) if row is not None else ""
        digest = row.docstring_blob if row is not None else None
        texts.append(read_text(reader, digest, f"{name}  docs {docs}", "the docstring", absent))
    return TaskDetail(failing_counts(*sides), compare_texts(*texts))


def _failing_lines(detail: TaskDetail) -> Sequence[FailingLine]:
    return [
        FailingLine(
            one.test,
            f"✗ {one.left:,}" if one.left else "",
            f"✗ {one.right:,}" if one.right else "",
            one.left_message,
            one.right_message,
            one.left == one.right and one.left_message == one.right_message,
        )
        for one in detail.tests
    ]
