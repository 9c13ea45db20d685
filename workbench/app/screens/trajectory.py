"""The Trajectory mode: one trial, step by step."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget
from textual.widgets import Static

from workbench.app.screens.base import ModeScreen


class TrajectoryScreen(ModeScreen):
    """Steps of a trial, what the agent saw, what it wrote and how that was scored."""

    def compose_body(self) -> Iterable[Widget]:
        """Yield the panes."""
        yield Static("No trial is shown.", classes="state")

    def show_trial(self, trial_id: str) -> None:
        """Show another trial of the open session."""
        self.query_one(Static).update(trial_id)
