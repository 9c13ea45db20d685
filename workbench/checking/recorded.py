"""What a check that a session keeps said of its README."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.checking.stored import CheckDamaged, from_json
from workbench.rubric.works import counting

if TYPE_CHECKING:
    from workbench.checking.verdicts import Checked
    from workbench.session.reader import SessionReader
    from workbench.session.rows import CheckRow


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
