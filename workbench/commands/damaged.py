"""What every command says that meets damage in a session: on standard error, once, and with exit code 1."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.commands.output import tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.session.damage import Damage

_NAMED = 8  # `workbench report` names all


def tell_damage(damage: Sequence[Damage]) -> int:
    """Say what of a session could not be read; return the exit code, 1 if there is any."""
    from workbench.session.damage import summary

    if not damage:
        return 0
    tell(f"workbench: {summary(damage, _NAMED)}")
    return 1


def look_for_damage(session: Path) -> int:
    """Say what is damaged in a session that is about to be written to, if there is such a file; return the exit code."""
    from workbench.session import SessionReader

    if not session.exists():
        return 0
    with SessionReader(session) as reader:
        return tell_damage(reader.damage)
