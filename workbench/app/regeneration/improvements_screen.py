"""The screen of the docstrings tried for a run: a list, and the selected one beside the original."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import cleandoc
from typing import TYPE_CHECKING

from textual import work

from workbench.app.keys import bindings
from workbench.app.location import Location
from workbench.app.regeneration.findings_screen import FindingRow, FindingsScreen, Listing, TitledTexts, columns
from workbench.app.regeneration.sample_content import title_of
from workbench.app.toolkit import document as doc
from workbench.app.toolkit.workers import LatestWorker, LiveLoader
from workbench.base.glyphs import STATES, VERDICTS
from workbench.base.text import one_line, plural
from workbench.results.samples import SampleView

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.improving.attempts import DocstringAttempt, Share
    from workbench.plans.plan import ImprovementPlan
    from workbench.session.reader import SessionReader
    from workbench.session.rows import CandidateRow, ImprovementRow, TaskRow

NO_ATTEMPT = "Nothing was tried: none of the chosen functions is badly documented."
_KINDS = frozenset({"improvement", "candidate", "task", "run"})
_COLUMNS = columns(
    ("function", 30, False), ("try", 3, True), ("came to", 10, False), ("held out", 15, False), ("gain", 5, True),
    ("why", 0, False),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TriedDocstring:
    """An attempt and the order that it belongs to."""

    order: ImprovementRow
    plan: ImprovementPlan
    attempt: DocstringAttempt


@dataclass(frozen=True, slots=True)
class ImprovementView:
    """All attempts for a run, with one row per :class:`TriedDocstring`, and the state of the last order."""

    listing: Listing
    order: ImprovementRow | None
    state: str
    status: str

    @property
    def tried(self) -> list[TriedDocstring]:
        return [entry.of for entry in self.listing.entries]


def improvement_status(reader: SessionReader, run: str) -> str:
    """Return the status of the last improvement order of a run, such as ``▸ improving 2 docstrings``, or ""."""
    orders = reader.improvements(run)
    return _status(reader, orders[-1])[1] if orders else ""


def _status(reader: SessionReader, row: ImprovementRow) -> tuple[str, str]:
    from workbench.orders.improve import state_of

    state = state_of(row)
    glyph = STATES.get(state, "?")
    if state in ("queued", "running"):
        return state, f"{glyph} improving: {row.stage or 'an engine starts'}"
    if state == "failed":
        return state, f"{glyph} improving failed: {one_line(row.problem or 'no reason was recorded', 300)}"
    tried = reader.docstring_attempts(row.id)
    kept = sum(one.state == "accepted" for one in tried)
    words = f"{kept} of {plural(len({one.task_id for one in tried}), 'docstring')} improved"
    return state, f"{glyph} {words}" if state == "done" else f"{glyph} improving {state}, {words}"


def load_improvements(reader: SessionReader, run: str) -> ImprovementView:
    """Load the improvement orders of a run with all attempts, latest order first."""
    from workbench.improving.changes import attempts_of
    from workbench.orders.improve import plan_of

    orders = reader.improvements(run)
    plans = [(row, plan) for row in reversed(orders) if (plan := plan_of(row)) is not None]
    found = tuple(TriedDocstring(row, plan, one) for row, plan in plans for one in attempts_of(reader, row, plan))
    last = orders[-1] if orders else None
    state, text = _status(reader, last) if last is not None else ("", "nothing was tried")
    empty = NO_ATTEMPT if state == "done" else f"{text}…"
    kept = sum(one.attempt.is_kept for one in found)
    counted = f"{plural(len(found), 'attempt')}, {kept:,} kept"
    return ImprovementView(Listing(_COLUMNS, tuple(map(_entry, found)), counted, empty), last, state, text)


def _entry(one: TriedDocstring) -> FindingRow:
    from workbench.plans.task_names import row_id

    attempt, gain, refusal = one.attempt, one.attempt.gain, one.attempt.refusal
    name = row_id(attempt.task)
    held_out = f"{gain.before.passed}/{gain.before.counted} → {gain.after.passed}/{gain.after.counted}" if gain else ""
    value = f"{gain.value:+.2f}" if gain and gain.value is not None else ""
    why = one_line(f"{refusal.gate}: {refusal.reason}" if refusal else _kept_words(attempt), 400)
    function = one_line(name.partition("::")[2] or name, 200)
    cells = (function, f"{attempt.number}", outcome_of_attempt(attempt), held_out, value, why)
    return FindingRow(cells, one, partial(load_sides, one=one), (one.order.id, attempt.task.id, attempt.number))


def outcome_of_attempt(attempt: DocstringAttempt) -> str:
    """Return the outcome of an attempt as a sign and a word."""
    if attempt.refusal is not None:
        return f"{VERDICTS['failed']} refused"
    if attempt.is_kept:
        return f"{VERDICTS['passed']} kept"
    return f"{STATES['running']} {'testing' if attempt.docstring else 'asking'}"


def _kept_words(attempt: DocstringAttempt) -> str:
    return f"gain {attempt.gain.interval_words}, samples of {attempt.held_out_evaluator}" if attempt.gain else ""


# -- side by side


def load_sides(reader: SessionReader, one: TriedDocstring) -> TitledTexts:
    """Load the original and the tried docstring, each with its sample results."""
    attempt, task, gain = one.attempt, one.attempt.task, one.attempt.gain
    original = reader.text(task.docstring_blob) if task.docstring_blob else ""
    before = doc.plain(cleandoc(original)) if original.strip() else doc.note("No docstring.")
    after = [doc.plain(cleandoc(attempt.docstring)) if attempt.docstring else doc.note("The answer has no docstring.")]
    if attempt.refusal is None and not attempt.docstring:
        after = [doc.note(f"{STATES['running']} Waiting for {one.plan.writer}…")]
    if attempt.refusal is not None:
        after += [
            doc.plain(""),
            doc.heading(f"Refused by {attempt.refusal.gate}"),
            doc.plain(attempt.refusal.reason, style="bad"),
        ]
    elif attempt.is_kept:
        after += [doc.plain(""), doc.heading("Kept"), doc.plain(_kept_words(attempt))]
    names = (task.path, task.qualified_name, task.occurrence)
    for row in reader.tasks(attempt.run) if attempt.run else ():
        if (row.path, row.qualified_name, row.occurrence) == names:
            after += _samples(reader, one, row, gain.after if gain else None)
    title = f"attempt {attempt.number} by {one_line(one.plan.writer, 60)} · {outcome_of_attempt(attempt)}"
    sides = doc.joined([before, *_samples(reader, one, task, gain.before if gain else None)]), doc.joined(after)
    return (f"{one_line(task.qualified_name, 60)} as it is", sides[0]), (title, sides[1])


def _samples(
    reader: SessionReader, one: TriedDocstring, task: TaskRow, held_out: Share | None
) -> list[doc.TextDocument]:
    """Lay out the samples behind an attempt: the ones shown to the writer and the held-out ones."""
    plan = one.plan
    rows = [row for row in reader.candidates(task.run_id, task.id) if not row.control]
    arguments = (plan.base.evaluator, plan.base.prompt, plan.base.context)
    base = [row for row in rows if (row.evaluator, row.prompt, row.context) == arguments]
    seen = [row for row in base if row.sample < plan.base.samples]
    parts = _part(reader, task, "Samples shown to the writer", plan.base.evaluator, seen)
    if held_out is not None:
        first = 0 if plan.second_evaluator else plan.base.samples
        other = [row for row in rows if row.evaluator == plan.second_evaluator] if plan.second_evaluator else base
        unseen = [row for row in other if first <= row.sample < first + plan.held_out]
        parts += _part(reader, task, "Held-out samples", plan.held_out_evaluator, unseen)
    return parts


def _part(
    reader: SessionReader, task: TaskRow, title: str, evaluator: str, rows: Sequence[CandidateRow]
) -> list[doc.TextDocument]:
    passed = sum(row.verdict == "passed" for row in rows)
    lines = [_line(reader, task, row) for row in sorted(rows, key=lambda row: row.sample)]
    text = f"{passed} of {len(rows)} passed · {one_line(evaluator, 60)}"
    return [doc.plain(""), doc.heading(title, text), doc.of_lines(lines) if lines else doc.note("none yet")]


def _line(reader: SessionReader, task: TaskRow, row: CandidateRow) -> doc.TextLine:
    why, style = "", "good" if row.verdict == "passed" else "bad" if row.verdict else "dim"
    if style == "bad":
        failing = reader.failing_tests(row.id)
        text = failing[0].message if failing else row.verdict_reason or ""
        more = f" (and {len(failing) - 1} more)" if len(failing) > 1 else ""
        why = f"  {one_line(text, 200)}{more}" if text else ""
    return doc.styled((title_of(SampleView(task, row, row.sample)), style), (doc.prepared(why), "dim"), indent=2)


class ImprovementsScreen(FindingsScreen):
    """A screen of the attempts to improve docstrings for a ``run`` with original docs."""

    mode_name = "Improve docstrings"
    names = ("Attempts", "as it is", "attempt")
    BINDINGS = bindings("improving")

    def __init__(self, run: str) -> None:
        super().__init__()
        self.shown: ImprovementView | None = None
        self.live = LiveLoader(
            self, "attempts", lambda reader: partial(load_improvements, reader, run), self._put, kinds=_KINDS
        )
        self.doing = LatestWorker(self, "order")

    def on_mount(self) -> None:
        self.set_status("loading the attempts…")

    @property
    def idle(self) -> bool:
        return super().idle and self.doing.idle

    # -- content

    def _put(self, shown: ImprovementView) -> None:
        # If the cursor is on the last attempt, follow new ones.
        follows = self.shown is None or (shown.state == "running" and self.list.cursor >= len(self.shown.tried))
        self.shown = shown
        self.list.show(shown.listing, len(shown.tried) if follows else None)
        models = ""
        if shown.tried:
            plan = shown.tried[-1].plan
            by = f" · held out by {plan.second_evaluator}" if plan.second_evaluator else ""
            models = f"{plan.writer} writes · {plan.base.evaluator} reads{by}"
        self.retitle("#findings-pane", f"Attempts · {shown.listing.caption}", models)
        self.set_status(shown.status)
        self.show_entry()
        self.refresh_bindings()

    @property
    def selected(self) -> TriedDocstring | None:
        return self.list.selected.of if self.list.selected is not None else None

    # -- actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        state = self.shown.state if self.shown is not None else ""
        if action == "resume":
            return state in ("interrupted", "failed", "cancelled")
        if action == "cancel":
            return state in ("queued", "running")
        if action == "export":
            return self.shown is not None and any(one.attempt.is_kept for one in self.shown.tried)
        return super().check_action(action, parameters)

    def action_attempt(self, step: int) -> None:
        self.list.set_cursor(self.list.cursor + step, step)

    def on_row_list_row_selected(self) -> None:
        one = self.selected
        if one is not None and one.attempt.run:
            host, run = self.workbench, one.attempt.run
            self.dismiss()
            host.leave_place()
            host.go_to(Location(None, "regeneration", run, evaluator=one.plan.base.evaluator))

    def action_resume(self) -> None:
        from workbench.orders.improve import launch_improvement

        self._do(launch_improvement, "Resuming; no request is repeated.")

    def action_cancel(self) -> None:
        from workbench.orders.improve import cancel_improvement

        self._do(cancel_improvement, "Cancelling; the attempts so far are kept.")

    def _do(self, what: Callable[[Path, str], object], text: str) -> None:
        session, order = self.workbench.session_path, self.shown.order if self.shown is not None else None
        if session is None or order is None:
            return

        def done(_: object) -> None:
            self.workbench.notify(text)
            self.live.refresh()

        self.doing.ask(partial(what, session, order.id), done)

    @work
    async def action_export(self) -> None:
        from workbench.app.regeneration.improve_dialogs import ask_and_export

        session, one = self.workbench.session_path, self.selected
        if session is None or self.shown is None:
            return
        orders = [each.order.id for each in self.shown.tried if each.attempt.is_kept]
        # Export the selected order if it kept any docstring, or else the latest order that did.
        order = one.order.id if one is not None and one.order.id in orders else orders[0]
        await ask_and_export(self.workbench, session, order)
