"""Counts at every stage of task building, as in the paper's Table 2: how many functions were left, how many were excluded and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.rows import DroppedRow, StageRow, UnusedTestRow

FOUND, UNDECIDED, ASKED, EXCLUDED = "found", "undecided", "asked", "control"
_PASSED = {
    "parse": "file parses",
    "body": "no stub already",
    "trace": "has stable tests",
    "time": "tests within 10 s",
    "original": "original passes",
    "stub": "stub fails",
    "documentation": "documented",
}
"""What the functions that are left after a stage have passed; the keys are stages of dropped functions, in order."""
_ALWAYS = ("parse", "body", "trace", "time", "original", "stub")
REASONS = {
    "parse": "does not parse",
    "body": "is a stub already",
    "trace": "run by no stable test",
    "time": "tests take over 10 s",
    "original": "original fails alone",
    "stub": "passes with a stub",
    "documentation": "got no docstring",
    EXCLUDED: "a control failed",
}
"""Why a function was excluded at a stage, in few words."""


@dataclass(frozen=True, slots=True)
class Count:
    """A row of the table: ``left`` functions passed this stage, ``dropped`` did not; None where it is not known."""

    key: str
    title: str
    left: int | None
    dropped: int | None = None


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A test that is not used: ``kind`` is ``unstable``, ``failing``, ``hanging`` …, ``why`` its outcomes or the reason."""

    kind: str
    test: str
    why: str


def counts(
    stages: Sequence[StageRow], dropped: Mapping[str, int], tasks: int, excluded: int, *, live: bool
) -> tuple[Count, ...]:
    """Return the counts at every stage.

    Args:
        stages: The stages as the session has them.
        dropped: How many functions each stage dropped.
        tasks: Tasks in the session, those included that a control took out.
        excluded: How many of them a control took out.
        live: Whether an engine is at work.
    """
    excluded_count = sum(dropped.values())
    found = max([stage.total or 0 for stage in stages if stage.name in {"trace", "filter"}] + [excluded_count + tasks])
    known = next((stage for stage in stages if stage.name == "filter"), None)
    undecided = max(0, found - known.done) if live and known is not None and known.state == "running" else 0
    rows = [Count(FOUND, "functions found", found or None)]
    if not found:
        return tuple(rows)
    left = found
    # A stage that a newer engine knows is shown under its own name, before the stages that end the building.
    unknown = [stage for stage in dropped if stage not in _PASSED]
    for stage in (*_ALWAYS, *unknown, "documentation"):
        gone = dropped.get(stage, 0)
        left -= gone
        if gone or stage in _ALWAYS:
            rows.append(Count(stage, _PASSED.get(stage, one_line(stage, 24)), left, gone))
    if undecided:
        rows.append(Count(UNDECIDED, "still to decide", undecided))
    if tasks:
        if tasks != left and not undecided:
            rows.append(Count(ASKED, "asked for", tasks))
        rows.append(Count(EXCLUDED, "controls hold", tasks - excluded, excluded))
    return tuple(rows)


def in_order(dropped: Iterable[DroppedRow]) -> list[DroppedRow]:
    """Return dropped functions by stage, then as they came."""
    order = {stage: place for place, stage in enumerate(_PASSED)}
    return sorted(dropped, key=lambda row: (order.get(row.stage, len(order)), row.stage))


def by_stage(dropped: Iterable[DroppedRow]) -> Mapping[str, int]:
    """Return how many functions each stage dropped."""
    return Counter(row.stage for row in dropped)


def quarantined(unused: Iterable[UnusedTestRow]) -> tuple[Quarantined, ...]:
    """Return the tests that no verdict rests on, as they are shown."""
    return tuple(
        Quarantined(one_line(row.kind, 20), one_line(row.test_id, 400), one_line(row.why, 600)) for row in unused
    )
