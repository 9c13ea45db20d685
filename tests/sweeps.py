"""Sweeps over hundreds of alike cases: the tests take a fixed spread of them, ``make test-all`` takes all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

#: ``all`` sweeps everything; anything else, or nothing, a spread.
ALL = os.environ.get("WORKBENCH_SWEEP") == "all"


def spread(items: Sequence[Item], one_in: int, start: int = 0) -> list[Item]:
    """Return every ``one_in``-th item from number ``start`` on (counted round), or all of them."""
    return list(items) if ALL else list(items[start % one_in :: one_in])
