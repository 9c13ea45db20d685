"""The terminal app (Textual): reads sessions, starts runs through the engine's client, never computes a result itself.

Others use :func:`run_app`. Importing this front door costs nothing; Textual is loaded when the app is asked for.
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
