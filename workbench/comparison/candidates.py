"""Two candidates side by side: bodies, documentation and prompts word by word, and the tests that only one of them fails."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.comparison.prompts import prompt_of_candidate
from workbench.comparison.texts import TextPair, TextSide, compare_texts, read_text
from workbench.comparison.trials import Effort
from workbench.session.sample_counts import group_of
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.groups import Group
    from workbench.session.reader import SessionReader
    from workbench.session.rows import CandidateRow, FailingTestRow, TaskRow


@dataclass(frozen=True, slots=True)
class CandidateSide:
    """One of the two candidates, as it was read.

    Attributes:
        candidate: Its row.
        task: The task that it is a body for.
        session: Name of its session's file.
        body: What was tested, without the indentation of its first line.
        original: The body that the task's function had, likewise.
        docstring: The documentation from which it was written.
        prompt: The messages that were sent, each under a line with its role.
        failing: The tests that it did not pass.
    """

    candidate: CandidateRow
    task: TaskRow
    session: str
    body: TextSide
    original: TextSide
    docstring: TextSide
    prompt: TextSide
    failing: tuple[FailingTestRow, ...]

    @property
    def group(self) -> Group:
        return group_of(self.candidate, self.task)

    @property
    def tokens(self) -> int | None:
        """Tokens of its prompt and answer, None where neither is known."""
        row = self.candidate
        known = [count for count in (row.prompt_tokens, row.completion_tokens) if count is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class FailingPair:
    """A test that at least one of two candidates did not pass: what it said of each, None where it passed."""

    test: str
    left: FailingTestRow | None
    right: FailingTestRow | None

    @property
    def same(self) -> bool:
        a, b = self.left, self.right
        return a is not None and b is not None and (a.outcome, a.message) == (b.outcome, b.message)


@dataclass(frozen=True, slots=True)
class CandidateComparison:
    """Two candidates and how they differ; every difference is right minus left.

    Attributes:
        left: The first candidate, A on the screen.
        right: The second one, B.
        bodies: Both bodies.
        left_original: The original body beside the first candidate's.
        right_original: The original body beside the second one's.
        docstrings: What each was written from.
        prompts: What was sent for each.
        tests: The failing tests of either: those that only A fails, only B, then both.
        efforts: ``tokens``, ``asked`` and ``tested`` (seconds), ``cost`` (US dollars).
    """

    left: CandidateSide
    right: CandidateSide
    bodies: TextPair
    left_original: TextPair
    right_original: TextPair
    docstrings: TextPair
    prompts: TextPair
    tests: tuple[FailingPair, ...]
    efforts: tuple[Effort, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "a": _side_json(self.left),
            "b": _side_json(self.right),
            "efforts": {
                one.name: {"a": one.left, "b": one.right, "difference": one.difference} for one in self.efforts
            },
            "same_body": self.bodies.same,
            "same_docstring": self.docstrings.same,
            "same_prompt": self.prompts.same,
            "failing_tests": [
                {
                    "test": one.test,
                    "a": one.left.message if one.left else None,
                    "b": one.right.message if one.right else None,
                    "fails": "both" if one.left and one.right else "a" if one.left else "b",
                }
                for one in self.tests
            ],
        }


def _side_json(side: CandidateSide) -> dict[str, Any]:
    row, task = side.candidate, side.task
    return {
        "session": side.session,
        "candidate": row.id,
        "task": task.id,
        "path": task.path,
        "name": task.qualified_name,
        "docs": task.docs,
        "docs_scope": task.docs_scope,
        "evaluator": row.evaluator,
        "sample": row.sample,
        "verdict": row.verdict,
        "body": side.body.text,
    }


def read_candidate(reader: SessionReader, candidate_id: str) -> CandidateSide | None:
    """Read a candidate with all that is compared; None if it, or its task, is not in the session."""
    candidate = reader.candidate(candidate_id)
    task = reader.task(candidate.task_id) if candidate is not None else None
    if candidate is None or task is None:
        return None
    why = candidate.verdict_reason or f"there is no body yet: the candidate is {candidate.state}"
    body = read_text(reader, candidate.body_blob, "candidate", f"the body of candidate {candidate.id}", why)
    original = read_text(
        reader, task.body_blob, "original", f"the original body of task {task.id}", "the session does not keep it"
    )
    docstring = read_text(
        reader,
        task.docstring_blob,
        f"docs {one_line(task.docs_words, 60)}",
        f"the docstring of task {task.id}",
        "no docstring",
    )
    return CandidateSide(
        candidate,
        task,
        reader.path.name,
        _unindented(body),
        _unindented(original),
        docstring,
        prompt_of_candidate(reader, candidate, task),
        tuple(reader.failing_tests(candidate.id)),
    )


def compare_candidates(left: CandidateSide, right: CandidateSide) -> CandidateComparison:
    """Compare two candidates, of one task or of two."""
    a, b = left.candidate, right.candidate
    return CandidateComparison(
        left,
        right,
        compare_texts(left.body, right.body),
        compare_texts(left.original, left.body),
        compare_texts(right.original, right.body),
        compare_texts(left.docstring, right.docstring),
        compare_texts(left.prompt, right.prompt),
        join_failing(left.failing, right.failing),
        (
            Effort("tokens", left.tokens, right.tokens),
            Effort("asked", a.asked_s, b.asked_s),
            Effort("tested", a.tested_s, b.tested_s),
            Effort("cost", a.cost_usd, b.cost_usd),
        ),
    )


def join_failing(left: Iterable[FailingTestRow], right: Iterable[FailingTestRow]) -> tuple[FailingPair, ...]:
    """Return the failing tests of either by their names: those of the left one alone, of the right one alone, of both."""
    mine, other = {row.test_id: row for row in left}, {row.test_id: row for row in right}
    pairs = [FailingPair(test, mine.get(test), other.get(test)) for test in sorted(mine.keys() | other.keys())]
    return tuple(sorted(pairs, key=lambda pair: 2 if pair.left and pair.right else 0 if pair.left else 1))


def _unindented(side: TextSide) -> TextSide:
    return side if side.text is None else replace(side, text=without_margin(side.text))


def without_margin(body: str) -> str:
    """Return a body without the indentation of its first line: models indent as they like, splicing corrects it."""
    lines = body.strip("\n").split("\n")
    first = next((line for line in lines if line.strip()), "")
    margin = len(first) - len(first.lstrip(" "))
    return "\n".join(line[min(margin, len(line) - len(line.lstrip(" "))) :].rstrip() for line in lines)
