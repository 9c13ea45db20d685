"""Rare garbage collection: a collection stops every thread, also the one that handles keys."""

from __future__ import annotations

import gc

THRESHOLDS = (10_000, 10, 10)
"""Thresholds of the three generations; Python's defaults are 700, 10 and 10."""


def collect_rarely() -> None:
    """Freeze existing objects and collect the others rarely.

    Called when a program starts, because imports make hundreds of thousands of objects and no garbage, so that collections take
    a quarter of the time to first paint; and again after the first paint, because modules, styles and widgets stay. With the
    defaults a full collection took 110 ms at the median under 2,000 events a second (``tests/benchmarks/key_to_paint.py``).
    """
    gc.set_threshold(*THRESHOLDS)
    gc.freeze()
