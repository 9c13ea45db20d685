"""Compare two tasks or two samples: code, docstring and prompt by words, tests, and pass@k by evaluator.

The tasks may belong to different functions, or to one function with different docs, in one session or in two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.glyphs import VERDICTS
from workbench.base.text import NOTHING, one_line, percent, share
from workbench.comparison import panes
from workbench.comparison.texts import (
    TextSide,
    alike,
    compare_all,
    compare_texts,
    docstring_of,
    prompt_of,
    read_text,
    without_margin,
)
from workbench.regeneration.outcome import TaskResult, ks_of, task_result
from workbench.results.samples import failing_tests
from workbench.session.groups import Group
from workbench.session.json_forms import picked
from workbench.session.sample_counts import SampleCount, counts_of
from workbench.statistics.paired import difference

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import CandidateRow, RunRow, TaskRow

_MOST = 2_000  # maximum characters of a test's message
_NOT_KEPT = "it is not stored in the session"

# -- failing tests


@dataclass(frozen=True, slots=True)
class TestFailures:
    """The number of samples that fail a test, and the message of the first failure.

    ``outcome`` is that of a single sample.
    """

    failed: int
    message: str = ""
    outcome: str = ""
    samples: int = 0


Tests = Mapping[str, TestFailures]
TestPair = panes.PairedRow[TestFailures]  # None for a side that passes the test or does not have it


def failed_counts(reader: SessionReader, task: str, group: Group | None = None) -> dict[str, TestFailures]:
    """Return how many samples of a task fail each test, with the alphabetically first message."""
    found: dict[str, TestFailures] = {}
    for row in failing_tests(reader, task, group):
        known = found.get(row.test_id, TestFailures(0, row.message[:_MOST]))
        found[row.test_id] = TestFailures(known.failed + 1, min(known.message, row.message[:_MOST]))
    return found


def join_tests(left: Tests, right: Tests) -> list[TestPair]:
    """Return the tests that fail only in A, then only in B, then in both, with the largest differences first.

    Tests are equal if the same share of samples fails them or, without counts, if their outcomes are equal.
    """

    def order(pair: TestPair) -> tuple[Any, ...]:
        a, b = (0.0 if one is None else one.failed / (one.samples or 1) for one in (pair.left, pair.right))
        return pair.both, pair.left is None, -abs(b - a), pair.name

    pairs = []
    for test, a, b in panes.joined(left, right):
        counted = a is not None and b is not None and (a.samples or b.samples)
        same = a.failed * b.samples == b.failed * a.samples if a and b and counted else a == b
        pairs.append(panes.PairedRow(a, b, test, same=same))
    return sorted(pairs, key=order)


def failing_pane(
    pairs: Sequence[TestPair], of: str = "", lacking: str = "passes", page: str = "all"
) -> panes.PaneTable[Any]:
    """Return the failing tests with their messages; ``lacking`` is shown for a side on which the test does not fail."""

    def says(one: TestFailures | None) -> str:
        if one is None or not one.failed:
            return lacking if one is None else "passes" if one.samples else "no sample yet"
        return one_line(one.message, _MOST) or "no message was recorded"

    def ends(one: TestFailures | None) -> panes.Cell:
        if one is not None and one.failed:
            return f"✗ {one.outcome or f'{one.failed:,}'}" + (f" of {one.samples:,}" if one.samples else ""), "failed"
        return {"passes": ("✓", "passed"), "no sample yet": ("·", "dim")}.get(says(one), (NOTHING, "dim"))

    return panes.PaneTable(
        summary=of or panes.in_each_words(pairs),
        rows=pairs,
        columns=(
            *panes.sided("{} fails", ends, 9, 16, text=True),
            panes.texts("test", lambda pair: one_line(pair.name, 300), 16, 120, cut="start"),
            panes.texts("A says", lambda pair: (says(pair.left), "dim"), 16, cut="end", priority=1),
            panes.texts("B says", lambda pair: (says(pair.right), "dim"), 16, cut="end", priority=2),
        ),
        nothing="There is no failing test.",
        says=says,
        page=page,
    )


# -- two samples


class CandidateSide:
    """A sample with the texts to compare; bodies are dedented."""

    def __init__(self, reader: SessionReader, row: CandidateRow, task: TaskRow) -> None:
        def body(digest: str | None, title: str, of: str, absent: str) -> TextSide:
            side = read_text(reader, digest, title, of, absent)
            return side if side.text is None else replace(side, text=without_margin(side.text))

        self.candidate, self.task, self.session = row, task, reader.path.name
        self.asked = row.evaluator.rpartition("/")[2]
        why = row.verdict_reason or f"there is no body yet: the candidate is {row.state}"
        self.body = body(row.body_blob, one_line(self.asked, 30), f"the body of candidate {row.id}", why)
        self.original = body(task.body_blob, "original", f"the original body of task {task.id}", _NOT_KEPT)
        self.docstring, self.prompt = docstring_of(reader, task), prompt_of(reader, task, row)
        self.failing = {one.test_id: TestFailures(1, one.message, one.outcome) for one in reader.failing_tests(row.id)}
        known = [one for one in (row.prompt_tokens, row.completion_tokens) if one is not None]
        self.tokens = sum(known) if known else None

    @property
    def parts(self) -> list[str]:
        task, row = self.task, self.candidate
        parts = [self.asked, task.qualified_name, f"sample {row.sample + 1}", task.path]
        return [*parts, f"docs {task.docs_words}", f"run {row.run_id}", self.session, row.prompt, row.context]

    @property
    def verdict(self) -> panes.Cell:
        verdict = self.candidate.verdict or self.candidate.state
        return f"{VERDICTS.get(verdict, '·')} {verdict}", "passed" if verdict == "passed" else "failed"

    def to_json(self) -> dict[str, Any]:
        return {
            "session": self.session,
            **picked(self.candidate, "id:candidate", "evaluator", "sample", "verdict"),
            **picked(self.task, "id:task", "path", "qualified_name:name", "docs", "docs_scope"),
            "body": self.body.text,
        }


def read_candidate(reader: SessionReader, candidate_id: str) -> CandidateSide | None:
    row = reader.candidate(candidate_id)
    task = reader.task(row.task_id) if row is not None else None
    return CandidateSide(reader, row, task) if row is not None and task is not None else None


def compare_candidates(left: CandidateSide, right: CandidateSide) -> panes.PairComparison:
    a, b = left.candidate, right.candidate
    texts = compare_all(left, right, "body", "docstring", "prompt")
    tests = join_tests(left.failing, right.failing)
    amounts = {
        "tokens": panes.Amount("tokens", left.tokens, right.tokens, 8, 0, 1),
        "asked": panes.Amount("asked s", a.asked_s, b.asked_s, 8, 1, 2),
        "tested": panes.Amount("tested s", a.tested_s, b.tested_s, 9, 2, 3),
        "cost": panes.Amount("$", a.cost_usd, b.cost_usd, 9, 4, 4),
    }
    return panes.PairComparison(
        names=panes.names_apart(left.parts, right.parts, 3, 7),
        columns=(
            panes.head_column("verdict", (left.verdict, right.verdict, ""), 11, text=True),
            panes.Amount("failing", len(left.failing), len(right.failing), 7).column,
            *(one.column for one in amounts.values()),
        ),
        alike=alike(texts),
        leads=tuple(
            panes.Lead("candidate", one.id, one is b, task.run_id, one.sample, task.id, one.evaluator)
            for one, task in ((a, left.task), (b, right.task))
        ),
        panes={
            "Bodies": texts["body"],
            "Original → A": compare_texts(left.original, left.body, under=True, page=False),
            "Original → B": compare_texts(right.original, right.body, under=True, page=False, of_b=True),
            "Failing tests": failing_pane(tests),
            "Docstrings": texts["docstring"],
            "Prompts": texts["prompt"],
        },
        to_json=lambda: {
            "a": left.to_json(),
            "b": right.to_json(),
            "efforts": {name: one.to_json() for name, one in amounts.items()},
            **{f"same_{name}": one.same for name, one in texts.items()},
            "failing_tests": [
                {
                    "test": one.name,
                    **one.to_json(lambda of: of.message),
                    "fails": "both" if one.both else one.sign[0].lower(),
                }
                for one in tests
            ],
        },
    )


CANDIDATES = panes.ComparisonKind(
    "candidates", "two candidates", ("Bodies", "Original → A", "Original → B", "Failing tests", "Docstrings", "Prompts"),
    lambda left, right, *scale: compare_candidates(*panes.both(left, right, read_candidate, "Candidate")),
)  # fmt: skip


# -- pass@k of both sides

PassPair = panes.PairedRow[TaskResult]


def pass_pair(a: TaskResult | None, b: TaskResult | None, ks: Iterable[int], name: str) -> PassPair:
    """Return a row with the differences in pass@k as its gaps; a gap is None unless both sides are defined."""
    gaps = tuple(difference(a.at(k), b.at(k)) if a and b else None for k in ks)
    return panes.PairedRow(a, b, name, gaps, passed_cell(a) == passed_cell(b))


def passed_cell(result: TaskResult | None) -> str:
    return NOTHING if result is None else f"{result.passed:,}/{result.counted:,}"


def pass_columns(ks: Sequence[int]) -> Iterable[panes.PaneColumn[PassPair]]:
    def at(k: int, result: TaskResult | None) -> panes.Cell:
        return share(result.at(k) if result is not None else None), "dim"

    yield from panes.sided("{} passed", passed_cell)
    for place, k in enumerate(ks):
        yield from panes.sided(f"{{}} @{k}", partial(at, k), 5, priority=50 + place, page=False)
        yield panes.gap_column(f"@{k} B − A", place, 8, 2, 2 * place)


def result_json(pair: PassPair, ks: Iterable[int], *names: str) -> dict[str, Any]:
    def of(result: TaskResult) -> dict[str, Any]:
        return {**picked(result, *names, "counted:samples", "passed"), "pass_at_k": {str(k): result.at(k) for k in ks}}

    return {**pair.to_json(of), "difference": dict(zip(map(str, ks), pair.gaps, strict=True))}


# -- two tasks


def function_name(task: TaskRow) -> str:
    return task.qualified_name + (f"#{task.occurrence}" if task.occurrence > 1 else "")


class TaskSide:
    """A task with the texts to compare.

    ``tests`` has the tests in T_i, each with the number of samples of all evaluators that fail it.
    """

    def __init__(self, reader: SessionReader, task: TaskRow, run: RunRow) -> None:
        self.task, self.session, self.of_run, self.run = task, reader.path.name, run, one_line(run.name or run.id, 100)
        self.name = function_name(task)
        self.ks = ks_of(run.plan)[: panes.MOST_KS]
        self.function = self._read_function(reader)
        self.docstring, self.prompt = docstring_of(reader, task), prompt_of(reader, task)
        by_group: dict[Group, list[SampleCount]] = {}
        for row in counts_of(reader, reader.candidates(task.run_id, task.id)):
            if not row.control and not row.excluded:
                by_group.setdefault(row.group, []).append(row)
        self.results = {group: task_result(task, rows) for group, rows in sorted(by_group.items())}
        self.samples = sum(one.counted for one in self.results.values())
        self.passed = sum(one.passed for one in self.results.values())
        failed = failed_counts(reader, task.id)
        listed = map(str, reader.decoded(task.tests, list, f"the tests of task {task.id}"))
        # A verdict may name something outside T_i, such as a file that could not be imported, so list that too.
        tests = {test: failed.get(test, TestFailures(0)) for test in (*listed, *failed)}
        self.tests = {test: replace(one, samples=self.samples) for test, one in tests.items()}
        self.failing = sum(bool(test.failed) for test in self.tests.values())

    def _read_function(self, reader: SessionReader) -> TextSide:
        task = self.task
        whole = read_text(reader, task.source_blob, "function", f"the file of task {task.id}", _NOT_KEPT)
        first, last = task.start_line, task.end_line
        lines = (whole.text or "").split("\n")
        if first is not None and last is not None and 0 < first <= last <= len(lines) - whole.cut:
            return TextSide("function", "\n".join(lines[first - 1 : last]))
        of = f"the original body of task {task.id}"
        return read_text(reader, task.body_blob, "original body", of, whole.absent or _NOT_KEPT)

    @property
    def parts(self) -> list[str]:
        return [f"{self.task.path}::{self.name}", f"docs {self.task.docs_words}", f"run {self.run}", self.session]

    @property
    def facts(self) -> dict[str, str]:
        row = self.task
        return {
            "function": self.name,
            "file": row.path,
            "lines": f"{row.start_line:,} to {row.end_line:,}" if row.start_line and row.end_line else "",
            "docs": row.docs_words,
            "tests": f"{row.test_count:,}",
            "lines covered": "" if row.coverage is None else percent(row.coverage),
            "branches": "" if row.branches is None else f"{row.branches_covered or 0:,} of {row.branches:,}",
            "unstable tests": "" if row.unstable is None else f"{row.unstable:,}",
            "test seconds": "" if row.seconds is None else f"{row.seconds:.2f}",
            "code in docs": "" if row.leak is None else percent(row.leak),
            "state": row.state + (f": {one_line(row.reason, 200)}" if row.reason else ""),
            "repository": one_line(row.snapshot, 16),
            "run": self.run,
            "session": self.session,
        }

    def to_json(self) -> dict[str, Any]:
        return {"session": self.session, "task": self.task.id, "name": self.name}


def read_task(reader: SessionReader, task_id: str) -> TaskSide | None:
    task = reader.task(task_id)
    run = reader.run(task.run_id) if task is not None else None
    return TaskSide(reader, task, run) if task is not None and run is not None else None


def compare_tasks(left: TaskSide, right: TaskSide) -> panes.PairComparison:
    panes.check_same_kind(left.of_run, right.of_run)
    sides = left, right
    ks = tuple(sorted({*left.ks, *right.ks}))[: panes.MOST_KS]
    facts = [panes.PairedRow(a, b, what, same=a == b) for what, a, b in panes.joined(left.facts, right.facts)]
    texts = compare_all(left, right, "function", "docstring", "prompt")
    tests = join_tests(left.tests, right.tests)
    evaluators = _join_evaluators(left, right, ks)
    differ = ", ".join(one.name for one in facts if not one.same)

    def fact(text: str | None, of: panes.PairedRow[str]) -> panes.Cell:
        return one_line(text or "", 300) or NOTHING, "dim" if of.same else "strong"

    return panes.PairComparison(
        names=panes.names_apart(left.parts, right.parts, 1, 4),
        shared=f"differ in: {differ}" if differ else "alike in all facts",
        columns=(
            panes.Amount("tests", len(left.tests), len(right.tests), 6).column,
            panes.Amount("failing", left.failing, right.failing, 7).column,
            panes.head_column("passed", (*(f"{one.passed:,}/{one.samples:,}" for one in sides), ""), 9),
        ),
        alike=alike(texts),
        leads=tuple(panes.Lead("task", one.task.id, one is right, one.task.run_id, 0, one.task.id) for one in sides),
        panes={
            "Functions": texts["function"],
            "Facts": panes.PaneTable(
                summary=panes.differing_words(facts),
                rows=facts,
                columns=(
                    panes.texts("fact", lambda pair: (pair.name, "dim"), 12, 22, cut="end"),
                    panes.texts("A", lambda pair: fact(pair.left, pair)),
                    panes.texts("B", lambda pair: fact(pair.right, pair)),
                ),
                nothing="There are no facts about the tasks.",
            ),
            "Evaluators": panes.PaneTable(
                summary=panes.differing_words(evaluators),
                rows=evaluators,
                columns=(
                    panes.texts("evaluator", lambda pair: pair.name, 20, 120),
                    *pass_columns(ks),
                ),
                nothing="No samples of either task were requested yet.",
                page="all",
            ),
            "Tests": failing_pane(tests, lacking="not a test of this task", page="differences"),
            "Docstrings": texts["docstring"],
            "Prompts": texts["prompt"],
        },
        to_json=lambda: {
            "a": left.to_json(),
            "b": right.to_json(),
            "facts": [{"what": one.name, "a": one.left, "b": one.right, "same": one.same} for one in facts],
            **{f"same_{name}": one.same for name, one in texts.items()},
            "tests": [{"test": one.name, **one.to_json(lambda test: picked(test, "failed", "samples"))} for one in tests],
            "evaluators": [{"evaluator": one.name, **result_json(one, ks)} for one in evaluators],
        },
    )  # fmt: skip


def _join_evaluators(left: TaskSide, right: TaskSide, ks: Sequence[int]) -> list[PassPair]:
    all_groups = *left.results, *right.results
    groups = {group.arguments: group for group in reversed(all_groups)}
    mine, other = ({group.arguments: one for group, one in side.results.items()} for side in (left, right))
    found = []
    for key, a, b in panes.joined(mine, other):
        group = groups[key]
        alike = [one for one in all_groups if (one.docs, one.docs_scope) == (group.docs, group.docs_scope)]
        found.append(pass_pair(a, b, ks, one_line(group.name(alike), 100)))
    return found


TASKS = panes.ComparisonKind(
    "tasks", "two tasks", ("Functions", "Facts", "Evaluators", "Tests", "Docstrings", "Prompts"),
    lambda left, right, *scale: compare_tasks(*panes.both(left, right, read_task, "Task")),
)  # fmt: skip
