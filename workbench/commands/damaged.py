"""What every command says that meets damage in a session: on standard error, once, and with exit code 1."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench.commands.output import tell
from workbench.session import SessionReader
from workbench.session.damage import Damage, summary

_NAMED = 8  # `workbench report` names all


def tell_damage(damage: Sequence[Damage]) -> int:
    """Say what of a session could not be read; return the exit code, 1 if there is any."""
    if not damage:
        return 0
    tell(f"workbench: {summary(damage, _NAMED)}")
    return 1


def look_for_damage(session: Path) -> int:
    """Say what is damaged in a session that is about to be written to, if there is such a file; return the exit code."""
    if not session.exists():
        return 0
    with SessionReader(session) as reader:
        return tell_damage(reader.damage)
