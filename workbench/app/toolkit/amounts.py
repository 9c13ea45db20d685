"""Money and sizes as people read them."""

from __future__ import annotations

import time


def money(usd: float) -> str:
    return f"${usd:,.2f}" if usd >= 1 else f"${usd:.3f}" if usd >= 0.0995 else f"${usd:.4f}".replace("$0.0000", "$0")


def spend_in_figures(usd: float | None) -> str:
    """Return US dollars for a column, ``–`` where no price is known."""
    return "–" if usd is None else f"{usd:.3f}"


def size_of(count: int) -> str:
    """Return a size in bytes for reading: ``812 B``, ``3.2 kB``, ``1.0 MB``."""
    if count < 1000:
        return f"{count} B"
    return f"{count / 1000:.1f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"


def duration(seconds: float) -> str:
    """Return a time for reading: ``7 s``, ``3 min``, ``2.5 h``."""
    if seconds < 90:
        return f"{max(0, round(seconds))} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"


def age(then: float, now: float | None = None) -> str:
    seconds = max(0.0, (time.time() if now is None else now) - then)
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "now"
