"""Where a trial's README comes from and what its agent saw, as reports say it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.grounding import read_trial
from workbench.grounding.items import NOT_SEEN, NOWHERE, SEEN, UNSEEN
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.grounding import Why
    from workbench.session.reader import SessionReader
    from workbench.session.rows import TrialRow

MOST_LISTED = 100
"""Likely inventions that are listed; all are counted."""


@dataclass(frozen=True, slots=True)
class Grounded:
    """What reports say of a trial: a sentence of counts, the likely inventions, what was odd about the exploration."""

    counts: str
    inventions: tuple[str, ...]
    patterns: tuple[str, ...]
    note: str


def grounded(reader: SessionReader, trial: TrialRow) -> Grounded | None:
    """Return where a trial's README comes from, None where it has neither README nor steps."""
    if trial.readme_blob is None and not trial.steps:
        return None
    why = read_trial(reader, trial)
    found = why.grounding
    inventions: Sequence[str] = ()
    if found is not None:
        inventions = [
            f"{one_line(item.text, 200)} ({item.kind}, line {item.places[0].line:,})" for item in found.inventions
        ]
    if len(inventions) > MOST_LISTED:
        inventions = [*inventions[:MOST_LISTED], f"and {len(inventions) - MOST_LISTED:,} more"]
    return Grounded(
        found.sentence() if found is not None else "",
        tuple(inventions),
        why.exploration.patterns,
        why.note if found is not None and not found.repository else "",
    )


def grounding_values(reader: SessionReader, trial: TrialRow) -> dict[str, Any] | None:
    """Return all items with what each rests on, and the exploration, for programs; None as for :func:`grounded`."""
    if trial.readme_blob is None and not trial.steps:
        return None
    return values_of(read_trial(reader, trial))


def values_of(why: Why) -> dict[str, Any]:
    """Return the values of what was looked up; spans count characters of the README, task is step 0."""
    found, explored = why.grounding, why.exploration
    items = [
        {
            "kind": item.kind,
            "text": item.text,
            "status": item.status,
            "lines": [place.line for place in item.places],
            "spans": [[place.start, place.end] for place in item.places],
            "steps": list(item.steps),
            "path": item.path or None,
            "line": item.line or None,
        }
        for item in (found.items if found is not None else ())
    ]
    wanted = () if found is None else (SEEN, UNSEEN, NOWHERE) if found.repository else (SEEN, NOT_SEEN)
    return {
        "repository_at_hand": not why.note,
        "counts": {status: found.counts[status] for status in wanted} if found is not None else None,
        "items": items,
        "exploration": {
            "files": dict(explored.files),
            "bytes": dict(explored.bytes),
            "functions": None if explored.functions is None else dict(explored.functions),
            "patterns": list(explored.patterns),
        },
    }
