"""The texts of a sample of a usage run: the answer beside the reference, the page, the statement, and the hidden calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.app.toolkit import document as doc
from workbench.base.glyphs import VERDICTS, WAITING
from workbench.base.text import one_line, plural
from workbench.results.page_scores import page_digests
from workbench.results.usage import line_marks, usage_tasks
from workbench.sandbox.workbench_runner.values import decode
from workbench.session.groups import WITHOUT
from workbench.usage.verdicts import call_names, given, hidden_calls

if TYPE_CHECKING:
    from workbench.results.samples import SampleView
    from workbench.session.reader import SessionReader
    from workbench.session.rows import FailingTestRow
    from workbench.usage.tasks import Call, UsageTask

_RESULT = 4_000  # maximum characters of a result
_COMPARED = ("passed", "failed", "bypassed")
"""Verdicts for which all calls not listed as failing gave the expected result."""


def answer(reader: SessionReader, sample: SampleView, text: str, cut: str | None) -> doc.TextDocument:
    """Lay out an answer, and the reference below it."""
    task = _task(reader, sample)
    name = "answer.sh" if task is not None and task.target.kind == "command" else "answer.py"
    reference = reader.text_or_none(sample.task.body_blob, "the reference") or ""
    parts = [doc.code(text, name, cut=cut, coloured=doc.COLOURED_AT_FIRST), doc.plain("")]
    if doc.prepared(text).strip() == doc.prepared(reference).strip():
        parts.append(doc.plain("It is the reference, character for character.", style="dim"))
    else:
        parts += [doc.heading("Reference", "the recorded call"), doc.code(reference, name)]
    return doc.TextDocument(tuple(line for part in parts for line in part.lines), text, cut, numbered=True)


def _task(reader: SessionReader, sample: SampleView) -> UsageTask | None:
    return next(iter(usage_tasks(reader, [sample.task]).values()), None)


def page(reader: SessionReader, sample: SampleView, context: str, limit: int) -> doc.TextDocument:
    """Lay out the page that a reader saw; the margin marks the line that its answer relies on, or that is a gap."""
    run = reader.run(sample.task.run_id)
    digest = page_digests(run).get(context) if run is not None else None
    if digest is None:
        return doc.note("The reader saw no page." if context == WITHOUT else "The page has not been read yet.")
    size = reader.size(digest)
    text = reader.shown(digest, f"the page {context}", limit)
    marks = line_marks([sample.candidate] if sample.candidate is not None else [])
    cut = None if size <= limit else f"Only the first {limit:,} of {size:,} bytes are shown."
    return doc.with_margin(doc.code(text, "page.md", cut=cut), marks)


def calls(reader: SessionReader, sample: SampleView) -> tuple[str, doc.TextDocument] | None:
    """Return a title and the hidden calls of a task one by one, or None if the task cannot be read."""
    task = _task(reader, sample)
    if task is None:
        return None
    candidate, hidden = sample.candidate, hidden_calls(task)
    verdict = candidate.verdict if candidate is not None else None
    failing = {row.test_id: row for row in reader.failing_tests(candidate.id)} if candidate is not None else {}
    lines = []
    if candidate is not None and verdict not in (None, "passed") and candidate.verdict_reason:
        lines += [doc.styled((one_line(candidate.verdict_reason, 600), "warn"), indent=2), doc.TextLine("")]
    for number, name in call_names(hidden).items():
        row = failing.get(name)
        passed = row is None and verdict in _COMPARED
        sign, style = (VERDICTS["passed"], "ok") if passed else (VERDICTS["failed"], "bad") if row else (WAITING, "dim")
        lines.append(doc.styled((f"{sign} {_brief(name, 400)}", style), indent=2))
        lines += [*_inputs(hidden[number]), *_outcome(task, hidden[number], row), doc.TextLine("")]
    wrong = f", {len(failing):,} failed" if failing else ""
    return f"{plural(len(hidden), 'hidden call')}{wrong}", doc.of_lines(lines)


def _brief(text: str, most: int = _RESULT) -> str:
    """Return a text on one line without collapsing its spaces, because they matter in a result."""
    line = doc.prepared(text).replace("\n", " ")
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _inputs(call: Call) -> Iterator[doc.TextLine]:
    for path, text in call.files.items():
        yield doc.styled((f"  file {_brief(path, 100)}: {_brief(repr(text), 300)}", "dim"), indent=4)


def _outcome(task: UsageTask, call: Call, row: FailingTestRow | None) -> Iterator[doc.TextLine]:
    yield from _result(task, "expected", call.expected, "")
    if row is not None:
        got = given(row.message, call)
        result = got.removeprefix("got ")
        yield from _result(task, "got" if result != got else row.outcome, result, "bad")


def _result(task: UsageTask, label: str, text: str, style: str) -> Iterator[doc.TextLine]:
    """Yield a result; that of a command is shown as it is printed."""
    shown = [text]
    if task.target.kind == "command":
        try:
            result = decode(text)
            shown = [repr(line) for line in result["stdout"].splitlines(keepends=True)] or ["prints nothing"]
            shown += [f"exit status {result['exit']}"] if result["exit"] else []
            shown += [f"file {path}: {content!r}" for path, content in result.get("files", {}).items()]
        except (ValueError, TypeError, KeyError, AttributeError):
            shown = [text]
    for place, part in enumerate(shown):
        yield doc.styled((f"  {'' if place else label:<9}", "dim"), (_brief(part), style), indent=11)
