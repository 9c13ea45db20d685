"""The tests that a sample did not pass, with messages and tracebacks, or why there are none."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from workbench.app.regeneration.wording import plural, took
from workbench.app.toolkit.document import Document, Line, note, prepared
from workbench.glyphs import VERDICTS, WAITING
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.results.samples import Sample
    from workbench.session.reader import SessionReader
    from workbench.session.rows import CandidateRow, FailingTestRow

_ERROR = re.compile(r"[\w.]*(Error|Exception|Exit|Interrupt|Warning)\b")
_TRACEBACK = 40_000  # bytes of one traceback
_MESSAGE = 4_000  # characters of one message
_TESTS = 200  # tests whose tracebacks are laid out
_GLYPHS = {
    "failed": VERDICTS["failed"],
    "error": VERDICTS["crashed"],
    "timeout": VERDICTS["timeout"],
    "skipped": WAITING,
    "missing": VERDICTS["invalid"],
}


def failures_of(reader: SessionReader, sample: Sample) -> tuple[str, Document]:
    """Return a title and the failing tests of a sample."""
    candidate = sample.candidate
    if candidate is None or candidate.verdict is None:
        wrong = _wrong_controls(reader, sample) if sample.task.state == "excluded" else []
        return ("controls", _of_controls(reader, wrong)) if wrong else ("failing tests", _required(sample))
    reason = candidate.verdict_reason or ""
    if candidate.verdict == "passed":
        tests = len(_tests(sample))
        said = f"✓ {plural(tests, 'test')} passed" + (f" in {took(candidate.tested_s)}" if candidate.tested_s else "")
        return "failing tests 0", Document((Line(said, ((0, len(said), "ok"),)), Line(""), *_names(sample)), said)
    rows = reader.failing_tests(candidate.id)
    lines = _reason(reason)
    for row in rows[:_TESTS]:
        lines += _failure(reader, row)
    if len(rows) > _TESTS:
        lines.append(Line(f"… and {len(rows) - _TESTS:,} more tests", ((0, 60, "notice"),)))
    if not lines:
        said = f"{candidate.verdict}; no test said why."
        lines = [Line(said, ((0, len(said), "dim"),))]
    former = ", by the former verdict" if candidate.again else ""
    return f"failing tests {len(rows):,}{former}", Document(tuple(lines), "\n".join(line.text for line in lines))


def _wrong_controls(reader: SessionReader, sample: Sample) -> list[CandidateRow]:
    rows = [row for row in reader.candidates(sample.task.run_id, sample.task.id) if row.control and row.verdict]
    return [row for row in rows if row.verdict == "error" or (row.verdict == "passed") == (row.evaluator == "stub")]


def _of_controls(reader: SessionReader, rows: list[CandidateRow]) -> Document:
    """Lay out what took a task out: the control that does not hold, with the tests that it did not pass."""
    lines: list[Line] = []
    for row in rows:
        must = "must pass" if row.evaluator == "reference" else "must fail"
        said = f"{row.evaluator} {row.verdict}; it {must}."
        lines += [Line(said, ((0, len(said), "bad"),), indent=2), *_reason(row.verdict_reason or "")]
        for test in reader.failing_tests(row.id)[:_TESTS]:
            lines += _failure(reader, test)
    return Document(tuple(lines), "\n".join(line.text for line in lines))


def _reason(reason: str) -> list[Line]:
    if not reason:
        return []
    text = prepared(reason[:_MESSAGE])
    return [*(Line(part, ((0, len(part), "warn"),), indent=2) for part in text.split("\n")), Line("")]


def _failure(reader: SessionReader, row: FailingTestRow) -> list[Line]:
    head = f"{_GLYPHS.get(row.outcome, '✗')} {one_line(row.test_id, 400)}"
    lines = [Line(head, ((0, len(head), "bad"),), indent=2)]
    trace = _traceback(reader, row.traceback_blob)
    message = prepared(row.message[:_MESSAGE]).strip("\n")
    if message and message not in trace:
        lines += [Line(f"  {part}", indent=4) for part in message.split("\n")]
    if trace:
        lines += [_of_traceback(part) for part in trace.split("\n")]
    return [*lines, Line("")]


def _traceback(reader: SessionReader, digest: str | None) -> str:
    if digest is None:
        return ""
    text = prepared(reader.shown(digest, "this traceback", _TRACEBACK)).strip("\n")
    return text + ("\n…" if reader.size(digest) > _TRACEBACK else "")


def _of_traceback(line: str) -> Line:
    text = f"  {line}"
    wrong = line.startswith("E ") or _ERROR.match(line)
    style = "bad" if wrong else "strong" if line.startswith(">") else ""
    return Line(text, ((0, len(text), style),) if style else (), indent=4)


def _tests(sample: Sample) -> list[str]:
    try:
        tests = json.loads(sample.task.tests)
    except (ValueError, RecursionError):
        return []
    return [str(test) for test in tests] if isinstance(tests, list) else []


def _names(sample: Sample) -> list[Line]:
    return [Line(f"  {one_line(test, 400)}", ((0, 402, "dim"),), indent=-1) for test in _tests(sample)[:1000]]


def _required(sample: Sample) -> Document:
    names = _names(sample)
    return Document((*note(f"{plural(len(_tests(sample)), 'test')} must pass:", "").lines, *names), "")
