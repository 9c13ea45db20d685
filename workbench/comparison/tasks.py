"""Two tasks side by side: what they are, function, docstring and prompt word by word, their tests, and pass@k by evaluator.

The two may be of different functions, or of one function with other documentation, of one session or of two.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.comparison import panes
from workbench.comparison.failing import FailedTest, failed_counts, join_tests, only_and_both, sign_of
from workbench.comparison.texts import TextSide, alike, compare_texts, docstring_of, prompt_of, read_text, texts_pane
from workbench.regeneration.outcome import TaskResult, ks_of, task_result
from workbench.session.groups import Group
from workbench.session.sample_counts import SampleCount, counts_of
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import TaskRow


@dataclass(frozen=True, slots=True)
class TaskSide:
    """One of the two tasks: ``tests`` are T_i, each with how many samples of all evaluators fail it, ``ks`` what its run was asked for."""

    task: TaskRow
    session: str
    run: str
    ks: tuple[int, ...]
    function: TextSide
    docstring: TextSide
    prompt: TextSide
    tests: Mapping[str, FailedTest]
    results: Mapping[Group, TaskResult]

    @property
    def name(self) -> str:
        """The function's qualified name, with its number where there are several."""
        return self.task.qualified_name + (f"#{self.task.occurrence}" if self.task.occurrence > 1 else "")


@dataclass(frozen=True, slots=True)
class EvaluatorPair(panes.Pair[TaskResult]):
    """What one evaluator (with one prompt, context and settings) made of both tasks; ``differences`` are those of pass@k."""

    name: str
    differences: tuple[float | None, ...]

    @property
    def same(self) -> bool:
        """Whether both have the same passed of the same counted samples."""
        a, b = self.left, self.right
        return a is not None and b is not None and (a.passed, a.counted) == (b.passed, b.counted)


def result_json(result: TaskResult, ks: Iterable[int], **more: str) -> dict[str, Any]:
    at = {str(k): result.at(k) for k in ks}
    return {**more, "samples": result.counted, "passed": result.passed, "pass_at_k": at}


def gaps(left: TaskResult | None, right: TaskResult | None, ks: Iterable[int]) -> tuple[float | None, ...]:
    """Return pass@k of the right one minus that of the left one for each k, None unless both are defined."""
    return tuple(panes.difference(left.at(k), right.at(k)) if left and right else None for k in ks)


def passed_cell(result: TaskResult | None) -> str:
    return panes.NOTHING if result is None else f"{result.passed:,}/{result.counted:,}"


def read_task(reader: SessionReader, task_id: str) -> TaskSide | None:
    """Read a task with all that is compared; None if it, or its run, is not in the session."""
    task = reader.task(task_id)
    run = reader.run(task.run_id) if task is not None else None
    if task is None or run is None:
        return None
    by_group: dict[Group, list[SampleCount]] = {}
    for row in counts_of(reader, reader.candidates(task.run_id, task.id), {task.id: task}):
        if not row.control and not row.excluded:
            by_group.setdefault(row.group, []).append(row)
    results = {group: task_result(task, rows) for group, rows in sorted(by_group.items())}
    return TaskSide(
        task,
        reader.path.name,
        one_line(run.name or run.id, 100),
        ks_of(run.plan)[: panes.MOST_KS],
        _function(reader, task),
        docstring_of(reader, task),
        prompt_of(reader, task),
        _tests(reader, task, sum(result.counted for result in results.values())),
        results,
    )


