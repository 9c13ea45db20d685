"""Test answers in a sandbox, and compare their results with the recorded results outside of the sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.sandbox import Job, Limits, Reason, Report, TestOutcome, Verdict
from workbench.usage.tasks import Call, UsageTask
from workbench.usage.tree import ANSWER, test_id

_SHOWN = 2000  # characters of a result in a message
_INVALID, _FAILED = "AnswerInvalid: ", "AnswerFailed: "
_FORMAT = "def source():\n    return {!r}\n"


def hidden_calls(task: UsageTask) -> dict[int, Call]:
    """Return the hidden calls of a task by their number in the tree, in which shown calls come first."""
    return dict(enumerate(task.hidden, len(task.shown)))


def job(id: str, position: int, calls: Mapping[int, Call], answer: str, limits: Limits) -> Job:
    """Return the job that runs an answer on ``calls``, by their numbers, of the entry at ``position`` of the tree."""
    digits = answer.encode("utf-8", "surrogatepass").hex()
    return Job(
        id,
        tests=tuple(test_id(position, number) for number in calls),
        path=ANSWER,
        content=_FORMAT.format(digits).encode(),
        limits=limits,
        function=("source", 1),
    )


def judge(report: Report, calls: Mapping[int, Call]) -> Report:
    """Return the verdict on an answer from the report of its job; each call is a test named by its text."""
    by_number = {int(test.id.rpartition("[")[2].rstrip("]")): test for test in report.tests if test.id.endswith("]")}
    names = call_names(calls)
    tests = tuple(
        _compared(names[number], by_number[number], call) for number, call in calls.items() if number in by_number
    )
    # The expected results are not in the process, so an answer cannot forge them by changing the process.
    report = replace(report, tests=tests, doubtful="", changed=(), suspicious=())
    invalid = next((test.message for test in tests if test.message.startswith(_INVALID)), None)
    if invalid is not None:
        detail = invalid.removeprefix(_INVALID)
        return replace(report, verdict=Verdict.INVALID, reason=Reason.SYNTAX, detail=detail, tests=())
    if report.verdict is Verdict.ERROR and report.reason is Reason.WRONG_COPY:
        # The tree contains the package, so the answer must have imported another copy.
        return replace(report, verdict=Verdict.FAILED)
    if report.verdict not in (Verdict.PASSED, Verdict.FAILED) or report.reason not in (
        Reason.NONE,
        Reason.TESTS_FAILED,
    ):
        return report
    failing = sum(test.outcome != "passed" for test in tests)
    if failing:
        detail = f"{failing} of {len(tests)} calls gave a different result."
        return replace(report, verdict=Verdict.FAILED, reason=Reason.TESTS_FAILED, detail=detail)
    if not any(test.called for test in tests):
        detail = "It gives the right results without calling the package."
        return replace(report, verdict=Verdict.BYPASSED, detail=detail)
    return replace(report, verdict=Verdict.PASSED, reason=Reason.NONE, detail="")


def _compared(name: str, test: TestOutcome, call: Call) -> TestOutcome:
    """Determine the outcome of a call from its recorded value."""
    if test.outcome == "passed" and test.value == call.expected:
        return replace(test, id=name)
    if test.outcome == "passed":
        message = f"expected {_short(call.expected)}, got {_short(test.value) or 'nothing'}"
        return replace(test, id=name, outcome="failed", message=message)
    if test.message.startswith(_FAILED):
        message = f"expected {_short(call.expected)}, {test.message.removeprefix(_FAILED)}"
        return replace(test, id=name, message=message, traceback="")
    return replace(test, id=name)


def given(message: str, call: Call) -> str:
    """Return a failing call's message without the expected result: ``got …``, or how the answer failed."""
    return message.removeprefix(f"expected {_short(call.expected)}, ")


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def call_names(calls: Mapping[int, Call]) -> dict[int, str]:
    """Return a unique name for each call."""
    names: dict[int, str] = {}
    for number, call in calls.items():
        name = call_text(call)
        names[number] = f"{name} (call {number + 1})" if name in names.values() else name
    return names


def call_text(call: Call) -> str:
    """Return a call as source code, such as ``answer('a b', 2)``."""
    text = f"answer({', '.join(call.inputs)})"
    return f"{text} < {call.stdin!r}" if call.stdin else text
