"""The terminal app (Textual), which reads sessions and sends requests to the engine; it computes no results itself.

Other packages use only :func:`run_app`. Textual is not imported until then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp, run_app

__all__ = ["WorkbenchApp", "run_app"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from workbench.app import app

        return getattr(app, name)
    raise AttributeError(name)
