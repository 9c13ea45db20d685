"""Comparisons of two items, from one session or from two.

The items are trials, sets of trials, tasks, samples, or groups of samples. Each kind returns a
:class:`~workbench.comparison.panes.PairComparison`, which the app and ``workbench compare`` show.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.comparison.panes import ComparisonKind

_KINDS = {"trial": "trials.TRIALS", "trials": "trial_sets.TRIAL_SETS", "task": "tasks.TASKS", "candidate": "tasks.CANDIDATES", "group": "groups.GROUPS", "run": "groups.RUNS"}  # fmt: skip


def kind_of(name: str) -> ComparisonKind:
    """Import the module of a kind of comparison and return the kind with this name."""
    module, _, kind = _KINDS[name].partition(".")
    found: ComparisonKind = getattr(import_module(f"workbench.comparison.{module}"), kind)
    return found
