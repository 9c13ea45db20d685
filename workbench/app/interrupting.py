"""What ctrl+c means: copy what is selected; where nothing is, leave, but only when asked twice."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from workbench.app.key_table import key_of

if TYPE_CHECKING:
    from textual.app import App

INTERRUPT_SECONDS = 3.0
"""Within this time a second ctrl+c leaves the app."""


class Interrupting:
    """Remembers when the key was pressed last.

    Args:
        app: Whose selection is copied.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._at = -INTERRUPT_SECONDS

    def wants_to_leave(self) -> bool:
        """Copy what is selected; return whether nothing is and the key was pressed a moment ago too."""
        from textual.widgets import Input

        app, now = self._app, time.monotonic()
        field = app.focused.selected_text if isinstance(app.focused, Input) else ""
        selected = field or app.screen.get_selected_text()
        if selected:
            app.copy_to_clipboard(selected)
            app.notify(f"Copied {len(selected):,} characters.", timeout=2)
            return False
        if now - self._at < INTERRUPT_SECONDS:
            return True
        self._at = now
        app.notify(f"Nothing is selected. Press {key_of('app.interrupt')} again to leave.", timeout=INTERRUPT_SECONDS)
        return False
