"""How spreads and orders of trials are written; no widget in sight."""

from __future__ import annotations

from workbench.app.trials.lines import ORDERS
from workbench.rubric.spread import Spread


def spread_in_words(spread: Spread) -> str:
    """Return ``mean 79.3 ± 3.4 · 61.0 to 85.4``: the worst and the best too, and of how many where some have no score."""
    if spread.mean is None:
        return "unscored"
    sd = "" if spread.sd is None else f" ± {spread.sd:.1f}"
    of = "" if spread.scored == spread.trials else f" ({spread.scored:,} scored)"
    ends = "" if spread.low is None or spread.low == spread.high else f" · {spread.low:.1f} to {spread.high:.1f}"
    return f"mean {spread.mean:.1f}{sd}{unit_of(spread)}{ends}{of}"


def unit_of(spread: Spread) -> str:
    """Return what stands behind a mean that is not out of 100 points: ``%``, or ``/40`` where tiers are unscored."""
    return "%" if spread.percent else "" if spread.out_of == 100 else f"/{spread.out_of:g}"


def without_forks(count: int) -> str:
    """Return how many forks a mean leaves out, "" for none."""
    return f" · {count:,} fork{'' if count == 1 else 's'} not in it" if count else ""


def next_order(key: str) -> str:
    """Return the order after one, round and round."""
    keys = [order.key for order in ORDERS]
    return keys[(keys.index(key) + 1) % len(keys)]


def order_in_words(key: str, *, reverse: bool) -> str:
    """Return the name of an order and which way round it is."""
    order = next(order for order in ORDERS if order.key == key)
    return f"{order.title}, {'descending' if order.descending != reverse else 'ascending'}"
