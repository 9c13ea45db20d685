"""Whether a trial's README holds, as reports say it: *Works* and the alarms."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from workbench.checking.verdicts import BlockResult, CheckDamaged, alarm, checked_of, shown_lines
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.reports.contents import Trial
    from workbench.session.reader import SessionReader
    from workbench.session.rows import TrialRow

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
