"""The terminal app (Textual): it reads sessions and sends requests to the engine; it never computes a result itself.

Others use :func:`run_app`. Textual is imported only when that is used.
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
