"""The place of the Regeneration mode."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget
from textual.widgets import Static

from workbench.app.screens.base import ModeScreen


class RegenerationScreen(ModeScreen):
    """Says what will be here."""

    def compose_body(self) -> Iterable[Widget]:
        """Yield one sentence."""
        yield Static(
            "Regeneration is not part of this version.\n\nIt will rewrite functions from their docs, test them in a sandbox "
            "and show pass@k here.\nPress 1 for the cases.",
            classes="state",
        )