def compare_tasks(left: TaskSide, right: TaskSide) -> panes.Comparison:
    ks = tuple(sorted({*left.ks, *right.ks}))[: panes.MOST_KS]
    facts = [(what, a, b) for (what, a), (_, b) in zip(_facts(left), _facts(right), strict=True)]
    functions = compare_texts(left.function, right.function).named()
    docstrings = compare_texts(left.docstring, right.docstring).named()
    prompts = compare_texts(left.prompt, right.prompt).named()
    tests = join_tests(left.tests, right.tests)
    evaluators = _join_evaluators(left.results, right.results, ks)
    differ = ", ".join(what for what, mine, theirs in facts if mine != theirs)
    failing = [sum(bool(test.failed) for test in side.tests.values()) for side in (left, right)]
    passed = [
        f"{sum(one.passed for one in side.results.values()):,}/{sum(one.counted for one in side.results.values()):,}"
        for side in (left, right)
    ]
    head = panes.Head(
        names=panes.names_apart(_name(left), _name(right), 1, 4),
        shared=f"differ in: {differ}" if differ else "alike in all facts",
        figures=(
            panes.counted("tests", len(left.tests), len(right.tests)),
            panes.counted("failing", failing[0], failing[1]),
            panes.Figure("passed", (passed[0], passed[1], ""), 9),
        ),
        alike=alike(function=functions, docstring=docstrings, prompt=prompts),
    )

    def leads(pane: str, rows: Mapping[str, Any]) -> panes.Leads:
        test = rows.get("task-tests") if pane == "task-tests" else None
        of_b = test is not None and test.left is None
        task = (right if of_b else left).task
        return (panes.Lead("task", task.id, of_b, task.run_id, 0, task.id),)

    def values() -> dict[str, Any]:
        return {
            "a": {"session": left.session, "task": left.task.id, "name": left.name},
            "b": {"session": right.session, "task": right.task.id, "name": right.name},
            "facts": [{"what": what, "a": a, "b": b, "same": a == b} for what, a, b in facts],
            "same_function": functions.same,
            "same_docstring": docstrings.same,
            "same_prompt": prompts.same,
            "tests": [{"test": one.test, **panes.pair_json(one, _test_json)} for one in tests],
            "evaluators": [
                {
                    "evaluator": one.name,
                    **panes.pair_json(one, lambda result: result_json(result, ks)),
                    "difference": dict(zip(map(str, ks), one.differences, strict=True)),
                }
                for one in evaluators
            ],
        }

    return panes.Comparison(
        left=left,
        right=right,
        head=lambda width: head,
        leads=leads,
        values=values,
        panes={
            "function-texts": texts_pane(functions),
            "task-facts": panes.Table(
                said=f"{sum(a != b for _, a, b in facts):,} of {len(facts):,} differ",
                rows=facts,
                columns=(
                    panes.texts("", lambda fact: (fact[0], "dim"), 12, 22, cut="end", page="fact"),
                    panes.texts("A", lambda fact: _fact(fact, 1), page="A says"),
                    panes.texts("B", lambda fact: _fact(fact, 2), page="B says"),
                ),
                sign=lambda fact: panes.SAME if fact[1] == fact[2] else panes.CHANGED,
                nothing="Nothing is known of them.",
            ),
            "task-evaluators": panes.Table(
                said=f"{sum(not pair.same for pair in evaluators):,} of {len(evaluators):,} differ",
                rows=evaluators,
                columns=(
                    panes.texts("evaluator", lambda pair: pair.name, 14, 120),
                    panes.Column("A passed", lambda pair: passed_cell(pair.left), 9),
                    panes.Column("B passed", lambda pair: passed_cell(pair.right), 9),
                    *panes.changes(ks, lambda pair: pair.differences),
                ),
                sign=lambda pair: panes.sided(pair.left, pair.right) or (panes.SAME if pair.same else panes.CHANGED),
                nothing="Nobody was asked for either yet.",
                page="all",
            ),
            "task-tests": panes.Table(
                said=only_and_both(tests),
                rows=tests,
                columns=(
                    panes.Column("A", lambda pair: _how(pair.left), 11, text=True, page="A fails"),
                    panes.Column("B", lambda pair: _how(pair.right), 11, text=True, page="B fails"),
                    panes.texts("test", lambda pair: one_line(pair.test, 300)),
                ),
                sign=sign_of,
                nothing="Neither has a test.",
            ),
            "docs-texts": texts_pane(docstrings, optional=True),
            "prompt-texts": texts_pane(prompts, optional=True),
        },
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


def _tests(reader: SessionReader, task: TaskRow, samples: int) -> dict[str, FailedTest]:
    try:
        listed = json.loads(task.tests)
    except (ValueError, RecursionError):
        listed = []
    failed = failed_counts(reader, task.id)
    names = [str(test) for test in listed] if isinstance(listed, list) else []
    # A verdict may name a test that is no longer listed, such as a whole file that could not be imported.
    return {test: replace(failed.get(test, FailedTest(0)), samples=samples) for test in {**dict.fromkeys(names), **failed}}  # fmt: skip


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


def _join_evaluators(
    left: Mapping[Group, TaskResult], right: Mapping[Group, TaskResult], ks: Iterable[int]
) -> tuple[EvaluatorPair, ...]:
    groups = {group.arguments: group for group in (*right, *left)}
    mine, other = ({group.arguments: one for group, one in side.items()} for side in (left, right))
    found = []
    for key, a, b in panes.joined(mine, other):
        group = groups[key]
        alike = [one for one in (*left, *right) if (one.docs, one.docs_scope) == (group.docs, group.docs_scope)]
        found.append(EvaluatorPair(a, b, one_line(group.name(alike), 100), gaps(a, b, ks)))
    return tuple(found)


def _name(side: TaskSide) -> list[str]:
    task = side.task
    return [f"{task.path}::{side.name}", f"docs {task.docs_words}", f"run {side.run}", side.session]


def _fact(fact: tuple[str, str, str], side: int) -> panes.Cell:
    return one_line(fact[side], 300) or panes.NOTHING, "dim" if fact[1] == fact[2] else "strong"


def _how(test: FailedTest | None) -> panes.Cell:
    """Return how many samples fail a test: ``–`` where the task does not have it, ``✓`` for none of them."""
    if test is None:
        return panes.NOTHING, "dim"
    if test.failed:
        return f"✗ {test.failed:,} of {test.samples:,}", "failed"
    return ("✓", "passed") if test.samples else ("·", "dim")


def _test_json(test: FailedTest) -> dict[str, int]:
    return {"failed": test.failed, "samples": test.samples}


TASKS = panes.Kind(
    "tasks",
    "two tasks",
    {
        "function-texts": "Functions",
        "task-facts": "Facts",
        "task-evaluators": "Evaluators",
        "task-tests": "Tests",
        "docs-texts": "Docstrings",
        "prompt-texts": "Prompts",
    },
    lambda left, right, *scale: compare_tasks(*panes.both(left, right, read_task, "Task")),
)
KINDS = {"task": TASKS}
