"""The texts of a sample: the diff to the original, candidate, docstring, prompt, answer and failing tests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.app.keys import key_of
from workbench.app.regeneration.wording import took
from workbench.app.toolkit import document as doc
from workbench.app.toolkit.pane import COPIED_AT_MOST
from workbench.base.glyphs import DOUBTFUL, VERDICTS, WAITING
from workbench.base.text import NOTHING, money, one_line, percent, plural, size_of
from workbench.comparison.texts import line_diff, without_margin
from workbench.results.samples import SampleView, read_sample
from workbench.session.labels import in_words
from workbench.session.row_reader import TextDamaged
from workbench.session.rows import CandidateRow, FailingTestRow, FormerVerdictRow, TaskRow

if TYPE_CHECKING:
    from workbench.session.groups import Group
    from workbench.session.reader import SessionReader

SHOWN_AT_FIRST = 64_000
"""Number of bytes of a text to load until the user asks for more."""
COMPARED = 200_000
"""Number of bytes of each body to compare; line matching takes quadratic time in the worst case."""
_TRACEBACK = 40_000  # maximum bytes per traceback
_MESSAGE = 4_000  # maximum characters per message
_TESTS = 200  # maximum number of failing tests shown
_ERROR = re.compile(r"[\w.]*(Error|Exception|Exit|Interrupt|Warning)\b")
_OUTCOMES = VERDICTS | {"error": VERDICTS["crashed"], "missing": VERDICTS["invalid"], "skipped": WAITING}
_SHORT = 80  # up to this many lines (of both bodies together), the diff shows everything
_REPLACED = 3  # maximum number of former verdicts listed
GONE = "This task is no longer in the session."
FORMER = "former verdict, until the sample has been tested again"


def empty_tabs(sample: SampleView) -> frozenset[str]:
    candidate, docstring = sample.candidate, sample.task.docstring_blob
    body, answer = (candidate.body_blob, candidate.answer_blob) if candidate is not None else (None, None)
    texts = {"Diff": body, "Candidate": body, "Answer": answer, "Docstring": docstring}
    if sample.task.usage_blob is not None:
        no_call = candidate is not None and candidate.verdict is not None and candidate.call_id is None
        prompt = None if no_call else docstring
        texts = {"Answer": body, "Response": answer, "Statement": docstring, "Prompt": prompt}
    return frozenset(tab for tab, text in texts.items() if text is None)


def read_all(reader: SessionReader, task_id: str, group: Group, number: int, tab: str) -> doc.TextDocument:
    sample = read_sample(reader, task_id, group, number)
    return laid_out(reader, sample, tab, COPIED_AT_MOST) if sample is not None else doc.note(GONE)


def read_texts(
    reader: SessionReader, task_id: str, group: Group, number: int, tabs: Iterable[str], limit: int
) -> tuple[SampleView, dict[str, doc.TextDocument], tuple[str, doc.TextDocument]] | None:
    """Load a sample with some of its tabs, and its failing tests with a title; returns None if the task is gone."""
    sample = read_sample(reader, task_id, group, number)
    if sample is None:
        return None
    return sample, {tab: laid_out(reader, sample, tab, limit) for tab in tabs}, failures_of(reader, sample)


def laid_out(reader: SessionReader, sample: SampleView, tab: str, limit: int = SHOWN_AT_FIRST) -> doc.TextDocument:
    """Lay out a tab of a sample, loading at most ``limit`` bytes of a text."""
    candidate = sample.candidate
    if sample.task.usage_blob is not None:
        return _of_usage(reader, sample, tab, limit)
    if tab == "Docstring":
        return _docstring(reader, sample, limit)
    if tab == "Prompt":
        return _prompt(reader, sample, limit)
    if candidate is None or (candidate.answer_blob if tab == "Answer" else candidate.body_blob) is None:
        return doc.note(waiting_for(sample))
    return {"Diff": _diff, "Candidate": _candidate, "Answer": _answer}[tab](reader, sample.task, candidate, limit)


def _of_usage(reader: SessionReader, sample: SampleView, tab: str, limit: int) -> doc.TextDocument:
    from workbench.app.regeneration import usage_content

    candidate, task = sample.candidate, sample.task
    if tab == "Statement":
        text, cut = _cut(reader, task.docstring_blob or "", limit, f"the statement of task {task.id}")
        return doc.plain(text, cut=cut)
    if tab == "Page":
        return usage_content.page(reader, sample, candidate.context if candidate is not None else "", limit)
    if tab == "Prompt" and "Prompt" in empty_tabs(sample):
        return doc.note("This reader uses no model.")
    if tab == "Prompt":
        return _prompt(reader, sample, limit)
    if candidate is None or (candidate.body_blob if tab == "Answer" else candidate.answer_blob) is None:
        return doc.note(waiting_for(sample))
    if tab == "Response":
        return _answer(reader, task, candidate, limit)
    return usage_content.answer(reader, sample, *_cut(reader, candidate.body_blob or "", limit, "this answer"))


def title_of(sample: SampleView) -> str:
    """Return the title of a sample: ``sample 3 ✗ failed in 0.03 s``."""
    candidate = sample.candidate
    if candidate is None:
        return f"sample {sample.number + 1} · waiting"
    text = f"sample {candidate.sample + 1} "
    if candidate.verdict:
        glyph = VERDICTS.get(candidate.verdict, "?")
        seconds = took(candidate.tested_s)
        text += f"{glyph} {candidate.verdict}" + (f" in {seconds}" if seconds else "")
        return f"{text}, being tested again" if candidate.retesting else text
    asked = "▸ waiting for the model" if sample.task.usage_blob is None else "▸ waiting for the reader"
    words = {"asking": asked, "testing": "▸ being tested", "cancelled": "⊘ cancelled"}
    return text + words.get(candidate.state, "· waiting")


def detail_of(sample: SampleView) -> str:
    """Return the route and cost of a sample: ``tested warm · 1,204 tokens · asked 3.1 s · $0.0012``."""
    candidate = sample.candidate
    if candidate is None:
        return ""
    tokens = (candidate.prompt_tokens or 0) + (candidate.completion_tokens or 0)
    where = f" in {one_line(candidate.backend, 20)}" if candidate.backend else ""
    parts = [f"tested {one_line(candidate.route, 20)}{where}"] if candidate.route else []
    parts += [f"{tokens:,} tokens"] if tokens else []
    parts += [f"asked {took(candidate.asked_s)}"] if candidate.asked_s is not None else []
    parts += [money(candidate.cost_usd)] if candidate.cost_usd else []
    return " · ".join(parts)


def remarks_of(sample: SampleView) -> tuple[tuple[str, bool], ...]:
    """Return the remarks on a sample and its verdict as pairs of a text and whether it is an alarm."""
    candidate = sample.candidate
    remarks = [(in_words(sample.labels), False)] if sample.labels else []
    remarks += [(f"✎ {one_line(text, 300)}", False) for text in sample.annotations]
    if candidate is not None and sample.task.usage_blob is not None:
        remarks += _about_page(candidate)
    if candidate is None or candidate.verdict is None:
        return tuple(remarks)
    if candidate.retesting:
        remarks.append((FORMER, False))
    if candidate.route_fallback_reason:
        faster = "hot" if candidate.route == "warm" else "faster"
        remarks.append(
            (f"{candidate.route or 'tested'}, not {faster}: {one_line(candidate.route_fallback_reason, 300)}", False)
        )
    if candidate.doubtful:
        remarks.append((f"{DOUBTFUL} doubtful: {one_line(candidate.doubtful, 300)}", True))
    suspicious = _decoded(candidate.suspicious)
    if isinstance(suspicious, list) and suspicious:
        remarks.append((f"suspicious: {one_line('; '.join(map(str, suspicious)), 300)}", True))
    recheck = _decoded(candidate.recheck)
    if isinstance(recheck, dict):
        why = one_line(str(recheck.get("why") or ""), 20)
        found = one_line(str(recheck.get("verdict") or "?"), 20)
        message = f"cold re-check ({why}): {found}" if why else f"cold re-check: {found}"
        if recheck.get("agrees") is False:
            remarks.append((f"≠ {message}; the {candidate.route or 'fast'} route disagrees", True))
        else:
            remarks.append((f"{message}, agrees", False))
    return (*remarks, *_history(sample.former))


def _about_page(candidate: CandidateRow) -> Iterator[tuple[str, bool]]:
    """Yield the line of the page that an answer relies on, or what the page lacks."""
    from workbench.results.usage import gap_of

    gap = gap_of(candidate)
    if gap is not None:
        where = f"line {gap.line}{f' ({gap.section})' if gap.section else ''}: " if gap.line else ""
        yield f"gap: {where}{one_line(gap.words, 300)}", False
    notes = _decoded(candidate.notes)
    for note in notes if isinstance(notes, list) else ():
        yield one_line(str(note), 300), False


def _history(former: Sequence[FormerVerdictRow]) -> Iterator[tuple[str, bool]]:
    """Yield remarks on the most recently replaced verdicts, newest first."""
    from workbench.pages.wording import former_words

    for row in reversed(former[-_REPLACED:]):
        yield f"before: {one_line(former_words(row), 300)}", False
    if len(former) > _REPLACED:
        yield f"… and {len(former) - _REPLACED:,} verdicts before that; `workbench show` lists them", False


def _decoded(text: str | None) -> object:
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None


def waiting_for(sample: SampleView) -> str:
    """Return why a sample has no body."""
    candidate = sample.candidate
    noun = "body" if sample.task.usage_blob is None else "answer"
    if sample.task.state == "excluded" and (candidate is None or candidate.verdict is None):
        return f"Not requested, because a control failed. {one_line(sample.task.reason or '', 600)}".rstrip()
    if candidate is None:
        return "This evaluator has no such sample of this task."
    if candidate.state == "queued":
        return "This sample is queued."
    if candidate.state == "asking":
        return f"The {'model' if noun == 'body' else 'reader'} is writing this {noun}…"
    if candidate.state == "cancelled":
        return candidate.verdict_reason or "The run was cancelled before this sample was written."
    if candidate.verdict_reason:
        return f"There is no {noun}: {one_line(candidate.verdict_reason, 600)}"
    return f"No {noun} was found in the {'answer' if noun == 'body' else 'response'}; press {key_of('regeneration.previous-tab')} to see it."


def _diff(reader: SessionReader, task: TaskRow, candidate: CandidateRow, limit: int) -> doc.TextDocument:
    if task.body_blob is None:
        return doc.note("The original body is not stored in this session.")
    bodies = {task.body_blob: f"the original body of task {task.id}"}
    bodies[candidate.body_blob or ""] = f"the body of candidate {candidate.id}"
    too_long = any(reader.size(digest) > COMPARED for digest in bodies)
    cut = f"Only the first {size_of(COMPARED)} of each body are compared." if too_long else None
    # Do not use shown(), because it may return an error message, which must not be compared as a body.
    try:
        texts = {
            digest: without_margin(reader.text(digest, COMPARED, of=of)).split("\n") for digest, of in bodies.items()
        }
    except TextDamaged as error:
        return doc.note(str(error))
    before, after = texts[task.body_blob], texts[candidate.body_blob or ""]
    whole = len(before) + len(after) <= _SHORT
    # Compare the text as displayed, where tabs are equal to spaces.
    diff = line_diff(before, after, _SHORT if whole else 3, doc.prepared)
    if diff:
        return doc.joined([doc.difference(diff, places=not whole)], cut=cut)
    same = doc.plain("The candidate is the original body, line for line.", style="dim")
    return doc.joined([same, doc.plain(""), doc.plain("\n".join(f"  {line}" for line in after))], cut=cut)


def _candidate(reader: SessionReader, _: TaskRow, candidate: CandidateRow, limit: int) -> doc.TextDocument:
    text, cut = _cut(reader, candidate.body_blob or "", limit, f"the body of candidate {candidate.id}")
    body = doc.code(text, "candidate.py", cut=cut, coloured=doc.COLOURED_AT_FIRST)
    if not candidate.notes or candidate.notes in {"[]", "{}"}:
        return body
    message = one_line(f"extraction: {candidate.notes.strip('[]').replace(chr(34), '')}", 400)
    return doc.TextDocument(
        (doc.styled((message, "notice"), indent=2), doc.TextLine(""), *body.lines), body.text, cut, numbered=True
    )


def _docstring(reader: SessionReader, sample: SampleView, limit: int) -> doc.TextDocument:
    task = sample.task
    message = f"{one_line(task.docs_words, 60)} documentation"
    parts = [doc.heading(message, f"of {one_line(task.path, 200)}, line {task.start_line or NOTHING}")]
    if task.leak is not None:
        parts.append(doc.plain(f"It repeats {percent(task.leak)} of the body's token sequences.", style="dim"))
    if task.docstring_blob is None:
        return doc.joined([*parts, doc.plain(""), doc.note("No docstring: the model sees the signature only.")])
    text, cut = _cut(reader, task.docstring_blob, limit, f"the docstring of task {task.id}")
    return replace(doc.joined([*parts, doc.plain(""), doc.plain(text)], cut=cut), text=text)


def _prompt(reader: SessionReader, sample: SampleView, limit: int) -> doc.TextDocument:
    from workbench.comparison.texts import kept_prompt

    candidate, task = sample.candidate, sample.task
    call = reader.call(candidate.call_id) if candidate is not None and candidate.call_id is not None else None
    if call is not None:
        sent = f"{call.prompt_tokens or 0:,} tokens in · {call.completion_tokens or 0:,} out"
        parts = [doc.heading(one_line(call.answered_by or call.model, 60), sent)]
        parts.append(doc.plain(one_line(call.sampling, 300), style="dim"))
        messages = reader.messages(call)
    elif task.prompt_blob is not None:
        versions, messages = kept_prompt(reader, task)
        named = zip(("prompt", "context"), versions, strict=False)
        parts = [doc.heading("Prompt", " · ".join(f"{what} {one_line(version, 40)}" for what, version in named))]
    else:
        return doc.note("The prompt is built when the model is called.")
    if not messages:
        parts.append(doc.note("", "The messages cannot be read."))
    for role, content in messages:
        more = len(content) - limit
        rest = f"{size_of(more)} more; {key_of('regeneration.more')} shows them." if more > 0 else None
        parts += [doc.plain(""), doc.plain(role, style="role"), doc.plain(content[:limit], cut=rest)]
    return doc.joined(
        parts, cut=f"{key_of('regeneration.more')} shows more of it." if any(part.cut for part in parts) else None
    )


def _answer(reader: SessionReader, _: TaskRow, candidate: CandidateRow, limit: int) -> doc.TextDocument:
    text, cut = _cut(reader, candidate.answer_blob or "", limit, f"the answer of candidate {candidate.id}")
    return doc.plain(text, cut=cut) if text.strip() else doc.note("The answer is empty.")


def _cut(reader: SessionReader, digest: str, limit: int, of: str) -> tuple[str, str | None]:
    size = reader.size(digest)
    text = reader.shown(digest, of, limit)
    return text, None if size <= limit else f"… {size_of(size - limit)} more; {key_of('regeneration.more')} shows them."


# -- failing tests


def failures_of(reader: SessionReader, sample: SampleView) -> tuple[str, doc.TextDocument]:
    """Return a title and a document with the failing tests and their tracebacks, or the reason why there are none."""
    candidate = sample.candidate
    if sample.task.usage_blob is not None and sample.task.state != "excluded":
        from workbench.app.regeneration import usage_content

        if (found := usage_content.calls(reader, sample)) is not None:
            return found
    if candidate is None or candidate.verdict is None:
        wrong = _wrong_controls(reader, sample) if sample.task.state == "excluded" else []
        if wrong:
            return "controls", doc.of_lines(wrong)
        required = doc.note(f"{plural(len(_tests(sample)), 'test')} must pass:", "").lines
        return "failing tests", doc.TextDocument((*required, *_names(sample)), "")
    if candidate.verdict == "passed":
        tests = len(_tests(sample))
        text = f"✓ {plural(tests, 'test')} passed" + (f" in {took(candidate.tested_s)}" if candidate.tested_s else "")
        return "failing tests 0", doc.TextDocument((doc.styled((text, "ok")), doc.TextLine(""), *_names(sample)), text)
    rows = reader.failing_tests(candidate.id)
    lines = [*_reason(candidate.verdict_reason), *_failures(reader, rows)]
    if len(rows) > _TESTS:
        lines.append(doc.styled((f"… and {len(rows) - _TESTS:,} more tests", "notice")))
    if not lines:
        lines = [doc.styled((f"{candidate.verdict}; no test failed.", "dim"))]
    former = ", by the former verdict" if candidate.retesting else ""
    return f"failing tests {len(rows):,}{former}", doc.of_lines(lines)


def _wrong_controls(reader: SessionReader, sample: SampleView) -> list[doc.TextLine]:
    """Lay out the failed controls that led to excluding a task, with their failing tests."""
    lines: list[doc.TextLine] = []
    for row in reader.candidates(sample.task.run_id, sample.task.id):
        if not row.control or not row.verdict:
            continue
        if row.verdict == "error" or (row.verdict == "passed") == (row.evaluator == "stub"):
            must = "must pass" if row.evaluator == "reference" else "must fail"
            lines += [doc.styled((f"{row.evaluator} {row.verdict}; it {must}.", "bad"), indent=2)]
            lines += [*_reason(row.verdict_reason), *_failures(reader, reader.failing_tests(row.id))]
    return lines


def _reason(reason: str | None) -> list[doc.TextLine]:
    if not reason:
        return []
    return [
        *(doc.styled((part, "warn"), indent=2) for part in doc.prepared(reason[:_MESSAGE]).split("\n")),
        doc.TextLine(""),
    ]


def _failures(reader: SessionReader, rows: Sequence[FailingTestRow]) -> Iterator[doc.TextLine]:
    for row in rows[:_TESTS]:
        yield doc.styled((f"{_OUTCOMES.get(row.outcome, '✗')} {one_line(row.test_id, 400)}", "bad"), indent=2)
        trace = _traceback(reader, row.traceback_blob)
        message = doc.prepared(row.message[:_MESSAGE]).strip("\n")
        if message and message not in trace:
            yield from (doc.TextLine(f"  {part}", indent=4) for part in message.split("\n"))
        for part in trace.split("\n") if trace else ():
            wrong = part.startswith("E ") or _ERROR.match(part)
            yield doc.styled((f"  {part}", "bad" if wrong else "strong" if part.startswith(">") else ""), indent=4)
        yield doc.TextLine("")


def _traceback(reader: SessionReader, digest: str | None) -> str:
    if digest is None:
        return ""
    text = doc.prepared(reader.shown(digest, "this traceback", _TRACEBACK)).strip("\n")
    return text + ("\n…" if reader.size(digest) > _TRACEBACK else "")


def _tests(sample: SampleView) -> list[str]:
    tests = _decoded(sample.task.tests)
    return [str(test) for test in tests] if isinstance(tests, list) else []


def _names(sample: SampleView) -> list[doc.TextLine]:
    return [doc.styled((f"  {one_line(test, 400)}", "dim"), indent=-1) for test in _tests(sample)[:1000]]
