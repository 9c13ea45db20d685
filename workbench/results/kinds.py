"""How a function is documented, by what evaluators made of its docstring. Cheap to import."""

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
    """Return how a function is documented.

    Args:
        passed: Samples that passed.
        counted: Samples that count.
        excluded: Whether its own body does not pass its tests.
        below: A pass@1 below this is a bad one.
    """
    if excluded or not counted:
        return Kind.UNTESTABLE
    return Kind.BADLY if passed / counted < below else Kind.WELL
