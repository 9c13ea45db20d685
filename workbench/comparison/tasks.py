"""Two tasks side by side: what they are, function, docstring and prompt word by word, their tests, and pass@k by evaluator.

The two may be of different functions, or of one function with other documentation, of one session or of two.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.comparison.criteria import difference
from workbench.comparison.groups import failed_counts
from workbench.comparison.prompts import prompt_of_task
from workbench.comparison.texts import TextPair, TextSide, compare_texts, read_text
from workbench.regeneration.outcome import TaskResult, ks_of, task_result
from workbench.session.groups import Group
from workbench.session.sample_counts import SampleCount, counts_of
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import TaskRow

MOST_KS = 3
"""So many k of pass@k are compared, the smallest ones."""


@dataclass(frozen=True, slots=True)
class TaskTest:
    """A test of a task: how many of its samples, those of all evaluators together, did not pass it; the first one's message."""

    failed: int
    samples: int
    message: str = ""


@dataclass(frozen=True, slots=True)
class TaskSide:
    """One of the two tasks, as it was read.

    Attributes:
        task: Its row.
        session: Name of its session's file.
        run: Name of its run, its id where it has none.
        ks: The k that the run was asked for.
        function: The function as it was before anything was taken out, or its body where the file is not kept.
        docstring: The documentation given.
        prompt: The prompt that is kept with the task.
        tests: T_i, each with how it came out.
        results: What came of each group of samples, controls left out.
    """

    task: TaskRow
    session: str
    run: str
    ks: tuple[int, ...]
    function: TextSide
    docstring: TextSide
    prompt: TextSide
    tests: Mapping[str, TaskTest]
    results: Mapping[Group, TaskResult]

    @property
    def name(self) -> str:
        """The function's qualified name, with its number where there are several."""
        return self.task.qualified_name + (f"#{self.task.occurrence}" if self.task.occurrence > 1 else "")


@dataclass(frozen=True, slots=True)
class TaskTestPair:
    """A test of either task, None where a task does not have it."""

    test: str
    left: TaskTest | None
    right: TaskTest | None

    @property
    def same(self) -> bool:
        """Whether both have it and the same share of samples fails it."""
        a, b = self.left, self.right
        return a is not None and b is not None and a.failed * b.samples == b.failed * a.samples


@dataclass(frozen=True, slots=True)
class EvaluatorPair:
    """What one evaluator (with one prompt, context and settings) made of both tasks, None where it was not asked.

    ``differences`` are pass@k of the right task minus that of the left one for each k, None unless both are defined.
    """

    name: str
    left: TaskResult | None
    right: TaskResult | None
    differences: tuple[float | None, ...]

    @property
    def same(self) -> bool:
        """Whether both have the same passed of the same counted samples."""
        a, b = self.left, self.right
        return a is not None and b is not None and (a.passed, a.counted) == (b.passed, b.counted)


@dataclass(frozen=True, slots=True)
class TaskComparison:
    """Two tasks and how they differ; every difference is right minus left.

    Attributes:
        left: The first task, A on the screen.
        right: The second one, B.
        ks: The k of pass@k.
        facts: What each is: (what, left, right), "" where that is not known.
        functions: Both functions.
        docstrings: The documentation of each.
        prompts: The prompt that is kept with each.
        tests: The tests of either: those of A alone, of B alone, then those of both, the largest differences first.
        evaluators: What each evaluator made of both.
    """

    left: TaskSide
    right: TaskSide
    ks: tuple[int, ...]
    facts: tuple[tuple[str, str, str], ...]
    functions: TextPair
    docstrings: TextPair
    prompts: TextPair
    tests: tuple[TaskTestPair, ...]
    evaluators: tuple[EvaluatorPair, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "a": {"session": self.left.session, "task": self.left.task.id, "name": self.left.name},
            "b": {"session": self.right.session, "task": self.right.task.id, "name": self.right.name},
            "facts": [{"what": what, "a": a, "b": b, "same": a == b} for what, a, b in self.facts],
            "same_function": self.functions.same,
            "same_docstring": self.docstrings.same,
            "same_prompt": self.prompts.same,
            "tests": [
                {"test": one.test, "a": _count_json(one.left), "b": _count_json(one.right)} for one in self.tests
            ],
            "evaluators": [
                {
                    "evaluator": one.name,
                    "a": _result_json(one.left, self.ks),
                    "b": _result_json(one.right, self.ks),
                    "difference": dict(zip(map(str, self.ks), one.differences, strict=True)),
                }
                for one in self.evaluators
            ],
        }


def _count_json(count: TaskTest | None) -> dict[str, int] | None:
    return None if count is None else {"failed": count.failed, "samples": count.samples}


def _result_json(result: TaskResult | None, ks: Iterable[int]) -> dict[str, Any] | None:
    if result is None:
        return None
    at = {str(k): result.at(k) for k in ks}
    return {"samples": result.counted, "passed": result.passed, "pass_at_k": at}


