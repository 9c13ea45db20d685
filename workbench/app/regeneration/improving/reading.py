"""What the screen shows of the docstrings that were tried for a run, ready to be painted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import cleandoc
from typing import TYPE_CHECKING, Final

from workbench.app.regeneration.went_wrong.findings import Entry, Listing, columns
from workbench.app.regeneration.wording import plural
from workbench.app.toolkit.document import Document, Line, heading, joined, note, plain, prepared
from workbench.glyphs import OUR_ERROR, STATES, VERDICTS
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.engine.plan import ImprovementPlan
    from workbench.improving.attempts import Attempt, Share
    from workbench.session.reader import SessionReader
    from workbench.session.rows import CandidateRow, ImprovementRow, TaskRow

NO_ATTEMPT: Final = "No docstring was tried: none of the chosen functions is documented badly."
_COLUMNS = columns(
    ("function", 30, False),
    ("try", 3, True),
    ("came to", 10, False),
    ("held out", 15, False),
    ("gain", 5, True),
    ("why", 0, False),
)


@dataclass(frozen=True, slots=True)
class Tried:
    """An attempt, with the order that it belongs to."""

    order: ImprovementRow
    plan: ImprovementPlan
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Shown:
    """Everything that was tried for a run: an entry of ``listing`` for each of ``tried``, and how the last order stands."""

    listing: Listing
    tried: tuple[Tried, ...]
    order: ImprovementRow | None
    state: str
    said: str


@dataclass(frozen=True, slots=True)
class Sides:
    """The docstring as it is beside one that was tried, each with its samples."""

    before_title: str
    before: Document
    after_title: str
    after: Document


def standing_of(reader: SessionReader, run: str) -> str:
    """Return how the last order to improve docstrings of a run stands: ``▸ improving 2 docstrings``; "" where there is none."""
    orders = reader.improvements(run)
    return _said(reader, orders[-1])[1] if orders else ""


def _said(reader: SessionReader, row: ImprovementRow) -> tuple[str, str]:
    from workbench.engine.improvement_client import state_of

    state = state_of(row)
    glyph = STATES.get(state, "?")
    tried = reader.docstring_attempts(row.id)
    kept = sum(one.state == "kept" for one in tried)
    tasks = len({one.task_id for one in tried})
    if state in ("queued", "running"):
        return state, f"{glyph} improving: {row.stage or 'an engine starts'}"
    if state == "failed":
        return state, f"{glyph} improving failed: {one_line(row.problem or 'no reason was recorded', 300)}"
    words = f"{kept} of {plural(tasks, 'docstring')} improved"
    return state, f"{glyph} {words}" if state == "done" else f"{glyph} improving {state}, {words}"


def load_shown(reader: SessionReader, run: str) -> Shown:
    """Read the orders of a run with all that was tried for them, the latest order first."""
    from workbench.engine.improvement_client import plan_of
    from workbench.engine.improvement_result import attempts_of

    orders = reader.improvements(run)
    found: list[Tried] = []
    for row in reversed(orders):
        plan = plan_of(row)
        if plan is not None:
            found += [Tried(row, plan, one) for one in attempts_of(reader, row, plan)]
    last = orders[-1] if orders else None
    state, said = _said(reader, last) if last is not None else ("", "no docstring was tried")
    empty = NO_ATTEMPT if state == "done" else f"{said}…"
    kept = sum(one.attempt.is_kept for one in found)
    counted = f"{plural(len(found), 'attempt')}, {kept:,} kept"
    return Shown(Listing(_COLUMNS, tuple(map(_entry, found)), counted, empty), tuple(found), last, state, said)


def _entry(one: Tried) -> Entry:
    from workbench.session.task_names import row_id

    attempt = one.attempt
    gain, refusal = attempt.gain, attempt.refusal
    name = row_id(attempt.task)
    return Entry(
        (
            one_line(name.partition("::")[2] or name, 200),
            f"{attempt.number}",
            came_to(attempt),
            f"{gain.before.passed}/{gain.before.counted} → {gain.after.passed}/{gain.after.counted}" if gain else "",
            f"{gain.value:+.2f}" if gain and gain.value is not None else "",
            one_line(f"{refusal.gate}: {refusal.reason}" if refusal else _kept_words(attempt), 400),
        )
    )


def came_to(attempt: Attempt) -> str:
    """Return a sign and a word for how an attempt stands."""
    if attempt.refusal is not None:
        return f"{VERDICTS['failed']} refused"
    if attempt.is_kept:
        return f"{VERDICTS['passed']} kept"
    return f"{STATES['running']} {'testing' if attempt.docstring else 'asking'}"


def _kept_words(attempt: Attempt) -> str:
    return f"gain {attempt.gain.interval_words}, samples of {attempt.held_out_by}" if attempt.gain else ""


# -- side by side


def load_sides(reader: SessionReader, one: Tried) -> Sides:
    """Read the docstring as it is and the one that was tried, with what their samples came to."""
    attempt = one.attempt
    task = attempt.task
    original = reader.text(task.docstring_blob) if task.docstring_blob else ""
    before = [
        plain(cleandoc(original)) if original.strip() else note("No docstring."),
        *_samples(reader, one, task, attempt.gain.before if attempt.gain else None),
    ]
    after = [plain(cleandoc(attempt.docstring)) if attempt.docstring else note("The answer holds no docstring.")]
    if attempt.refusal is None and not attempt.docstring:
        after = [note(f"{STATES['running']} {one.plan.writer} is asked…")]
    if attempt.refusal is not None:
        after += [plain(""), heading(f"Refused by {attempt.refusal.gate}"), plain(attempt.refusal.reason, style="bad")]
    elif attempt.is_kept:
        after += [plain(""), heading("Kept"), plain(_kept_words(attempt))]
    new = _task_of(reader, attempt.run, task) if attempt.run else None
    if new is not None:
        after += _samples(reader, one, new, attempt.gain.after if attempt.gain else None)
    name = one_line(task.qualified_name, 60)
    writer = one_line(one.plan.writer, 60)
    return Sides(
        f"{name} as it is", joined(before), f"attempt {attempt.number} by {writer} · {came_to(attempt)}", joined(after)
    )


def _task_of(reader: SessionReader, run: str, task: TaskRow) -> TaskRow | None:
    names = (task.path, task.qualified_name, task.occurrence)
    return next((row for row in reader.tasks(run) if (row.path, row.qualified_name, row.occurrence) == names), None)


def _samples(reader: SessionReader, one: Tried, task: TaskRow, held_out: Share | None) -> list[Document]:
    """Lay out the samples of a task that an order rests on: those that the writer saw, and those that it did not."""
    plan = one.plan
    rows = [row for row in reader.candidates(task.run_id, task.id) if not row.control]
    asked = (plan.base.evaluator, plan.base.prompt, plan.base.context)
    base = [row for row in rows if (row.evaluator, row.prompt, row.context) == asked]
    other = [row for row in rows if row.evaluator == plan.second_evaluator] if plan.second_evaluator else base
    seen = [row for row in base if row.sample < plan.base.samples]
    if plan.second_evaluator:
        unseen = [row for row in other if row.sample < plan.held_out]
    else:
        last = plan.base.samples + plan.held_out
        unseen = [row for row in other if plan.base.samples <= row.sample < last]
    parts = _part(reader, "Samples that the writer sees", plan.base.evaluator, seen)
    if held_out is not None:
        parts += _part(reader, "Held-out samples", plan.held_out_by, unseen)
    return parts


def _part(reader: SessionReader, title: str, evaluator: str, rows: Sequence[CandidateRow]) -> list[Document]:
    passed = sum(row.verdict == "passed" for row in rows)
    lines = [_line(reader, row) for row in sorted(rows, key=lambda row: row.sample)]
    said = f"{passed} of {len(rows)} passed · {one_line(evaluator, 60)}"
    shown = Document(tuple(lines), "\n".join(line.text for line in lines)) if lines else note("none yet")
    return [plain(""), heading(title, said), shown]


def _line(reader: SessionReader, row: CandidateRow) -> Line:
    verdict = row.verdict or ""
    said = (
        OUR_ERROR
        if verdict == "error"
        else verdict or {"asking": "asked", "testing": "tested"}.get(row.state, "waiting")
    )
    glyph = VERDICTS.get(verdict) or (STATES["running"] if row.state in ("asking", "testing") else "·")
    text = f"{glyph} sample {row.sample + 1} {said}"
    start = len(text)
    if verdict not in ("", "passed"):
        failing = reader.failing_tests(row.id)
        why = failing[0].message if failing else row.verdict_reason or ""
        more = f" (and {len(failing) - 1} more)" if len(failing) > 1 else ""
        text += f"  {one_line(why, 200)}{more}" if why else ""
    ready = prepared(text)
    style = "good" if verdict == "passed" else "bad" if verdict else "dim"
    return Line(ready, ((0, start, style), (start, len(ready), "dim")), indent=2)
