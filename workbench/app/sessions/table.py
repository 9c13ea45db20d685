"""The table of sessions, and the texts that describe their states and details."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from workbench.app.keys import bindings, key_of, with_keys
from workbench.app.sessions.session_files import SessionEntry, size_text
from workbench.app.toolkit.columns import TableColumn
from workbench.app.toolkit.table import VirtualTable
from workbench.app.toolkit.virtual_view import Part
from workbench.base.glyphs import STATES as SIGNS
from workbench.base.text import age, fixed, one_line, plural
from workbench.results.sessions import STATES
from workbench.session.labels import in_words

UNUSABLE, READING, DELETED = "unusable", "reading", "deleted"


def state_of_entry(entry: SessionEntry) -> str:
    if entry.deleted is not None:
        return DELETED
    if entry.problem:
        return UNUSABLE
    return entry.facts.state if entry.facts is not None else READING


def words(entry: SessionEntry) -> str:
    """Return the searchable text of a session: its name, state, tags, remarks and contents."""
    parts = [entry.path.stem, state_of_entry(entry), *entry.labels, *entry.remarks, entry.problem]
    if entry.example:
        parts.append("example")
    if entry.facts is not None:
        parts += [*entry.facts.models, *entry.facts.about]
    return one_line(" ".join(parts), 20_000)


def sentence(entries: Sequence[SessionEntry]) -> str:
    kept = [entry for entry in entries if entry.deleted is None]
    counts = Counter(map(state_of_entry, kept))
    telling = [state for state in STATES if counts[state] and state != "done"]
    parts = [f"{counts[state]:,} {SIGNS[state]} {state}" for state in telling]
    parts += [f"{counts[UNUSABLE]:,} {UNUSABLE}"] if counts[UNUSABLE] else []
    return " · ".join([plural(len(kept), "session"), *parts])


_WHAT_TO_DO = {
    "interrupted": "Its engine is gone: {sessions.resume} resumes it; finished results are kept.",
    "running": "An engine is running it: {sessions.cancel} cancels it; it continues when you quit.",
    "unscored": "The judge failed, so tiers are unscored: {sessions.resume} retries it; {sessions.open} shows why.",
    "cancelled": "It was cancelled: {sessions.resume} continues it.",
}


def about(entry: SessionEntry | None, *, is_chosen: bool) -> str:
    if entry is None:
        return f"There are no sessions yet. Press {key_of('app.cases')}, choose a case and press {key_of('cases.run')}: the first run creates a session."
    if entry.deleted is not None:
        return f"{entry.deleted.path}\nIt was deleted from {entry.deleted.was.parent}: {key_of('sessions.delete')} or {key_of('sessions.bring-back')} brings it back."
    if entry.problem:
        return entry.problem
    if entry.facts is None:
        return f"Reading {entry.path}…"
    facts = entry.facts
    todo = with_keys(_WHAT_TO_DO.get(facts.state, ""))
    if facts.state == "failed":
        todo = (
            f"Something failed: press {key_of('sessions.open')} to see why, {key_of('sessions.resume')} to retry it."
            if facts.retryable
            else f"The run cannot be executed as planned: press {key_of('sessions.open')} to see why, then "
            f"{key_of('regeneration.new')} in Regeneration to start another one."
        )
    elif facts.left:
        runs = "1 earlier run" if facts.left == 1 else f"{facts.left:,} earlier runs"
        todo = f"{todo} {runs} failed or was cancelled: {key_of('app.runs')} lists the runs, {key_of('sessions.resume')} continues them.".strip()
    alarm = (
        facts.alarm
        and f"✗ {facts.alarm} Press {key_of('sessions.open')}, then {key_of('app.regeneration')} and {key_of('regeneration.problem')}."
    )
    chosen = f"→ The next run goes into it; {key_of('sessions.use')} undoes that." if is_chosen else ""
    marks = in_words(entry.labels)
    remark = f"✎ {one_line(entry.remarks[-1], 300)}" if entry.remarks else ""
    models = " · ".join(filter(None, (", ".join(facts.models) or "no model yet", marks)))
    example = "The bundled example is read-only; a run creates a new session." if entry.example else ""
    return "\n".join(filter(None, (alarm, str(entry.path), models, chosen, todo, remark, *entry.warnings, example)))


_STATES = {
    "running": (f"{SIGNS['running']} running", "running"),
    "queued": (f"{SIGNS['queued']} waiting", "waiting"),
    "interrupted": (f"{SIGNS['interrupted']} interrupted", "paused"),
    "unscored": (f"{SIGNS['unscored']} unscored", "unscored"),
    "failed": (f"{SIGNS['failed']} failed", "failed"),
    "cancelled": (f"{SIGNS['cancelled']} cancelled", "waiting"),
    "done": (f"{SIGNS['done']} done", "passed"),
    "empty": ("  empty", "dim"),
    "unusable": ("! unusable", "failed"),
    "reading": ("reading…", "dim"),
    "deleted": ("deleted", "hidden"),
}
_RANKS = (*STATES, "empty", UNUSABLE, READING, DELETED)


def _state(entry: SessionEntry) -> Part:
    word, style = _STATES[state_of_entry(entry)]
    facts = entry.facts
    if facts is not None and facts.alarm:
        return f"{word[:1]} ✗ self-check", "failed"
    failed = facts.trials_failed or facts.left if facts is not None else 0
    return (f"✓ done, {failed} failed", "paused") if failed and facts and facts.state == "done" else (word, style)


def _of_facts(read: Callable[[Any], Any], nothing: Any) -> Callable[[SessionEntry], Any]:
    return lambda entry: nothing if entry.facts is None else read(entry.facts)


def _progress(facts: Any) -> str:
    if not facts.trials:
        return "–"
    return f"{facts.trials:,}" if facts.trials_done == facts.trials else f"{facts.trials_done:,}/{facts.trials:,}"


def _name(entry: SessionEntry) -> str:
    return one_line(entry.path.stem, 300) + (" (example)" if entry.example else "")


COLUMNS: tuple[TableColumn[SessionEntry], ...] = (
    TableColumn(title="name", cell=_name, width=20, widest=60, text=True, sort=lambda entry: entry.path.stem.casefold()),
    TableColumn(title="state", cell=_state, width=16, widest=16, text=True, sort=lambda entry: _RANKS.index(state_of_entry(entry))),
    TableColumn(title="age", cell=lambda entry: age(entry.changed_at), width=7, sort=lambda entry: entry.changed_at, descending=True),
    TableColumn(title="trials", cell=_of_facts(_progress, "–"), width=7, sort=_of_facts(lambda facts: facts.trials, None), descending=True),
    TableColumn(title="tasks", cell=_of_facts(lambda facts: f"{facts.tasks:,}" if facts.tasks else "–", "–"), width=6, priority=3,
           sort=_of_facts(lambda facts: facts.tasks, None), descending=True),
    TableColumn(title="spend $", cell=_of_facts(lambda facts: fixed(facts.spend_usd, 3), "–"), width=8, priority=2,
           sort=_of_facts(lambda facts: facts.spend_usd, None), descending=True),
    TableColumn(title="size", cell=lambda entry: size_text(entry.size), width=9, priority=5, sort=lambda entry: entry.size,
           descending=True),
    TableColumn(title="tags", cell=lambda entry: (in_words(entry.labels), "marked"), width=10, widest=24, text=True, priority=1,
           sort=lambda entry: in_words(entry.labels) or None),
    TableColumn(title="models", cell=_of_facts(lambda facts: (one_line(", ".join(facts.models), 300), "dim"), ""), width=9, widest=80,
           text=True, priority=4),
)  # fmt: skip


class SessionTable(VirtualTable[SessionEntry]):
    """The user's own sessions, then bundled examples, then deleted sessions.

    ``next_path`` is the session that the user chose for the next run.
    """

    LEAD = 3
    BINDINGS = bindings("sessions/list")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(COLUMNS, key=lambda entry: entry.path, order="age", id=id)
        self.marked: list[Path] = []
        self.open_path: Path | None = None
        self.next_path: Path | None = None

    def rearrange(self, *, to: object = None) -> None:
        there = {entry.path for entry in self.rows}
        self.marked = [path for path in self.marked if path in there]
        super().rearrange(to=to)

    def lead_of(self, row: SessionEntry) -> str:
        where = "→" if row.path == self.next_path else "●" if row.path == self.open_path else ""
        return ("■" if row.path in self.marked else " ") + where

    def style_of(self, row: SessionEntry) -> str:
        return "hidden" if row.deleted else ""

    def section_of(self, row: SessionEntry) -> tuple[bool, bool]:
        return row.deleted is not None, row.example

    def span_of(self, row: SessionEntry) -> tuple[str, Part] | None:
        if row.deleted is not None:
            when = age(row.deleted.at)
            text = f"deleted {'just now' if when == 'now' else f'{when} ago'}, from {row.deleted.was.parent}"
            return "state", (one_line(text, 300), "hidden")
        return ("age", (one_line(row.problem, 400), "dim")) if row.problem else None

    def words_of_row(self, row: SessionEntry) -> str:
        return words(row)

    def action_mark(self) -> None:
        entry = self.selected
        if entry is not None and entry.deleted is None:
            self.toggle_marked(self.marked, entry.path)
