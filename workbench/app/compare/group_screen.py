"""Two groups of candidates side by side (evaluators, doc systems, prompts), or two runs group by group: pass@k task by task."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import BindingType
from textual.containers import Container
from textual.widget import Widget

from workbench.app.compare.difference_list import DifferenceList
from workbench.app.compare.frame import HeadLines, SideBySide, reading
from workbench.app.compare.task_tables import FailingLine, FailingRows, TaskRows, messages, panes_of
from workbench.app.compare.text_rows import TextRows
from workbench.app.compare.wording import NOTHING, change, of_change
from workbench.app.key_table import key_of
from workbench.app.keys import bind
from workbench.app.location import Place
from workbench.app.marks import Marked, Pair
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.texts import Static
from workbench.app.toolkit.virtual_view import Part, fit
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
from workbench.text import one_line, shortened

if TYPE_CHECKING:
    from workbench.comparison import TaskPair
    from workbench.session.reader import SessionReader


_TASKS, _SAMPLES, _ALL, _COMMON = 6, 8, 20, 8
_NARROW = 7  # of a value without its interval
_LEAST = 20


def head_of(comparison: GroupComparison, note: str, width: int) -> list[list[Part]]:
    """Return five lines: titles, A, B, the difference over the tasks of both, and how many tasks each wins.

    Args:
        comparison: What is compared.
        note: What else is to be said, "" for nothing.
        width: Cells that there are.
    """
    ks = list(comparison.ks)
    wide = _ALL
    fixed = 3 + _TASKS + _SAMPLES
    if fixed + _LEAST + len(ks) * (wide + _COMMON) > width:
        wide = _NARROW
    while len(ks) > 1 and fixed + _LEAST + len(ks) * (wide + _COMMON) > width:
        ks.pop()
    room = max(8, width - fixed - len(ks) * (wide + _COMMON))
    titles = "".join(fit(f"pass@{k}", wide, right=True) for k in ks)
    titles += "".join(fit(f"both @{k}", _COMMON, right=True) for k in ks)
    lines: list[list[Part]] = [
        [
            (
                f"   {fit(shared(comparison, room), room)}{fit('tasks', _TASKS, right=True)}{fit('samples', _SAMPLES, right=True)}{titles}",
                "dim",
            )
        ]
    ]
    for key, side, other in (("A", comparison.left, comparison.right), ("B", comparison.right, comparison.left)):
        outcome = side.outcome
        pass_at = {one.k: one for one in outcome.figures.pass_at}
        parts: list[Part] = [
            (f" {key} ", "only-a" if key == "A" else "only-b"),
            (fit(shortened(name_of(side, other), room - 1), room), "strong"),
            (fit(f"{outcome.figures.tasks:,}", _TASKS, right=True), ""),
            (fit(f"{outcome.totals.samples:,}", _SAMPLES, right=True), ""),
        ]
        parts += [(fit(_estimate(pass_at.get(k), whole=wide == _ALL), wide, right=True), "score") for k in ks]
        tallies = {one.k: one for one in comparison.tallies}
        parts += [
            (fit(_value(tallies[k].left if key == "A" else tallies[k].right), _COMMON, right=True), "") for k in ks
        ]
        lines.append(parts)
    label = 3 + room + _TASKS + _SAMPLES + len(ks) * wide
    said = f"   B − A   over the {comparison.common:,} tasks of both"
    bounds = bounds_in_words(comparison.tallies[: len(ks)], label - len(said))
    if not bounds:
        short = f"   B − A   {comparison.common:,} in both"
        bounds = bounds_in_words(comparison.tallies[: len(ks)], label - len(short))
        said = short if bounds else said
    said += bounds
    gaps: list[Part] = [(fit(said, label), "dim")]
    for one in comparison.tallies[: len(ks)]:
        gaps.append(
            (fit(change(one.difference, 2) or NOTHING, _COMMON, right=True), of_change(one.difference) or "strong")
        )
    return [
        *lines,
        gaps,
        [(fit(f"   {one_line(' · '.join(filter(None, (tallies_in_words(comparison), note))), 400)}", width), "")],
    ]


def shared(comparison: GroupComparison, width: int) -> str:
    """Return by what the two differ."""
    names = [what for what, _, _ in comparison.conditions]
    return shortened(f"differ in: {', '.join(names)}" if names else "made alike", max(1, width - 1))


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


def _estimate(one: Estimate | None, *, whole: bool) -> str:
    if one is None or one.value is None:
        return NOTHING
    if not whole or one.low is None or one.high is None:
        return f"{one.value:.2f}"
    return f"{one.value:.2f} [{one.low:.2f}, {one.high:.2f}]"


def bounds_in_words(tallies: Sequence[Tally], width: int) -> str:
    """Return `` @1 [−0.58, +0.37] @3 [−0.75, +0.71] over 4 files``: of as many k as there is room for, "" for none."""
    known = [one for one in tallies if one.interval.low is not None]
    while known:
        bounds = (f" @{one.k} [{change(one.interval.low, 2)}, {change(one.interval.high, 2)}]" for one in known)
        said = "".join(bounds) + f" {known[0].interval.over}"
        if len(said) < width:
            return said
        known.pop()
    return ""


def _value(one: Estimate) -> str:
    return NOTHING if one.value is None else f"{one.value:.2f}"


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

    def compose_body(self) -> Iterable[Widget]:
        """Yield the head and the panes."""
        lists: tuple[DifferenceList[Any], ...] = (
            TaskRows(id="task-diff-list"),
            FailingRows(_failing_lines, "No sample of either fails a test.", id="test-diff-list"),
            TextRows(lambda detail: detail.docstrings, id="docs-diff-list"),
        )
        yield HeadLines(5, id="head")
        yield Container(*panes_of(self.titles, lists, self.first_pane), id="group-panes")

    def on_mount(self) -> None:
        """Say what is being read."""
        self.set_status("two runs side by side" if self.pair.left.kind == "run" else "two evaluators side by side")
        self.query_one(HeadLines).say("Reading both…")

    # -- what is shown

    @property
    def lists(self) -> list[DifferenceList[Any]]:
        """The list of tasks; the others follow its cursor."""
        return [self.query_one(TaskRows)]

    def read(self, left: SessionReader, right: SessionReader) -> GroupComparison | str:
        """Read and compare both, of two runs the pair of groups that is chosen."""
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

    def shown(self, comparison: GroupComparison | None, sentence: str) -> None:
        """Name what is in each pane."""
        head = self.query_one(HeadLines)
        if comparison is None:
            if sentence:
                head.say(sentence)
            return
        which = (
            f"pair {self._at % self._of + 1} of {self._of}, {key_of('compare.previous-pair')} {key_of('compare.next-pair')} turns"
            if self._of > 1
            else ""
        )
        head.show(lambda width: head_of(comparison, " · ".join(filter(None, (which, self._alone))), width))
        folded = "only what differs" if self.only_differences else ""
        set_title(self.query_one("#task-diff"), f"Tasks · {tasks_in_words(comparison)}", folded)
        for one in (self.query_one(FailingRows), self.query_one(TextRows)):
            if one.only_differences is not self.only_differences:
                one.show_only_differences(self.only_differences)
        self._show_task()

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        """Show the task under the cursor, or say what a test said."""
        if isinstance(message.row_list, TaskRows):
            self._show_task()
        elif isinstance(message.row_list, FailingRows):
            self._show_message()

    def _show_task(self) -> None:
        found: GroupComparison | None = self.comparison
        task = self.query_one(TaskRows).selected
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
        task = self.query_one(TaskRows).selected
        name = one_line(task.name, 40) if task is not None else ""
        self.query_one(FailingRows).put(detail)
        self.query_one(TextRows).put(detail)
        set_title(self.query_one("#test-diff"), f"Failing tests · {name}" if name else "Failing tests")
        docs = ""
        if detail is not None:
            docs = "the same" if detail.docstrings.same else f"{detail.docstrings.diff.common_words:,} words in common"
        set_title(self.query_one("#docs-diff"), f"Docstrings · {docs}" if docs else "Docstrings")
        self._show_message()

    def _show_message(self) -> None:
        rows = self.query_one(FailingRows)
        lines = 4 if self.has_class("-h-tall") else 2
        self.query_one("#failing-message", Static).update(messages(rows.selected, rows.text_width - 1, lines))

    # -- what one can do

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer other pairs of groups only where there are some."""
        return self._of > 1 if action == "pair" else super().check_action(action, parameters)

    def action_pair(self, step: int) -> None:
        """Show the next or previous pair of groups of both runs."""
        self._at = (self._at + step) % self._of
        self._load()

    def target(self) -> tuple[Marked, Place | None] | None:
        """Return the run of A."""
        found: GroupComparison | None = self.comparison
        if found is None:
            return None
        return replace(self.pair.left, kind="run", key=found.left.run.id), None

    def action_open_item(self) -> None:
        """Show a sample of each for the task under the cursor, two that came out differently if there are such."""
        found: GroupComparison | None = self.comparison
        task = self.query_one(TaskRows).selected
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
    """Read both groups; the samples of one run are counted once."""
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
