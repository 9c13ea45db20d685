"""What evaluators got wrong, as a writer is told of it: their bodies, and in words how these behaved; nothing of the tests.

No test's name, code or message is given: a message holds expected values, which are the test's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.regeneration.failure_groups import WRONG_VERDICTS, FailedTest
from workbench.session.rows import CandidateRow, TaskRow

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

MOST = 3
_LONGEST = 4_000  # characters of a body that are shown


@dataclass(frozen=True, slots=True)
class FailingBody:
    """A body that an evaluator wrote from a docstring, and how it behaved differently from the function."""

    body: str
    words: str


def failing_bodies(
    reader: SessionReader, task: TaskRow, rows: Iterable[CandidateRow], samples: int
) -> list[FailingBody]:
    """Return different bodies that did not pass, at most :data:`MOST`, in the order of their numbers.

    Samples of numbers below ``samples`` are shown; the others are held out.
    """
    found: dict[str, FailingBody] = {}
    for row in sorted(rows, key=lambda one: one.sample):
        if row.sample >= samples or row.verdict not in WRONG_VERDICTS or len(found) == MOST:
            continue
        body = reader.kept(row.body_blob, "a body") or "" if row.body_blob else ""
        tests = [FailedTest(one.test_id, one.outcome, one.message) for one in reader.failing_tests(row.id)]
        found.setdefault(body, FailingBody(body[:_LONGEST], _behaviour(row.verdict or "", tests, task.test_count)))
    return list(found.values())


def _behaviour(verdict: str, tests: list[FailedTest], of: int) -> str:
    if verdict == "invalid":
        return "The answer held no body that Python can read."
    if verdict == "timeout":
        return "It did not come to an end in time."
    if verdict == "crashed":
        return "It ended the interpreter."
    raised = sorted({test.exception for test in tests if test.exception and test.exception != "AssertionError"})
    count = f"{len(tests)} of {of} tests failed" if of else f"{len(tests)} tests failed"
    wrong = any(test.exception == "AssertionError" for test in tests)
    said = " and ".join(
        filter(
            None,
            (
                "it returned or did something else than the function" if wrong or not raised else "",
                f"it raised {', '.join(raised)} where the function does not" if raised else "",
            ),
        )
    )
    return f"{count}: {said}."
