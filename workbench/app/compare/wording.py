"""How trials, figures and differences are written; no widget in sight."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len

from workbench.app.toolkit.document import Document, Line
from workbench.app.toolkit.virtual_view import Part, fit
from workbench.comparison import Comparison, FailingPair, Side, TaskTestPair, TextPair, TextSide
from workbench.glyphs import STATES
from workbench.text import one_line

NOTHING = "–"
SAME, ONLY_A, ONLY_B, BOTH_CHANGED = "=", "A", "B", "~"
"""The sign before a row: on both sides, only on one, on both but not the same."""
MORE, LESS = "▲", "▼"
"""The sign of what B has more, or less, of than A."""


def sided(left: object, right: object) -> Part | None:
    """Return the sign of a row that only one side has, None where both have it."""
    return (ONLY_A, "only-a") if right is None else (ONLY_B, "only-b") if left is None else None


def signed(value: float | None) -> Part:
    """Return the sign of a difference; ``?`` where it is not known."""
    if value is None:
        return "?", "dim"
    return (MORE, "good") if value > 0 else (LESS, "poor") if value < 0 else (SAME, "dim")


def parts_of(side: Side) -> tuple[str, ...]:
    """Return agent, model, case, a mark of its content if it has one, and repeat: what tells a trial from the others."""
    trial = side.trial
    parts = (trial.agent, trial.model.rpartition("/")[2], trial.case_name or trial.case_id, side.told_apart)
    return (*(one_line(part, 60) for part in parts), f"rep {trial.repeat}")


def names_of(left: Side, right: Side, width: int) -> tuple[str, str, str]:
    """Return what both trials share, and the name of each: ``("", "white · gpt-4o · art · rep 1", …)``.

    Where a whole name is longer than ``width`` cells, what both share is said apart, and the names tell the rest.
    """
    a, b = parts_of(left), parts_of(right)
    if left.session != right.session:
        a, b = (*a, one_line(left.session, 60)), (*b, one_line(right.session, 60))
    shared = [one if one == other else "" for one, other in zip(a, b, strict=True)]
    if max(map(cell_len, map(_joined, (a, b)))) <= width or a == b:
        return "", _joined(a), _joined(b)
    own_a, own_b = (
        _joined("" if common else one for one, common in zip(parts, shared, strict=True)) for parts in (a, b)
    )
    return _joined(shared), own_a, own_b


def readmes(comparison: Comparison) -> TextPair:
    """Return the READMEs of two trials as two texts."""
    sides = [
        TextSide(
            f"{name}  {one_line(side.trial.agent, 40)}, rep {side.trial.repeat}", side.readme, side.no_readme, side.cut
        )
        for name, side in (("A", comparison.left), ("B", comparison.right))
    ]
    return TextPair(sides[0], sides[1], comparison.readme)


def _joined(parts: Iterable[str]) -> str:
    return " · ".join(part for part in parts if part)


def alike(**texts: TextPair) -> str:
    """Return which texts are the same: ``docstring the same · prompt differs``."""
    return " · ".join(f"{word} {'the same' if pair.same else 'differs'}" for word, pair in texts.items())


def only_and_both(pairs: Sequence[TaskTestPair] | Sequence[FailingPair]) -> str:
    """Return how many tests only A, only B and both have."""
    only_a, only_b = sum(pair.right is None for pair in pairs), sum(pair.left is None for pair in pairs)
    return f"only A {only_a:,} · only B {only_b:,} · both {len(pairs) - only_a - only_b:,}"


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


def wrapped(text: str, width: int, lines: int) -> str:
    """Return a text in at most so many lines, with an ellipsis where it goes on."""
    text = one_line(text, 2_000)
    rows = [text[row.start : row.end].rstrip() for row in Document((Line(text),), text).rows(width)]
    if len(rows) > lines:
        rows[lines - 1] = fit(rows[lines - 1] + " …", width)
    return "\n".join(rows[:lines])
