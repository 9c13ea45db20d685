"""Forked trials: their order and description."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.session.rows import TrialRow

SIGN = "↳"


def below_parents(ids: Sequence[str], parents: Sequence[str]) -> list[int]:
    """Return the order of trials with each fork below its parent; a fork without a listed parent keeps its place."""
    known = set(ids)
    children: dict[str, list[int]] = {}
    for place, parent in enumerate(parents):
        if parent in known and parent != ids[place]:
            children.setdefault(parent, []).append(place)
    below = {place for places in children.values() for place in places}
    order: list[int] = []
    waiting = [place for place in range(len(ids)) if place not in below][::-1]
    while waiting:
        place = waiting.pop()
        order.append(place)
        waiting += children.get(ids[place], [])[::-1]
    # Trials in a cycle, which only a damaged file has, are listed last.
    met = set(order)
    return order + [place for place in range(len(ids)) if place not in met]


def fork_words(parent: str, step: int, edited: str) -> str:
    """Return ``fork of 0471d974 at step 3, observation edited``, or "" for a trial that is not a fork."""
    if not parent:
        return ""
    return f"fork of {parent[:8]} at step {step}" + (f", {edited} edited" if edited else "")


def inheritance(trial: TrialRow, step: int) -> str:
    """Return how a step was inherited from the fork's parent (``inherited``, ``inherited, observation edited``), or ""."""
    if not trial.parent or step > trial.fork_step:
        return ""
    return f"inherited, {trial.edited} edited" if step == trial.fork_step and trial.edited else "inherited"
