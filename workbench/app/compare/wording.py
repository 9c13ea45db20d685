"""How trials, figures and differences are written; no widget in sight."""

from __future__ import annotations

from workbench.comparison import Side
from workbench.glyphs import STATES
from workbench.text import one_line

NOTHING = "–"
SAME, ONLY_A, ONLY_B, BOTH_CHANGED = "=", "A", "B", "~"
"""The sign before a row: in both trials, only in one, in both but not the same."""


def name_of(side: Side) -> str:
    """Return ``white · gpt-4o · word_counter · rep 3``: what tells a trial from the others, on one line."""
    trial = side.trial
    parts = [trial.agent, trial.model.rpartition("/")[2], trial.case_name or trial.case_id, side.told_apart]
    parts.append(f"rep {trial.repeat}")
    return " · ".join(one_line(part, 60) for part in parts if part)


def state_of(side: Side) -> str:
    """Return the state with its sign."""
    return f"{STATES.get(side.state, '?')} {side.state}"


def figure(value: float | None, digits: int) -> str:
    """Return a figure with so many decimals, ``0`` for none, a dash for one that is not known."""
    return NOTHING if value is None else f"{value:,.{digits}f}" if value else "0"


def change(value: float | None, digits: int) -> str:
    """Return a difference with its sign: ``+3.5``, ``−16.0``, ``0`` for none, "" where it is not known."""
    if value is None:
        return ""
    shown = f"{abs(value):,.{digits}f}"
    return "0" if not float(shown.replace(",", "")) else f"{'+' if value > 0 else '−'}{shown}"


def of_change(value: float | None) -> str:
    """Return the style of a difference of points: B won or lost them."""
    return "" if not value else "good" if value > 0 else "poor"
