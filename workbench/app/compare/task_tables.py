"""What two tasks, or the tasks of two groups of candidates, differ in: facts, tests, evaluators, pass@k and failing tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.app.compare.difference_list import Differences, Shown
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
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import EvaluatorPair, GroupComparison, TaskComparison, TaskPair, TaskTest, TaskTestPair
from workbench.regeneration.outcome import TaskResult
from workbench.text import one_line, shortened

Fact = tuple[str, str, str]


def _fact(fact: Fact, side: int) -> Part:
    return one_line(fact[side], 300) or NOTHING, "dim" if fact[1] == fact[2] else "strong"


def _how(test: TaskTest | None) -> Part:
    """Return how many samples fail a test: ``–`` where the task does not have it, ``✓`` for none of them."""
    if test is None:
        return NOTHING, "dim"
    if test.failed:
        return f"✗ {test.failed:,} of {test.samples:,}", "failed"
    return ("✓", "passed") if test.samples else ("·", "dim")


def _passed(result: TaskResult | None) -> Part:
    return NOTHING if result is None else f"{result.passed:,}/{result.counted:,}", ""


def _changes(ks: Sequence[int], read: Callable[[Any], Sequence[float | None]]) -> list[Column[Any]]:
    def cell(at: int) -> Callable[[Any], Part]:
        return lambda row: (change(read(row)[at], 2) or NOTHING, of_change(read(row)[at]) or "dim")

    return [Column(title=f"@{k}", cell=cell(at), width=6, priority=2 * at) for at, k in enumerate(ks)]


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


FACTS: Differences[TaskComparison, Fact] = Differences(
    rows=lambda comparison: comparison.facts,
    columns=lambda comparison: (
        Column(title="", cell=lambda fact: (fact[0], "dim"), width=12, widest=22, text=True),
        Column(title="A", cell=lambda fact: _fact(fact, 1), width=8, widest=300, text=True, shorten=shortened),
        Column(title="B", cell=lambda fact: _fact(fact, 2), width=8, widest=300, text=True, shorten=shortened),
    ),
    sign=lambda fact: (SAME, "dim") if fact[1] == fact[2] else (BOTH_CHANGED, "strong"),
    nothing="Nothing is known of them.",
)
"""What two tasks are."""
TESTS: Differences[TaskComparison, TaskTestPair] = Differences(
    rows=lambda comparison: comparison.tests,
    columns=lambda comparison: (
        Column(title="A", cell=lambda pair: _how(pair.left), width=11, text=True),
        Column(title="B", cell=lambda pair: _how(pair.right), width=11, text=True),
        Column(
            title="test", cell=lambda pair: one_line(pair.test, 300), width=8, widest=300, text=True, shorten=shortened
        ),
    ),
    sign=lambda pair: (SAME, "dim") if pair.same else sided(pair.left, pair.right) or (BOTH_CHANGED, "dim"),
    nothing="Neither has a test.",
)
"""How many samples of each task did not pass a test."""
EVALUATORS: Differences[TaskComparison, EvaluatorPair] = Differences(
    rows=lambda comparison: comparison.evaluators,
    columns=lambda comparison: (
        Column(title="evaluator", cell=lambda pair: pair.name, width=14, widest=120, text=True, shorten=shortened),
        Column(title="A passed", cell=lambda pair: _passed(pair.left), width=9),
        Column(title="B passed", cell=lambda pair: _passed(pair.right), width=9),
        *_changes(comparison.ks, lambda pair: pair.differences),
    ),
    sign=lambda pair: sided(pair.left, pair.right) or ((SAME, "dim") if pair.same else (BOTH_CHANGED, "strong")),
    nothing="Nobody was asked for either yet.",
)
"""What each evaluator made of two tasks."""
TASKS: Differences[GroupComparison, TaskPair] = Differences(
    rows=lambda comparison: comparison.pairs,
    columns=lambda comparison: (
        Column(title="function", cell=_function, width=18, widest=80, text=True),
        Column(title="file", cell=lambda pair: (one_line(pair.path, 300), "dim"), width=16, widest=120, text=True,
               priority=100, shorten=shortened),
        Column(title="A passed", cell=lambda pair: _passed(pair.left and pair.left[1]), width=8),
        Column(title="B", cell=lambda pair: _passed(pair.right and pair.right[1]), width=8),
        *_values_and_changes(comparison.ks),
    ),
    sign=lambda pair: _more_solved(pair),
    nothing="Neither has a task with a sample.",
)  # fmt: skip
"""The tasks of two groups; the largest differences first."""


def _values_and_changes(ks: Sequence[int]) -> list[Column[TaskPair]]:
    columns: list[Column[TaskPair]] = []
    for at, (k, gap) in enumerate(zip(ks, _changes(ks, lambda pair: pair.differences), strict=True)):
        columns += [
            Column(title=f"A @{k}", cell=_value(lambda pair: pair.left, k), width=5, priority=50 + at),
            Column(title=f"B @{k}", cell=_value(lambda pair: pair.right, k), width=5, priority=50 + at),
            gap,
        ]
    return columns


def _more_solved(row: TaskPair) -> Part:
    if row.left is None or row.right is None:
        return (ONLY_A, "only-a") if row.right is None else (ONLY_B, "only-b")
    known = [gap for gap in row.differences if gap is not None]
    alike = not any(known) if known else _passed(row.left[1]) == _passed(row.right[1])
    return (SAME, "dim") if alike else signed(next(filter(None, known), None))


def failing(
    lines: Callable[[Shown], Sequence[FailingLine]], nothing: str = "Neither fails a test."
) -> Differences[Shown, FailingLine]:
    """Return the tests that either of two fails, with the first line of what they said."""
    return Differences(
        rows=lines,
        columns=lambda comparison: (
            Column(title="A", cell=lambda line: _outcome(line.left), width=9, text=True),
            Column(title="B", cell=lambda line: _outcome(line.right), width=9, text=True),
            Column(title="test", cell=lambda line: one_line(line.test.partition("::")[2] or line.test, 200), width=16,
                   widest=120, text=True),
            Column(title="message", cell=_message, width=16, widest=300, text=True, priority=1),
        ),
        sign=lambda line: (
            (SAME if line.same else BOTH_CHANGED, "dim") if line.left and line.right
            else (ONLY_A, "only-a") if line.left else (ONLY_B, "only-b")
        ),
        nothing=nothing,
        below=messages,
    )  # fmt: skip