def read_task(reader: SessionReader, task_id: str) -> TaskSide | None:
    """Read a task with all that is compared; None if it, or its run, is not in the session."""
    task = reader.task(task_id)
    run = reader.run(task.run_id) if task is not None else None
    if task is None or run is None:
        return None
    counts = counts_of(reader, reader.candidates(task.run_id, task.id), {task.id: task})
    by_group: dict[Group, list[SampleCount]] = {}
    for row in counts:
        if not row.control and not row.excluded:
            by_group.setdefault(row.group, []).append(row)
    results = {group: task_result(task, rows) for group, rows in sorted(by_group.items())}
    docs = f"docs {one_line(task.docs_words, 60)}"
    return TaskSide(
        task,
        reader.path.name,
        one_line(run.name or run.id, 100),
        ks_of(run.plan)[:MOST_KS],
        _function(reader, task),
        read_text(reader, task.docstring_blob, docs, f"the docstring of task {task.id}", "no docstring"),
        prompt_of_task(reader, task),
        _tests(reader, task, sum(result.counted for result in results.values())),
        results,
    )


def compare_tasks(left: TaskSide, right: TaskSide) -> TaskComparison:
    """Compare two tasks."""
    ks = tuple(sorted({*left.ks, *right.ks}))[:MOST_KS]
    return TaskComparison(
        left,
        right,
        ks,
        tuple((what, a, b) for (what, a), (_, b) in zip(_facts(left), _facts(right), strict=True)),
        compare_texts(left.function, right.function),
        compare_texts(left.docstring, right.docstring),
        compare_texts(left.prompt, right.prompt),
        _join_tests(left.tests, right.tests),
        _join_evaluators(left.results, right.results, ks),
    )


def _function(reader: SessionReader, task: TaskRow) -> TextSide:
    """Return the function's lines of its file, else its body."""
    of = f"the file of task {task.id}"
    whole = read_text(reader, task.source_blob, "function", of, "the session does not keep it")
    first, last = task.start_line, task.end_line
    lines = (whole.text or "").split("\n")
    if first is not None and last is not None and 0 < first <= last <= len(lines) - whole.cut:
        return TextSide("function", "\n".join(lines[first - 1 : last]))
    why = whole.absent or "the session does not keep it"
    return read_text(reader, task.body_blob, "original body", f"the original body of task {task.id}", why)


def _tests(reader: SessionReader, task: TaskRow, samples: int) -> dict[str, TaskTest]:
    try:
        listed = json.loads(task.tests)
    except (ValueError, RecursionError):
        listed = []
    failed = failed_counts(reader, task.id)
    names = [str(test) for test in listed] if isinstance(listed, list) else []
    # A verdict may name a test that is no longer listed, such as a whole file that could not be imported.
    return {test: TaskTest(failed.get(test, (0, ""))[0], samples, failed.get(test, (0, ""))[1]) for test in {**dict.fromkeys(names), **failed}}  # fmt: skip


def _facts(side: TaskSide) -> list[tuple[str, str]]:
    row = side.task
    branches = f"{row.branches_covered or 0:,} of {row.branches:,}" if row.branches is not None else ""
    lines = f"{row.start_line:,} to {row.end_line:,}" if row.start_line and row.end_line else ""
    state = row.state + (f": {one_line(row.reason, 200)}" if row.reason else "")
    return [
        ("function", side.name),
        ("file", row.path),
        ("lines", lines),
        ("docs", row.docs_words),
        ("tests", f"{row.test_count:,}"),
        ("lines covered", "" if row.coverage is None else f"{row.coverage:.0%}"),
        ("branches", branches),
        ("unstable tests", "" if row.unstable is None else f"{row.unstable:,}"),
        ("test seconds", "" if row.seconds is None else f"{row.seconds:.2f}"),
        ("code in docs", "" if row.leak is None else f"{row.leak:.0%}"),
        ("state", state),
        ("repository", one_line(row.snapshot, 16)),
        ("run", side.run),
        ("session", side.session),
    ]


def _join_tests(left: Mapping[str, TaskTest], right: Mapping[str, TaskTest]) -> tuple[TaskTestPair, ...]:
    pairs = [TaskTestPair(test, left.get(test), right.get(test)) for test in {**left, **right}]

    def place(pair: TaskTestPair) -> tuple[int, float, str]:
        a, b = pair.left, pair.right
        if a is None or b is None:
            return (0 if b is None else 1), 0.0, pair.test
        return 2, -abs(b.failed / (b.samples or 1) - a.failed / (a.samples or 1)), pair.test

    return tuple(sorted(pairs, key=place))


def _join_evaluators(
    left: Mapping[Group, TaskResult], right: Mapping[Group, TaskResult], ks: Iterable[int]
) -> tuple[EvaluatorPair, ...]:
    mine, other = ({group.arguments: (group, one) for group, one in side.items()} for side in (left, right))
    found = []
    names = [*left, *right]
    for key in {**mine, **other}:
        group = (mine.get(key) or other[key])[0]
        a, b = (side[key][1] if key in side else None for side in (mine, other))
        gaps = tuple(difference(a.at(k), b.at(k)) if a and b else None for k in ks)
        alike = [one for one in names if (one.docs, one.docs_scope) == (group.docs, group.docs_scope)]
        found.append(EvaluatorPair(one_line(group.name(alike), 100), a, b, gaps))
    return tuple(found)
