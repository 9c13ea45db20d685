"""The tour: five steps through the app; each continues once the user has done what it says.

It starts when the workbench is opened for the first time without a session, which a file in the state folder records,
and from the palette.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.app.key_table import with_keys
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.pane import TourPanel

if TYPE_CHECKING:
    from textual.app import App
    from textual.timer import Timer

POLL_SECONDS = 0.15


@dataclass(frozen=True, slots=True)
class TourStep:
    """A step: its text, and whether it was done."""

    title: str
    text: str
    done: Callable[[App[Any]], bool]


def _on_stack(app: App[Any], name: str) -> bool:
    return any(type(screen).__name__ == name for screen in app.screen_stack)


def _at_scores(app: App[Any]) -> bool:
    pane = app.screen.current_pane if isinstance(app.screen, ModeScreen) else None
    return app.current_mode == "trajectory" and pane is not None and pane.id == "score"


STEPS = (
    TourStep(
        "Cases",
        "These are repositories to document: {list.down} and {list.up} move, {pane.next} goes to the files. "
        "Press {cases.run} on a case to choose an agent and a model.",
        lambda app: _on_stack(app, "RunDialog"),
    ),
    TourStep(
        "Run",
        "In the dialog, enter starts the run and {dialog.cancel} cancels; {app.runs} lists all runs. Press {app.trajectory} to see what an agent did.",
        lambda app: not _on_stack(app, "RunDialog") and app.current_mode == "trajectory",
    ),
    TourStep(
        "Trajectory",
        "{trajectory.previous-step} and {trajectory.next-step} go from step to step, {trajectory.previous-trial} and {trajectory.next-trial} from trial to trial; the panes show what the agent thought, did and saw. "
        "Press {trajectory.scores} to go to the scores of its README.",
        _at_scores,
    ),
    TourStep(
        "Scores",
        "{list.down} and {list.up} go from criterion to criterion; {trajectory.evidence} shows the evidence for one. Press {app.regeneration} for Regeneration.",
        lambda app: app.current_mode == "regeneration",
    ),
    TourStep(
        "Regeneration and search",
        "{regeneration.new} lets a model rewrite functions from their docstrings and tests the results. "
        "Press {app.search} to search everything; {app.palette} lists all commands and {app.help} all keys.",
        lambda app: _on_stack(app, "SearchScreen"),
    ),
)


class Tour:
    """Leads through the steps; ``at`` is None without a tour."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._timer: Timer | None = None
        self.at: int | None = None

    def begin(self) -> None:
        self.at = 0
        if self._timer is None:
            self._timer = self._app.set_interval(POLL_SECONDS, self._poll)
        self._show()

    def leave(self) -> None:
        self.at = None
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._show()
        self._app.refresh_bindings()

    def go_on(self) -> None:
        if self.at is not None:
            self.at += 1
            if self.at >= len(STEPS):
                self.leave()
            else:
                self._show()

    @property
    def in_sight(self) -> bool:
        """Whether a step is visible: a dialog uses escape itself."""
        return self.at is not None and isinstance(self._app.screen, ModeScreen)

    def _poll(self) -> None:
        if self.at is not None and STEPS[self.at].done(self._app):
            self.go_on()
        else:
            self._show()

    def _show(self) -> None:
        for screen in self._app.screen_stack:
            for panel in screen.query(TourPanel):
                if self.at is None:
                    panel.say("", "")
                else:
                    panel.say(
                        f"Tour {self.at + 1} of {len(STEPS)} · {STEPS[self.at].title}", with_keys(STEPS[self.at].text)
                    )
