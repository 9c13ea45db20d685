"""How points stand on an absolute scale, the same for every trial, tier and session: what colours of points mean."""

from __future__ import annotations

from typing import Literal

Standing = Literal["good", "middling", "poor"]

GOOD, MIDDLING = 0.7, 0.4
"""Shares of the points from which on a score is good, and middling; below it is poor."""


def standing(share: float) -> Standing:
    """Return how a share of the points (0 to 1) stands."""
    return "good" if share >= GOOD else "middling" if share >= MIDDLING else "poor"
