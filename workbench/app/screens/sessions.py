"""The Sessions mode."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget
from textual.widgets import Static

from workbench.app.screens.base import ModeScreen


class SessionsScreen(ModeScreen):
    """The Sessions mode."""

    def compose_body(self) -> Iterable[Widget]:
        """Yield the panes."""
        yield Static("Nothing here yet.", classes="state")
