"""Sweeps over hundreds of similar cases: tests run an even selection, ``make test-all`` runs all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

#: Whether every case runs.
ALL = os.environ.get("WORKBENCH_SWEEP") == "all"


def spread(items: Sequence[Item], one_in: int, start: int = 0) -> list[Item]:
    """Return every ``one_in``-th item from item ``start % one_in``, or all of them."""
    return list(items) if ALL else list(items[start % one_in :: one_in])
