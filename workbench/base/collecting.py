"""How often Python looks for garbage in our own processes: a look stops every thread, also the one that answers keys."""

from __future__ import annotations

import gc

THRESHOLDS = (10_000, 10, 10)
"""Objects, young looks and middle looks until the next one; Python's own are 700, 10 and 10."""


def collect_rarely() -> None:
    """Never look again at what is there now, and seldom at the rest; for a process that is one program until it ends.

    Called first when a program starts: an import makes objects by the hundred thousand and none is garbage, so that looking
    for some takes a quarter of the time until the app can paint. Called again when an app has painted: nearly everything stays,
    modules, styles, widgets. With Python's own figures a look at all of it took 110 ms at the median while 2,000 events a
    second arrived (``tests/benchmarks/key_to_paint.py``).
    """
    gc.set_threshold(*THRESHOLDS)
    gc.freeze()
