"""One failed candidate beside what it fails: the source of the test with the asserting line, the difference, the docstring."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.app.regeneration.sample_content import laid_out
from workbench.app.toolkit.document import Document, Line, heading, joined, note, plain, prepared
from workbench.app.toolkit.syntax import code
from workbench.glyphs import VERDICTS
from workbench.regeneration.source_of_test import SourceOfTest, source_of_test, text_of_test_file
from workbench.results.samples import Sample
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.regeneration.failure_groups import FailedCandidate
    from workbench.session.reader import SessionReader
    from workbench.session.rows import FailingTestRow

_TRACEBACK = 40_000  # bytes
NOT_KEPT = "The source of this test is neither in this session nor in the cache; the traceback has what is known of it."


@dataclass(frozen=True, slots=True)
class Detail:
    """Two texts with their titles: the test, and the difference above the docstring."""

    test_title: str
    test: Document
    body_title: str
    body: Document


def load_detail(reader: SessionReader, one: FailedCandidate, test: str = "") -> Detail:
    """Read what a candidate wrote and how it fails a test; without one its leading test, without that why it failed."""
    task, candidate = reader.task(one.task), reader.candidate(one.id)
    if task is None or candidate is None:
        gone = note("This candidate is no longer in the session.")
        return Detail("test", gone, "difference", gone)
    sample = Sample(task, candidate, candidate.sample)
    body = joined(
        [
            laid_out(reader, sample, "Diff"),
            plain(""),
            heading("Docstring"),
            *([laid_out(reader, sample, "Docstring")]),
        ]
    )
    title = f"{one_line(one.function, 60)} · {one_line(one.group.evaluator, 40)} · sample {candidate.sample + 1}"
    failing = {row.test_id: row for row in reader.failing_tests(one.id)}
    wanted = failing.get(test or (one.lead.test if one.lead is not None else ""))
    if wanted is None:
        said = f"{VERDICTS.get(one.verdict, '?')} {one.verdict}: {one.reason or 'no test said why.'}"
        return Detail("no failing test", note(prepared(said)), title, body)
    trace = reader.shown(wanted.traceback_blob, "this traceback", _TRACEBACK) if wanted.traceback_blob else ""
    found = source_of_test(text_of_test_file(reader, task, wanted.test_id), wanted.test_id, trace)
    shown = _source(found, wanted, one) if found is not None else _without_source(wanted, trace)
    return Detail(one_line(wanted.test_id, 200), shown, title, body)


def _source(found: SourceOfTest, row: FailingTestRow, one: FailedCandidate) -> Document:
    """Lay out a test with its line numbers; below the asserting line stands what it said."""
    coloured = code("\n".join(found.lines), "test.py")
    lines: list[Line] = []
    told = False
    for at, line in enumerate(coloured.lines):
        number = found.first + at
        here = number == found.asserting
        lines.append(replace(line, number=number, fill="block" if here else ""))
        if here:
            lines += _said(found.said or (row.message,), line.text)
            told = True
    if not told:
        lines += [Line(""), *_said(found.said or (row.message,), "")]
    place = one.lead.place if one.lead is not None and one.lead.test == row.test_id else None
    if place is not None and place.path and place.path != found.path:
        lines += [Line(""), _styled(f"raised at {one_line(str(place), 200)}", "warn")]
    return Document(tuple(lines), "\n".join(line.text for line in lines), numbered=True)


def _said(said: tuple[str, ...], below: str) -> list[Line]:
    indent = " " * (len(below) - len(below.lstrip(" ")))
    return [_styled(f"{indent}E  {part}", "bad") for text in said for part in prepared(text).split("\n")]


def _without_source(row: FailingTestRow, trace: str) -> Document:
    lines = [_styled(NOT_KEPT, "dim"), Line("")]
    lines += [_styled(part, "bad" if part[:1].strip() else "") for part in prepared(trace or row.message).split("\n")]
    return Document(tuple(lines), "\n".join(line.text for line in lines))


def _styled(text: str, style: str) -> Line:
    ready = prepared(text)
    return Line(ready, ((0, len(ready), style),) if style else (), indent=4)
