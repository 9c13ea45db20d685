"""Two things side by side: trials, sets of trials, tasks, samples, groups of samples, of one session or of two.

A module for each kind reads the two, compares them, and says what is to be shown of that as a
:class:`~workbench.comparison.panes.PairComparison`, which the app, ``workbench compare`` and its Markdown render.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.comparison.panes import ComparisonKind

_KINDS = {"trial": "trials.TRIALS", "trials": "trial_sets.TRIAL_SETS", "task": "tasks.TASKS", "candidate": "tasks.CANDIDATES", "group": "groups.GROUPS", "run": "groups.RUNS"}  # fmt: skip


def kind_of(name: str) -> ComparisonKind:
    """Return how two of a kind are compared; its module is imported when it is asked for."""
    module, _, kind = _KINDS[name].partition(".")
    found: ComparisonKind = getattr(import_module(f"workbench.comparison.{module}"), kind)
    return found
