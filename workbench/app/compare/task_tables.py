"""What two tasks, or the tasks of two groups of candidates, differ in: facts, tests, evaluators, pass@k and failing tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textual.containers import Container
from textual.widget import Widget

from workbench.app.compare.difference_list import DifferenceList, DifferenceTable
from workbench.app.compare.wording import (
    BOTH_CHANGED,
    NOTHING,
    ONLY_A,
    ONLY_B,
    SAME,
    change,
    of_change,
    sided,
    signed,
    wrapped,
)
from workbench.app.toolkit.columns import Column
from workbench.app.toolkit.document import prepared
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.texts import Static
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import EvaluatorPair, GroupComparison, TaskComparison, TaskPair, TaskTest, TaskTestPair
from workbench.regeneration.outcome import TaskResult
from workbench.text import one_line, shortened

Fact = tuple[str, str, str]


class FactRows(DifferenceTable[TaskComparison, Fact]):
    """What two tasks are."""

    nothing = "Nothing is known of them."

    def rows_of(self, comparison: TaskComparison) -> Sequence[Fact]:
        """Return name and both values."""
        return comparison.facts

    def columns_of(self, comparison: TaskComparison) -> Sequence[Column[Fact]]:
        """Return what, and what it is of each task."""
        return (
            Column(title="", cell=lambda fact: (fact[0], "dim"), width=12, widest=22, text=True),
            Column(title="A", cell=lambda fact: _fact(fact, 1), width=8, widest=300, text=True, shorten=shortened),
            Column(title="B", cell=lambda fact: _fact(fact, 2), width=8, widest=300, text=True, shorten=shortened),
        )

    def sign_of(self, row: Fact) -> Part:
        """Return whether both are alike."""
        return (SAME, "dim") if row[1] == row[2] else (BOTH_CHANGED, "strong")


def _fact(fact: Fact, side: int) -> Part:
    return one_line(fact[side], 300) or NOTHING, "dim" if fact[1] == fact[2] else "strong"


class TaskTestRows(DifferenceTable[TaskComparison, TaskTestPair]):
    """How many samples of each task did not pass a test."""

    nothing = "Neither has a test."

    def rows_of(self, comparison: TaskComparison) -> Sequence[TaskTestPair]:
        """Return the tests of both."""
        return comparison.tests

    def columns_of(self, comparison: TaskComparison) -> Sequence[Column[TaskTestPair]]:
        """Return how it came out on each side, and the test."""
        return (
            Column(title="A", cell=lambda pair: _how(pair.left), width=11, text=True),
            Column(title="B", cell=lambda pair: _how(pair.right), width=11, text=True),
            Column(title="test", cell=lambda pair: one_line(pair.test, 300), width=8, widest=300, text=True,
                   shorten=shortened),
        )  # fmt: skip

    def sign_of(self, row: TaskTestPair) -> Part:
        """Return which task has the test, or that they differ."""
        return (SAME, "dim") if row.same else sided(row.left, row.right) or (BOTH_CHANGED, "dim")


def _how(test: TaskTest | None) -> Part:
    """Return how many samples fail a test: ``–`` where the task does not have it, ``✓`` for none of them."""
    if test is None:
        return NOTHING, "dim"
    if test.failed:
        return f"✗ {test.failed:,} of {test.samples:,}", "failed"
    return ("✓", "passed") if test.samples else ("·", "dim")


class EvaluatorRows(DifferenceTable[TaskComparison, EvaluatorPair]):
    """What each evaluator made of two tasks."""

    nothing = "Nobody was asked for either yet."

    def rows_of(self, comparison: TaskComparison) -> Sequence[EvaluatorPair]:
        """Return the evaluators of both."""
        return comparison.evaluators

    def columns_of(self, comparison: TaskComparison) -> Sequence[Column[EvaluatorPair]]:
        """Return name, passed of counted samples of each task, and pass@k of B minus that of A."""
        name: Column[EvaluatorPair] = Column(
            title="evaluator", cell=lambda pair: pair.name, width=14, widest=120, text=True, shorten=shortened
        )
        passed: list[Column[EvaluatorPair]] = [
            Column(title="A passed", cell=lambda pair: _passed(pair.left), width=9),
            Column(title="B passed", cell=lambda pair: _passed(pair.right), width=9),
        ]
        return [name, *passed, *_changes(comparison.ks, lambda pair: pair.differences)]

    def sign_of(self, row: EvaluatorPair) -> Part:
        """Return which task the evaluator was asked for, or that they came out differently."""
        return sided(row.left, row.right) or ((SAME, "dim") if row.same else (BOTH_CHANGED, "strong"))


def _passed(result: TaskResult | None) -> Part:
    return NOTHING if result is None else f"{result.passed:,}/{result.counted:,}", ""


def _changes(ks: Sequence[int], read: Callable[[Any], Sequence[float | None]]) -> list[Column[Any]]:
    """Return a column a k with the difference of pass@k; the first always stays."""

    def cell(at: int) -> Callable[[Any], Part]:
        return lambda row: (change(read(row)[at], 2) or NOTHING, of_change(read(row)[at]) or "dim")

    return [Column(title=f"@{k}", cell=cell(at), width=6, priority=2 * at) for at, k in enumerate(ks)]


class TaskRows(DifferenceTable[GroupComparison, TaskPair]):
    """The tasks of two groups: passed of counted samples, pass@k of both and the difference; the largest differences first."""

    nothing = "Neither has a task with a sample."

    def rows_of(self, comparison: GroupComparison) -> Sequence[TaskPair]:
        """Return the tasks of both."""
        return comparison.pairs

    def columns_of(self, comparison: GroupComparison) -> Sequence[Column[TaskPair]]:
        """Return function, file, passed samples, and for each k both values and the difference."""
        columns: list[Column[TaskPair]] = [
            Column(title="function", cell=_function, width=18, widest=80, text=True),
            Column(title="file", cell=lambda pair: (one_line(pair.path, 300), "dim"), width=16, widest=120, text=True,
                   priority=100, shorten=shortened),
            Column(title="A passed", cell=lambda pair: _passed(pair.left and pair.left[1]), width=8),
            Column(title="B", cell=lambda pair: _passed(pair.right and pair.right[1]), width=8),
        ]  # fmt: skip
        for at, (k, gap) in enumerate(
            zip(comparison.ks, _changes(comparison.ks, lambda pair: pair.differences), strict=True)
        ):
            columns += [
                Column(title=f"A @{k}", cell=_value(lambda pair: pair.left, k), width=5, priority=50 + at),
                Column(title=f"B @{k}", cell=_value(lambda pair: pair.right, k), width=5, priority=50 + at),
                gap,
            ]
        return columns

    def sign_of(self, row: TaskPair) -> Part:
        """Return which side has the task, or solves it more often."""
        if row.left is None or row.right is None:
            return (ONLY_A, "only-a") if row.right is None else (ONLY_B, "only-b")
        known = [gap for gap in row.differences if gap is not None]
        alike = not any(known) if known else _passed(row.left[1]) == _passed(row.right[1])
        return (SAME, "dim") if alike else signed(next(filter(None, known), None))


def _function(pair: TaskPair) -> Part:
    return one_line(pair.name, 200), "strong" if any(pair.differences) else ""


def _value(read: Callable[[TaskPair], Any], k: int) -> Callable[[TaskPair], Part]:
    def cell(pair: TaskPair) -> Part:
        found = read(pair)
        value = found[1].at(k) if found is not None else None
        return NOTHING if value is None else f"{value:.2f}", "dim"

    return cell


@dataclass(frozen=True, slots=True)
class FailingLine:
    """A test: how it came out on each side ("" where it passed), what it said, and whether both are alike."""

    test: str
    left: str
    right: str
    left_message: str
    right_message: str
    same: bool


class FailingRows(DifferenceTable[Any, FailingLine]):
    """The tests that either of two fails, with the first line of what they said.

    Args:
        lines: What of a comparison is shown.
        nothing: What to say where no test fails.
    """

    def __init__(
        self,
        lines: Callable[[Any], Sequence[FailingLine]],
        nothing: str = "Neither fails a test.",
        *,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._lines_of, self._nothing = lines, nothing

    def rows_of(self, comparison: Any) -> Sequence[FailingLine]:
        """Return the tests that either fails."""
        return self._lines_of(comparison)

    def columns_of(self, comparison: Any) -> Sequence[Column[FailingLine]]:
        """Return how a test came out on each side, its name and its message."""
        return (
            Column(title="A", cell=lambda line: _outcome(line.left), width=9, text=True),
            Column(title="B", cell=lambda line: _outcome(line.right), width=9, text=True),
            Column(title="test", cell=lambda line: one_line(line.test.partition("::")[2] or line.test, 200), width=16,
                   widest=120, text=True),
            Column(title="message", cell=_message, width=16, widest=300, text=True, priority=1),
        )  # fmt: skip

    def sign_of(self, row: FailingLine) -> Part:
        """Return who fails it."""
        if row.left and row.right:
            return SAME if row.same else BOTH_CHANGED, "dim"
        return (ONLY_A, "only-a") if row.left else (ONLY_B, "only-b")

    def on_resize(self) -> None:
        """Have the messages wrapped for the new width, too."""
        super().on_resize()
        self.post_message(self.Moved(self, self.cursor))

    def empty_text(self, comparison: Any) -> str:
        """Return that no test fails."""
        return self._nothing


def _outcome(how: str) -> Part:
    return (how, "failed") if how else ("✓", "passed")


def _message(line: FailingLine) -> Part:
    return one_line(line.left_message or line.right_message, 300), "dim"


def messages(line: FailingLine | None, width: int, rows: int) -> str:
    """Return the test's whole name and what it said on each side, each in at most so many rows."""
    if line is None:
        return ""
    width, shown = max(10, width), [wrapped(line.test, max(10, width), rows)]
    if line.left and line.right and line.left_message == line.right_message:
        shown.append(wrapped(f"A and B: {_said(line.left_message)}", width, 2 * rows))
    else:
        shown += [
            wrapped(f"{name}: {_said(message) if how else 'passes'}", width, rows)
            for name, how, message in (("A", line.left, line.left_message), ("B", line.right, line.right_message))
        ]
    return "\n".join(shown)


def _said(message: str) -> str:
    return one_line(prepared(message), 2_000) or "no message was recorded"


def panes_of(titles: Mapping[str, str], lists: Iterable[DifferenceList[Any]], current: str) -> list[Container]:
    """Return a pane for each list, one of them current; ``titles`` are the panes' ids with their names."""
    panes: list[Container] = []
    for (name, title), one in zip(titles.items(), lists, strict=True):
        inside: list[Widget] = [one]
        if isinstance(one, FailingRows):
            inside.append(Static("", id="failing-message"))
        panes.append(Container(*inside, id=name, classes="pane -current" if name == current else "pane"))
        set_title(panes[-1], title)
    return panes
