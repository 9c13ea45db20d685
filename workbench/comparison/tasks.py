"""Two tasks side by side: what they are, function, docstring and prompt word by word, their tests, and pass@k by evaluator.

The two may be of different functions, or of one function with other documentation, of one session or of two.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.comparison import panes
from workbench.comparison.failing import FailedTest, failed_counts, failing_pane, join_tests
from workbench.comparison.texts import TextSide, alike, compare_all, docstring_of, prompt_of, read_text
from workbench.regeneration.outcome import TaskResult, ks_of, task_result
from workbench.session.groups import Group
from workbench.session.sample_counts import SampleCount, counts_of
from workbench.statistics.paired import difference
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
        return function_name(self.task)

    @property
    def parts(self) -> list[str]:
        return [f"{self.task.path}::{self.name}", f"docs {self.task.docs_words}", f"run {self.run}", self.session]

    def to_json(self) -> dict[str, Any]:
        return {"session": self.session, "task": self.task.id, "name": self.name}


def function_name(task: TaskRow) -> str:
    return task.qualified_name + (f"#{task.occurrence}" if task.occurrence > 1 else "")


# -- pass@k of both sides


def pass_pair(a: TaskResult | None, b: TaskResult | None, ks: Iterable[int], name: str) -> panes.Pair[TaskResult]:
    """Return a row whose gaps are those of pass@k, None unless both are defined."""
    gaps = tuple(difference(a.at(k), b.at(k)) if a and b else None for k in ks)
    return panes.Pair(a, b, name, gaps, passed_cell(a) == passed_cell(b))


def passed_cell(result: TaskResult | None) -> str:
    return panes.NOTHING if result is None else f"{result.passed:,}/{result.counted:,}"


def result_json(result: TaskResult, ks: Iterable[int], **more: str) -> dict[str, Any]:
    at = {str(k): result.at(k) for k in ks}
    return {**more, "samples": result.counted, "passed": result.passed, "pass_at_k": at}


def gaps_json(pair: panes.Pair[Any], ks: Iterable[int]) -> dict[str, float | None]:
    return dict(zip(map(str, ks), pair.gaps, strict=True))


# -- reading


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


def _function(reader: SessionReader, task: TaskRow) -> TextSide:
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


def _facts(side: TaskSide) -> dict[str, str]:
    row = side.task
    return {
        "function": side.name,
        "file": row.path,
        "lines": f"{row.start_line:,} to {row.end_line:,}" if row.start_line and row.end_line else "",
        "docs": row.docs_words,
        "tests": f"{row.test_count:,}",
        "lines covered": "" if row.coverage is None else f"{row.coverage:.0%}",
        "branches": "" if row.branches is None else f"{row.branches_covered or 0:,} of {row.branches:,}",
        "unstable tests": "" if row.unstable is None else f"{row.unstable:,}",
        "test seconds": "" if row.seconds is None else f"{row.seconds:.2f}",
        "code in docs": "" if row.leak is None else f"{row.leak:.0%}",
        "state": row.state + (f": {one_line(row.reason, 200)}" if row.reason else ""),
        "repository": one_line(row.snapshot, 16),
        "run": side.run,
        "session": side.session,
    }


# -- comparing


def compare_tasks(left: TaskSide, right: TaskSide) -> panes.Comparison:
    ks = tuple(sorted({*left.ks, *right.ks}))[: panes.MOST_KS]
    facts = [panes.Pair(a, b, what, same=a == b) for what, a, b in panes.joined(_facts(left), _facts(right))]
    texts = compare_all(left, right, "function", "docstring", "prompt")
    tests = join_tests(left.tests, right.tests)
    evaluators = _join_evaluators(left.results, right.results, ks)
    differ = ", ".join(one.name for one in facts if not one.same)
    failing = [sum(bool(test.failed) for test in side.tests.values()) for side in (left, right)]
    passed = [
        f"{sum(one.passed for one in side.results.values()):,}/{sum(one.counted for one in side.results.values()):,}"
        for side in (left, right)
    ]
    return panes.Comparison(
        names=panes.names_apart(left.parts, right.parts, 1, 4),
        shared=f"differ in: {differ}" if differ else "alike in all facts",
        columns=(
            panes.Amount("tests", len(left.tests), len(right.tests), 6).column,
            panes.Amount("failing", failing[0], failing[1], 7).column,
            panes.head_column("passed", (*passed, ""), 9),
        ),
        alike=alike(texts),
        leads=tuple(
            panes.Lead("task", one.task.id, one is right, one.task.run_id, 0, one.task.id) for one in (left, right)
        ),
        panes={
            "Functions": texts["function"],
            "Facts": panes.Table(
                summary=panes.differing_words(facts),
                rows=facts,
                columns=(
                    panes.texts("fact", lambda fact: (fact.name, "dim"), 12, 22, cut="end"),
                    panes.texts("A", lambda fact: _fact(fact.left, fact)),
                    panes.texts("B", lambda fact: _fact(fact.right, fact)),
                ),
                nothing="Nothing is known of them.",
            ),
            "Evaluators": panes.Table(
                summary=panes.differing_words(evaluators),
                rows=evaluators,
                columns=(
                    panes.texts("evaluator", lambda pair: pair.name, 14, 120),
                    panes.Column("A passed", lambda pair: passed_cell(pair.left), 9),
                    panes.Column("B passed", lambda pair: passed_cell(pair.right), 9),
                    *(panes.gap_column(f"@{k} B − A", at, 8, 2, 2 * at) for at, k in enumerate(ks)),
                ),
                nothing="Nobody was asked for either yet.",
                page="all",
            ),
            "Tests": failing_pane(tests, lacking="not one of its tests", page="differences"),
            "Docstrings": texts["docstring"],
            "Prompts": texts["prompt"],
        },
        to_json=lambda: {
            "a": left.to_json(),
            "b": right.to_json(),
            "facts": [{"what": one.name, "a": one.left, "b": one.right, "same": one.same} for one in facts],
            **{f"same_{name}": one.same for name, one in texts.items()},
            "tests": [
                {"test": one.name, **one.to_json(lambda test: {"failed": test.failed, "samples": test.samples})}
                for one in tests
            ],
            "evaluators": [
                {
                    "evaluator": one.name,
                    **one.to_json(lambda result: result_json(result, ks)),
                    "difference": gaps_json(one, ks),
                }
                for one in evaluators
            ],
        },
    )


def _join_evaluators(
    left: Mapping[Group, TaskResult], right: Mapping[Group, TaskResult], ks: Sequence[int]
) -> list[panes.Pair[TaskResult]]:
    groups = {group.arguments: group for group in (*right, *left)}
    mine, other = ({group.arguments: one for group, one in side.items()} for side in (left, right))
    found = []
    for key, a, b in panes.joined(mine, other):
        group = groups[key]
        alike = [one for one in (*left, *right) if (one.docs, one.docs_scope) == (group.docs, group.docs_scope)]
        found.append(pass_pair(a, b, ks, one_line(group.name(alike), 100)))
    return found


def _fact(text: str | None, fact: panes.Pair[str]) -> panes.Cell:
    return one_line(text or "", 300) or panes.NOTHING, "dim" if fact.same else "strong"


TASKS = panes.Kind(
    "tasks",
    "two tasks",
    ("Functions", "Facts", "Evaluators", "Tests", "Docstrings", "Prompts"),
    lambda left, right, *scale: compare_tasks(*panes.both(left, right, read_task, "Task")),
)
