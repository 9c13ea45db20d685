"""Constants and helpers for values in sessions and in JSON."""

from __future__ import annotations

import math
from typing import Any

TIER_NAMES = {1: "Structural", 2: "Sections", 3: "Accuracy", 4: "Quality"}
"""Names of the tiers, which all rubrics share."""


def picked(row: object, *names: str) -> dict[str, Any]:
    """Return attributes of a row as a dictionary; ``total:score`` renames ``total`` to ``score``.

    Without a row, all are None.
    """
    pairs = (name.partition(":") for name in names)
    return {wanted or own: None if row is None else getattr(row, own) for own, _, wanted in pairs}


def number(value: object) -> float | None:
    # Exclude bool, which is an int in Python, and infinite numbers, which our JSON does not contain.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < 1e15 and math.isfinite(value) else None
