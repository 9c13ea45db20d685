"""Choose recorded trials by id, the beginning of one, or their case. Cheap to import."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from workbench.errors import UsageError
from workbench.session.rows import TrialRow


def trials_meant(
    session: Path,
    rows: Sequence[TrialRow],
    items: Sequence[str],
    usable: Callable[[TrialRow], bool],
    why_not: Callable[[TrialRow], str],
) -> list[TrialRow]:
    """Return the trials that are named, or all; of these the usable ones.

    ``why_not`` goes on after "Trial X".

    Raises:
        UsageError: One is not there, or none of those that a name means is usable.
    """
    found: dict[str, TrialRow] = {}
    for item in items:
        mine = [row for row in rows if item in (row.id, row.case_id, row.case_name)]
        mine = mine or [row for row in rows if row.id.startswith(item)]
        if not mine:
            raise UsageError(f"{session.name} has no trial {item!r}; `workbench show {session}` lists them.")
        if not any(map(usable, mine)):
            raise UsageError(f"Trial {item} {why_not(mine[0])}.")
        found |= {row.id: row for row in mine if usable(row)}
    if not items:
        found = {row.id: row for row in rows if usable(row)}
    if not found:
        raise UsageError(
            f"{session.name} has no trial that handed something in, so there is nothing to score or check."
        )
    return list(found.values())
