"""Times as people read them."""

from __future__ import annotations

import time


def duration(seconds: float) -> str:
    """Return a time for reading: ``7 s``, ``3 min``, ``2.5 h``."""
    if seconds < 90:
        return f"{max(0, round(seconds))} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"


def age(then: float, now: float | None = None) -> str:
    """Return how long ago something was, in the largest unit that fits."""
    seconds = max(0.0, (time.time() if now is None else now) - then)
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "now"
