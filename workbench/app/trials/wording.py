"""How spreads and orders of trials are written; no widget in sight."""

from __future__ import annotations

from workbench.app.trials.lines import ORDERS
from workbench.rubric.spread import Spread


def spread_in_words(spread: Spread) -> str:
    """Return ``mean 79.3 ± 3.4 · 61.0 to 85.4``: the worst and the best too, and which trials are not in it.

    Where a format gave more than a tenth of the points, the model's own ones come first.
    """
    if spread.mean is None:
        return "unscored"
    sd = "" if spread.sd is None else f" ± {spread.sd:.1f}"
    own = "" if spread.own is None else f"own points {spread.own[0]:.1f} of {spread.own[1]:.1f} · "
    left_out = f" (without {spread.left_out})" if spread.left_out else ""
    ends = "" if spread.low is None or spread.low == spread.high else f" · {spread.low:.1f} to {spread.high:.1f}"
    remarks = "".join(f" · {remark}" for remark in spread.remarks)
    return f"{own}mean {spread.mean:.1f}{sd}{unit_of(spread)}{ends}{left_out}{remarks}"


def unit_of(spread: Spread) -> str:
    """Return what stands behind a mean that is not out of 100 points: ``/40`` where tiers are unscored."""
    return "" if spread.out_of == 100 else f"/{spread.out_of:g}"


def own_cell(own: tuple[float, float] | None) -> str:
    """Return ``11.5/42``: a model's own points where a format gave the others, "" where all are its own."""
    return "" if own is None else f"{own[0]:.1f}/{own[1]:.0f}"


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
