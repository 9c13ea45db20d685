"""How often Python looks for garbage while the app is open: a full look stops every thread, also the one that answers keys."""

from __future__ import annotations

import gc

THRESHOLDS = (10_000, 10, 10)
"""Objects, young looks and middle looks until the next one; Python's own are 700, 10 and 10."""


def collect_rarely() -> None:
    """Never look again at what is there now, and seldom at the rest; for a process that is one app until it ends.

    Of an app that has painted nearly everything stays: modules, styles, widgets. With Python's own figures a look at all of it
    took 110 ms at the median while 2,000 events a second arrived (``tests/benchmarks/key_to_paint.py``).
    """
    gc.set_threshold(*THRESHOLDS)
    gc.freeze()
