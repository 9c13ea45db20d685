"""How a function is documented. Cheap to import."""

from __future__ import annotations

from enum import StrEnum

#: A pass@1 below this is bad, unless somebody says otherwise.
BELOW = 0.5


class Kind(StrEnum):
    """How a function is documented, by what evaluators made of its docstring."""

    WELL = "well"
    BADLY = "badly"
    UNTESTABLE = "untestable"


def kind_of(passed: int, counted: int, *, excluded: bool, below: float = BELOW) -> Kind:
    """Return how a function is documented; ``excluded``: its own body does not pass its tests."""
    if excluded or not counted:
        return Kind.UNTESTABLE
    return Kind.BADLY if passed / counted < below else Kind.WELL
