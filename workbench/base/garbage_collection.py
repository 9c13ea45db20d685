"""Less frequent garbage collection, because each collection stops all threads, including the one that handles keys."""

from __future__ import annotations

import gc

THRESHOLDS = (10_000, 10, 10)
"""Thresholds of the three generations; Python's defaults are 700, 10 and 10."""


def collect_rarely() -> None:
    """Freeze existing objects and collect the others rarely.

    Called when a program starts, because imports create hundreds of thousands of objects but no garbage, so collections
    take a quarter of the time to first paint. Called again after the first paint, because modules, styles and widgets
    are permanent. With the defaults, a full collection took a median of 110 ms under 2,000 events per second
    (``tests/benchmarks/key_to_paint.py``).
    """
    gc.set_threshold(*THRESHOLDS)
    gc.freeze()
