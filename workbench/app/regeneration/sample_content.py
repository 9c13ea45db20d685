"""What one sample says: its difference to the original, candidate, docstring, prompt, answer, and the tests that it fails."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.regeneration.wording import took
from workbench.app.toolkit.document import (
    COLOURED_AT_FIRST,
    Document,
    Line,
    code,
    difference,
    heading,
    joined,
    note,
    of_lines,
    plain,
    prepared,
    styled,
)
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

TABS = ("Diff", "Candidate", "Docstring", "Prompt", "Answer")
SHOWN_AT_FIRST = 64_000
"""Bytes of a text that are read and shown until the user asks for more."""
COMPARED = 200_000
"""Bytes of each body that are compared: matching lines takes quadratic time at worst."""
_TRACEBACK = 40_000  # bytes of one traceback
_MESSAGE = 4_000  # characters of one message
_TESTS = 200  # tests whose tracebacks are laid out
_ERROR = re.compile(r"[\w.]*(Error|Exception|Exit|Interrupt|Warning)\b")
_OUTCOMES = VERDICTS | {"error": VERDICTS["crashed"], "missing": VERDICTS["invalid"], "skipped": WAITING}
_SHORT = 80  # lines of both bodies up to which all are shown
_REPLACED = 3  # verdicts that were replaced, of which the pane tells
GONE = "This task is no longer in the session."
FORMER = "the former verdict: it stays until the sample has been tested again"


def empty_tabs(sample: SampleView) -> frozenset[str]:
    """Return the names of the tabs that have nothing to show."""
    candidate, docstring = sample.candidate, sample.task.docstring_blob
    body, answer = (candidate.body_blob, candidate.answer_blob) if candidate is not None else (None, None)
    texts = {"Diff": body, "Candidate": body, "Answer": answer, "Docstring": docstring}
    return frozenset(tab for tab, text in texts.items() if text is None)


def read_all(reader: SessionReader, task_id: str, group: Group, number: int, tab: str) -> Document:
    """Read and lay out all of one tab of a sample."""
    sample = read_sample(reader, task_id, group, number)
    return laid_out(reader, sample, tab, COPIED_AT_MOST) if sample is not None else note(GONE)


def read_texts(
    reader: SessionReader, task_id: str, group: Group, number: int, tabs: Iterable[str], limit: int
) -> tuple[SampleView, dict[str, Document], tuple[str, Document]] | None:
    """Read a sample with some of its tabs and, under their title, the tests that it failed; None where its task is gone."""
    sample = read_sample(reader, task_id, group, number)
    if sample is None:
        return None
    return sample, {tab: laid_out(reader, sample, tab, limit) for tab in tabs}, failures_of(reader, sample)


def laid_out(reader: SessionReader, sample: SampleView, tab: str, limit: int = SHOWN_AT_FIRST) -> Document:
    """Lay out one tab of a sample; ``limit`` bytes of a text are shown."""
    candidate = sample.candidate
    if tab == "Docstring":
        return _docstring(reader, sample, limit)
    if tab == "Prompt":
        return _prompt(reader, sample, limit)
    if candidate is None or (candidate.answer_blob if tab == "Answer" else candidate.body_blob) is None:
        return note(waiting_for(sample))
    return {"Diff": _diff, "Candidate": _candidate, "Answer": _answer}[tab](reader, sample.task, candidate, limit)


def title_of(sample: SampleView) -> str:
    """Return ``sample 3 ✗ failed in 0.03 s``."""
    candidate = sample.candidate
    if candidate is None:
        return f"sample {sample.number + 1} · waiting"
    said = f"sample {candidate.sample + 1} "
    if candidate.verdict:
        glyph = VERDICTS.get(candidate.verdict, "?")
        seconds = took(candidate.tested_s)
        said += f"{glyph} {candidate.verdict}" + (f" in {seconds}" if seconds else "")
        return f"{said}, being tested again" if candidate.retesting else said
    words = {"asking": "▸ the model is asked", "testing": "▸ being tested", "cancelled": "⊘ cancelled"}
    return said + words.get(candidate.state, "· waiting")


def detail_of(sample: SampleView) -> str:
    """Return how the verdict was reached and what the answer took: ``warm · 1,204 tokens · 3.1 s · $0.0012``."""
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
    """Return what there is to know of how the verdict was reached, each with whether it is an alarm."""
    candidate = sample.candidate
    remarks = [(in_words(sample.labels), False)] if sample.labels else []
    remarks += [(f"✎ {one_line(text, 300)}", False) for text in sample.annotations]
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
        remarks.append((f"{DOUBTFUL} doubtful, not plain: {one_line(candidate.doubtful, 300)}", True))
    suspicious = _decoded(candidate.suspicious)
    if isinstance(suspicious, list) and suspicious:
        remarks.append((f"suspicious: {one_line('; '.join(map(str, suspicious)), 300)}", True))
    recheck = _decoded(candidate.recheck)
    if isinstance(recheck, dict):
        why = one_line(str(recheck.get("why") or ""), 20)
        found = one_line(str(recheck.get("verdict") or "?"), 20)
        said = f"cold re-check ({why}): {found}" if why else f"cold re-check: {found}"
        if recheck.get("agrees") is False:
            remarks.append((f"≠ {said}; the {candidate.route or 'fast'} path said otherwise", True))
        else:
            remarks.append((f"{said}, agrees", False))
    return (*remarks, *_history(sample.former))


def _history(former: Sequence[FormerVerdictRow]) -> Iterator[tuple[str, bool]]:
    """Yield a line for each of the last verdicts that were replaced, the newest first."""
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
    """Return why a sample has no body to show."""
    candidate = sample.candidate
    if sample.task.state == "excluded" and (candidate is None or candidate.verdict is None):
        return f"Nothing was asked, because a control does not hold. {one_line(sample.task.reason or '', 600)}".rstrip()
    if candidate is None:
        return "Not asked: this evaluator has no such sample of this task."
    if candidate.state == "queued":
        return "This sample waits for its turn."
    if candidate.state == "asking":
        return "The model is writing this body…"
    if candidate.state == "cancelled":
        return candidate.verdict_reason or "The run was cancelled before this sample was written."
    if candidate.verdict_reason:
        return f"There is no body: {one_line(candidate.verdict_reason, 600)}"
    return f"No body could be taken out of the answer; press {key_of('regeneration.previous-tab')} for the answer as it came."


def _diff(reader: SessionReader, task: TaskRow, candidate: CandidateRow, limit: int) -> Document:
    if task.body_blob is None:
        return note("The original body is not kept in this session.")
    bodies = {task.body_blob: f"the original body of task {task.id}"}
    bodies[candidate.body_blob or ""] = f"the body of candidate {candidate.id}"
    too_long = any(reader.size(digest) > COMPARED for digest in bodies)
    cut = f"Only the first {size_of(COMPARED)} of each body are compared." if too_long else None
    # A sentence instead of a body would be compared like one.
    try:
        texts = {
            digest: without_margin(reader.text(digest, COMPARED, of=of)).split("\n") for digest, of in bodies.items()
        }
    except TextDamaged as error:
        return note(str(error))
    before, after = texts[task.body_blob], texts[candidate.body_blob or ""]
    whole = len(before) + len(after) <= _SHORT
    # Tabs and spaces that look the same are no difference.
    diff = line_diff(before, after, _SHORT if whole else 3, prepared)
    if diff:
        return joined([difference(diff, places=not whole)], cut=cut)
    same = plain("The candidate is the original body, line for line.", style="dim")
    return joined([same, plain(""), plain("\n".join(f"  {line}" for line in after))], cut=cut)


def _candidate(reader: SessionReader, _: TaskRow, candidate: CandidateRow, limit: int) -> Document:
    text, cut = _cut(reader, candidate.body_blob or "", limit, f"the body of candidate {candidate.id}")
    body = code(text, "candidate.py", cut=cut, coloured=COLOURED_AT_FIRST)
    if not candidate.notes or candidate.notes in {"[]", "{}"}:
        return body
    said = one_line(f"extraction: {candidate.notes.strip('[]').replace(chr(34), '')}", 400)
    return Document((styled((said, "notice"), indent=2), Line(""), *body.lines), body.text, cut, numbered=True)


def _docstring(reader: SessionReader, sample: SampleView, limit: int) -> Document:
    task = sample.task
    said = f"{one_line(task.docs_words, 60)} documentation"
    parts = [heading(said, f"of {one_line(task.path, 200)}, line {task.start_line or NOTHING}")]
    if task.leak is not None:
        parts.append(plain(f"It repeats {percent(task.leak)} of the body's token sequences.", style="dim"))
    if task.docstring_blob is None:
        return joined([*parts, plain(""), note("There is no docstring: the model sees the signature only.")])
    text, cut = _cut(reader, task.docstring_blob, limit, f"the docstring of task {task.id}")
    return replace(joined([*parts, plain(""), plain(text)], cut=cut), text=text)


def _prompt(reader: SessionReader, sample: SampleView, limit: int) -> Document:
    from workbench.comparison.texts import kept_prompt

    candidate, task = sample.candidate, sample.task
    call = reader.call(candidate.call_id) if candidate is not None and candidate.call_id is not None else None
    if call is not None:
        sent = f"{call.prompt_tokens or 0:,} tokens in · {call.completion_tokens or 0:,} out"
        parts = [heading(one_line(call.answered_by or call.model, 60), sent)]
        parts.append(plain(one_line(call.sampling, 300), style="dim"))
        messages = reader.messages(call)
    elif task.prompt_blob is not None:
        versions, messages = kept_prompt(reader, task)
        named = zip(("prompt", "context"), versions, strict=False)
        parts = [heading("Prompt", " · ".join(f"{what} {one_line(version, 40)}" for what, version in named))]
    else:
        return note("The prompt is written when the model is asked.")
    if not messages:
        parts.append(note("", "The messages cannot be read."))
    for role, content in messages:
        more = len(content) - limit
        rest = f"{size_of(more)} more; {key_of('regeneration.more')} shows them." if more > 0 else None
        parts += [plain(""), plain(role, style="role"), plain(content[:limit], cut=rest)]
    return joined(
        parts, cut=f"{key_of('regeneration.more')} shows more of it." if any(part.cut for part in parts) else None
    )


def _answer(reader: SessionReader, _: TaskRow, candidate: CandidateRow, limit: int) -> Document:
    text, cut = _cut(reader, candidate.answer_blob or "", limit, f"the answer of candidate {candidate.id}")
    return plain(text, cut=cut) if text.strip() else note("The answer is empty.")


def _cut(reader: SessionReader, digest: str, limit: int, of: str) -> tuple[str, str | None]:
    size = reader.size(digest)
    text = reader.shown(digest, of, limit)
    return text, None if size <= limit else f"… {size_of(size - limit)} more; {key_of('regeneration.more')} shows them."


# -- failing tests


def failures_of(reader: SessionReader, sample: SampleView) -> tuple[str, Document]:
    """Return a title and the tests that a sample did not pass, with messages and tracebacks, or why there are none."""
    candidate = sample.candidate
    if candidate is None or candidate.verdict is None:
        wrong = _wrong_controls(reader, sample) if sample.task.state == "excluded" else []
        if wrong:
            return "controls", of_lines(wrong)
        required = note(f"{plural(len(_tests(sample)), 'test')} must pass:", "").lines
        return "failing tests", Document((*required, *_names(sample)), "")
    if candidate.verdict == "passed":
        tests = len(_tests(sample))
        said = f"✓ {plural(tests, 'test')} passed" + (f" in {took(candidate.tested_s)}" if candidate.tested_s else "")
        return "failing tests 0", Document((styled((said, "ok")), Line(""), *_names(sample)), said)
    rows = reader.failing_tests(candidate.id)
    lines = [*_reason(candidate.verdict_reason), *_failures(reader, rows)]
    if len(rows) > _TESTS:
        lines.append(styled((f"… and {len(rows) - _TESTS:,} more tests", "notice")))
    if not lines:
        lines = [styled((f"{candidate.verdict}; no test said why.", "dim"))]
    former = ", by the former verdict" if candidate.retesting else ""
    return f"failing tests {len(rows):,}{former}", of_lines(lines)


def _wrong_controls(reader: SessionReader, sample: SampleView) -> list[Line]:
    """Lay out what took a task out: the control that does not hold, with the tests that it did not pass."""
    lines: list[Line] = []
    for row in reader.candidates(sample.task.run_id, sample.task.id):
        if not row.control or not row.verdict:
            continue
        if row.verdict == "error" or (row.verdict == "passed") == (row.evaluator == "stub"):
            must = "must pass" if row.evaluator == "reference" else "must fail"
            lines += [styled((f"{row.evaluator} {row.verdict}; it {must}.", "bad"), indent=2)]
            lines += [*_reason(row.verdict_reason), *_failures(reader, reader.failing_tests(row.id))]
    return lines


def _reason(reason: str | None) -> list[Line]:
    if not reason:
        return []
    return [*(styled((part, "warn"), indent=2) for part in prepared(reason[:_MESSAGE]).split("\n")), Line("")]


def _failures(reader: SessionReader, rows: Sequence[FailingTestRow]) -> Iterator[Line]:
    for row in rows[:_TESTS]:
        yield styled((f"{_OUTCOMES.get(row.outcome, '✗')} {one_line(row.test_id, 400)}", "bad"), indent=2)
        trace = _traceback(reader, row.traceback_blob)
        message = prepared(row.message[:_MESSAGE]).strip("\n")
        if message and message not in trace:
            yield from (Line(f"  {part}", indent=4) for part in message.split("\n"))
        for part in trace.split("\n") if trace else ():
            wrong = part.startswith("E ") or _ERROR.match(part)
            yield styled((f"  {part}", "bad" if wrong else "strong" if part.startswith(">") else ""), indent=4)
        yield Line("")


def _traceback(reader: SessionReader, digest: str | None) -> str:
    if digest is None:
        return ""
    text = prepared(reader.shown(digest, "this traceback", _TRACEBACK)).strip("\n")
    return text + ("\n…" if reader.size(digest) > _TRACEBACK else "")


def _tests(sample: SampleView) -> list[str]:
    tests = _decoded(sample.task.tests)
    return [str(test) for test in tests] if isinstance(tests, list) else []


def _names(sample: SampleView) -> list[Line]:
    return [styled((f"  {one_line(test, 400)}", "dim"), indent=-1) for test in _tests(sample)[:1000]]
