"""Two things side by side: trials, sets of trials, tasks, samples, groups of samples, of one session or of two.

A module for each kind reads the two, compares them, and says what is to be shown of that as a
:class:`~workbench.comparison.panes.Comparison`, which the app, ``workbench compare`` and its Markdown render.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.comparison.panes import Kind

_MODULES = {"trial": "trials", "trials": "trial_sets", "task": "tasks", "candidate": "candidates", "group": "groups", "run": "groups"}  # fmt: skip


def kind_of(name: str) -> Kind:
    """Return how two of a kind are compared; its module is imported when it is asked for."""
    found: Kind = import_module(f"workbench.comparison.{_MODULES[name]}").KINDS[name]
    return found
