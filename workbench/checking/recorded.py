"""The checks that a session keeps of READMEs: which of a trial's counts, and *Works* as it says. Everything that shows it reads it here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbench.checking.stored import COLUMNS, CheckDamaged, from_json
from workbench.rubric.works import Works

if TYPE_CHECKING:
    from workbench.checking.verdicts import Checked
    from workbench.session.reader import SessionReader
    from workbench.session.rows import CheckRow


def counting(rows: Iterable[CheckRow]) -> CheckRow | None:
    """Return the check of a trial's README that counts: of those that came to an end one with blocks, by the newest rules, the last.

    One whose counts are damaged does not count.
    """
    ended = [row for row in rows if row.result_blob is not None and _counted(row)]
    return max(ended, key=lambda row: (row.executed, row.rules, row.at), default=None)


def _counted(row: CheckRow) -> bool:
    """Return whether all numbers of a row are numbers: SQLite keeps a text in a column of numbers as well."""
    whole = [getattr(row, name) for name in (*COLUMNS, "executed", "rules")]
    return all(isinstance(one, int) and one >= 0 for one in whole) and isinstance(row.at, float | int)


def works_of(row: CheckRow) -> Works:
    """Return how much of the README holds by a check that counts."""
    return Works.of({name: getattr(row, name) for name in COLUMNS})


def works_by_trial(reader: SessionReader, trial: str | None = None) -> dict[str, Works]:
    """Return *Works* of each trial, or of one, whose README was checked.

    Raises:
        SessionError: The session cannot be read at all.
    """
    rows: dict[str, list[CheckRow]] = {}
    for row in reader.checks(trial):
        rows.setdefault(row.trial_id, []).append(row)
    found = {key: counting(mine) for key, mine in rows.items()}
    return {key: works_of(row) for key, row in found.items() if row is not None}


def checked_of(reader: SessionReader, trial: str) -> Checked | None:
    """Return the check of a trial's README that counts with all that it says, None where there is none.

    Raises:
        CheckDamaged: What it says cannot be read.
        SessionError: The session cannot be read at all.
    """
    row = counting(reader.checks(trial))
    return None if row is None else result_of(reader, row)


def result_of(reader: SessionReader, row: CheckRow) -> Checked | None:
    """Return all that a check said, None where it has not come to an end.

    Raises:
        CheckDamaged: It cannot be read.
        SessionError: The session cannot be read at all.
    """
    if row.result_blob is None:
        return None
    text = reader.kept(row.result_blob, f"the check of trial {row.trial_id}")
    if text is None:
        raise CheckDamaged("The recorded check is missing from the session file; check the README again.")
    return from_json(text)
