"""What is said of sessions: their states, the words by which they are found, and sentences about one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from workbench.app.key_table import key_of, with_keys
from workbench.app.sessions.listing import SessionEntry
from workbench.glyphs import STATES as SIGNS
from workbench.results.sessions import STATES
from workbench.session.labels import in_words
from workbench.text import one_line

UNUSABLE, READING, DELETED = "unusable", "reading", "deleted"


def state_of_entry(entry: SessionEntry) -> str:
    """Return the state of a session in the list."""
    if entry.deleted is not None:
        return DELETED
    if entry.problem:
        return UNUSABLE
    return entry.facts.state if entry.facts is not None else READING


def words(entry: SessionEntry) -> str:
    """Return the text in which a person's words are looked for: name, state, tags, remarks, what is in it."""
    parts = [entry.path.stem, state_of_entry(entry), *entry.labels, *entry.remarks, entry.problem]
    if entry.example:
        parts.append("example")
    if entry.facts is not None:
        parts += [*entry.facts.models, *entry.facts.about]
    return one_line(" ".join(parts), 20_000)


def sentence(entries: Sequence[SessionEntry]) -> str:
    """Return how many sessions there are and how many are in each state that asks for something."""
    kept = [entry for entry in entries if entry.deleted is None]
    counts = Counter(map(state_of_entry, kept))
    telling = [state for state in STATES if counts[state] and state != "done"]
    parts = [f"{counts[state]:,} {SIGNS[state]} {state}" for state in telling]
    parts += [f"{counts[UNUSABLE]:,} {UNUSABLE}"] if counts[UNUSABLE] else []
    return " · ".join([f"{len(kept):,} session{'s' if len(kept) != 1 else ''}", *parts])


_WHAT_TO_DO = {
    "interrupted": "Its engine is gone: press {sessions.resume} to resume; what is finished is kept.",
    "running": "An engine is at work; press {sessions.cancel} to cancel. It goes on when you leave.",
    "unscored": "A judge failed, so tiers are unscored: {sessions.resume} asks it again; {sessions.open} shows why.",
    "cancelled": "It was cancelled: {sessions.resume} takes up what is missing.",
}


def about(entry: SessionEntry | None, *, is_chosen: bool) -> str:
    """Return all that is to be said of a session, in lines."""
    if entry is None:
        return f"There are no sessions yet. Press {key_of('app.cases')}, choose a case and press {key_of('cases.run')} twice: a session begins with the first run."
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
            f"Something in it failed: press {key_of('sessions.open')} to see why, {key_of('sessions.resume')} to try that again."
            if facts.mendable
            else f"What was asked for cannot be done: press {key_of('sessions.open')} to see why, then {key_of('regeneration.new')} in Regeneration to ask for something else."
        )
    elif facts.left:
        runs = "1 earlier run" if facts.left == 1 else f"{facts.left:,} earlier runs"
        todo = f"{todo} {runs} failed or was cancelled: {key_of('app.runs')} lists the runs, {key_of('sessions.resume')} takes up what is missing.".strip()
    alarm = (
        facts.alarm
        and f"✗ {facts.alarm} Press {key_of('sessions.open')}, then {key_of('app.regeneration')} and {key_of('regeneration.problem')}."
    )
    chosen = f"→ The next run goes into it; {key_of('sessions.use')} takes that back." if is_chosen else ""
    marks = in_words(entry.labels)
    remark = f"✎ {one_line(entry.remarks[-1], 300)}" if entry.remarks else ""
    models = " · ".join(filter(None, (", ".join(facts.models) or "no model yet", marks)))
    example = "It came with the program and is only read; a run starts a new session." if entry.example else ""
    return "\n".join(filter(None, (alarm, str(entry.path), models, chosen, todo, remark, *entry.warnings, example)))
