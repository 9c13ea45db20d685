"""Where a trial's README comes from and what its agent saw, as reports say it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from workbench.checking.verdicts import BlockResult, CheckDamaged, alarm, checked_of, shown_lines
from workbench.grounding import read_trial
from workbench.grounding.items import NOT_SEEN, NOWHERE, SEEN, UNSEEN
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.grounding import Why
    from workbench.reports.contents import Trial
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


MOST_LISTED = 100
"""Alarms that are listed; all are counted."""
NOT_IN_POINTS = "Whether blocks run and what the README names is there; a figure of its own, in no rubric's points."
_MOST_OUTPUT = 12


@dataclass(frozen=True, slots=True)
class Alarm:
    """A block that fails or differs or a claim that is untrue; ``lines`` are a difference or the end of what was printed."""

    head: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CheckedReadme:
    """What reports say of a check: *Works* in words, the alarms, what could not be checked."""

    works: str
    alarms: tuple[Alarm, ...]
    notes: tuple[str, ...]


def checked_readme(reader: SessionReader, trial: Trial) -> CheckedReadme | None:
    """Return what the check of a trial's README said, None where there is none that counts."""
    if trial.works is None:
        return None
    try:
        checked = checked_of(reader, trial.row.id)
    except CheckDamaged as error:
        return CheckedReadme(trial.works.words(), (), (str(error),))
    if checked is None:
        return None
    alarms = [
        Alarm(
            f"line {one.line:,}: {one_line(alarm(one), 300)}",
            tuple(shown_lines(one, _MOST_OUTPUT)) if isinstance(one, BlockResult) else (),
        )
        for found in checked.alarms
        for one in (found.alarming if isinstance(found, BlockResult) else (found,))
    ]
    if len(alarms) > MOST_LISTED:
        alarms = [*alarms[:MOST_LISTED], Alarm(f"and {len(alarms) - MOST_LISTED:,} more", ())]
    return CheckedReadme(trial.works.words(), tuple(alarms), checked.problems)


def check_values(reader: SessionReader, trial: TrialRow) -> dict[str, Any] | None:
    """Return all that the check of a trial's README said, for programs; None where there is none that counts."""
    try:
        checked = checked_of(reader, trial.id)
    except CheckDamaged as error:
        return {"problem": str(error)}
    return None if checked is None else asdict(checked)
