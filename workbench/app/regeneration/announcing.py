"""What begins elsewhere while a run is shown: another evaluator is said once, another run stays in sight until it is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.app.regeneration.evaluators import model_name

if TYPE_CHECKING:
    from workbench.app.regeneration.loading import RunView
    from workbench.app.regeneration.screen import RegenerationScreen

OTHER_RUN_SECONDS = 1.0
"""Time from the beginning of another run until it is said, unless it is shown by then."""


class Announcing:
    """Keeps which runs began elsewhere and were not looked at yet.

    Args:
        screen: The view in which it is said.
    """

    def __init__(self, screen: RegenerationScreen) -> None:
        self._screen = screen
        self._begun: list[str] = []

    @property
    def begun(self) -> str:
        """The newest of these runs, "" for none."""
        return self._begun[-1] if self._begun else ""

    def forget(self) -> None:
        """Another session is shown."""
        self._begun.clear()

    def look(self, before: RunView | None, view: RunView, wanted: str) -> None:
        """Note what began since the last look; ``wanted`` is the evaluator that a person asked for."""
        self._begun = [run for run in self._begun if run != view.run.id and run in view.order]
        if before is None or before.run.id != view.run.id:
            return
        known = {one.evaluator for one in before.progress} | {view.evaluator, wanted}
        for evaluator in dict.fromkeys(one.evaluator for one in view.progress):
            if evaluator not in known:
                self._screen.notify(f"{model_name(evaluator)} is asked for samples of this run, too: v shows them.")
        for run in view.order:
            if run not in before.order:
                self._screen.set_timer(OTHER_RUN_SECONDS, lambda run=run: self._say(run))

    def _say(self, run: str) -> None:
        # A run that was started from here is on the screen by now.
        screen = self._screen
        if screen.view is not None and screen.view.run.id != run and run in screen.view.order and not screen.reads_run:
            self._begun.append(run)
            screen.notify("Another run began in this session: L shows it.")
            screen.show_begun()
