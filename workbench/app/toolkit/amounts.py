"""Money and sizes as people read them."""

from __future__ import annotations


def money(usd: float) -> str:
    """Return US dollars with as many digits as matter."""
    return f"${usd:,.2f}" if usd >= 1 else f"${usd:.3f}" if usd >= 0.0995 else f"${usd:.4f}".replace("$0.0000", "$0")


def spend_in_figures(usd: float | None) -> str:
    """Return US dollars for a column, ``–`` where no price is known."""
    return "–" if usd is None else f"{usd:.3f}"


def size_of(count: int) -> str:
    """Return a size in bytes for reading: ``812 B``, ``3.2 kB``, ``1.0 MB``."""
    if count < 1000:
        return f"{count} B"
    return f"{count / 1000:.1f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"
