"""Goes back and forward through what was visited, also to other sessions."""

from __future__ import annotations

from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Protocol

from workbench.app.history import History, Visit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from workbench.app.marks import Pair
    from workbench.app.place import Place


class Traveller(Protocol):
    """What is asked of the app."""

    @property
    def screen_stack(self) -> Sequence[Any]:
        """The screens of the mode that is shown, the uppermost last."""

    @property
    def session_path(self) -> Path | None:
        """The session that is open or being opened."""

    def open_session(self, path: Path, *, show: bool = False, then: Callable[[], Any] | None = None) -> None:
        """Open a session file and call ``then`` once it is open."""

    async def show_trial(self, trial_id: str, place: Place | None = None) -> None:
        """Show a trial, or a place in it."""

    async def show_run(self, run_id: str, evaluator: str = "", place: Place | None = None) -> None:
        """Show a regeneration run, or a place in it."""

    async def show_study(self, name: str) -> None:
        """Show a study."""

    async def show_case(self, key: str, place: Place | None = None) -> None:
        """Show a case, or a file of it."""

    def show_pair(self, pair: Pair) -> None:
        """Show two things side by side."""

    async def show_mode(self, mode: str) -> None:
        """Show a mode, without what stands over it."""

    def notify(self, message: str, *, timeout: float | None = None) -> None:
        """Show a notice."""


class Travel:
    """Notes each place that is left, and goes to those that were noted.

    Args:
        app: The app.
    """

    def __init__(self, app: Traveller) -> None:
        self._app = app
        self.history = History()
        self._under_way = False

    def leave(self) -> None:
        """Note where a person is, before something else is shown."""
        if not self._under_way:
            self.history.leave(self._here())

    def arriving(self, then: Callable[[], Any]) -> Callable[[], Any]:
        """Return ``then`` as the last part of a way whose beginning was noted: nothing that it passes is noted."""

        async def last_part() -> None:
            self._under_way = True
            try:
                result = then()
                if isawaitable(result):
                    await result
            finally:
                self._under_way = False

        return last_part

    async def go(self, step: int) -> None:
        """Go back (-1) or forward (1)."""
        visit = self.history.go(step, self._here())
        if visit is None:
            self._app.notify("There is no place to go back to." if step < 0 else "There is no place ahead.", timeout=3)
            return
        arrive = self.arriving(lambda: self._show(visit))
        if visit.session is not None and visit.session != self._app.session_path:
            self._under_way = True
            try:
                self._app.open_session(visit.session, then=arrive)
            finally:
                self._under_way = False
        else:
            await arrive()

    def _here(self) -> Visit | None:
        # What stands over a mode, such as the table of all trials, leads to places and is none itself.
        for screen in reversed(self._app.screen_stack):
            if hasattr(screen, "visit"):
                visit: Visit | None = screen.visit()
                if visit is not None:
                    return visit
        return None

    async def _show(self, visit: Visit) -> None:
        if visit.pair is not None:
            await self._app.show_mode(visit.mode)
            self._app.show_pair(visit.pair)
        elif visit.item and visit.mode == "trajectory":
            await self._app.show_trial(visit.item, visit.place)
        elif visit.item and visit.mode == "regeneration":
            await self._app.show_run(visit.item, visit.evaluator, visit.place)
        elif visit.item and visit.mode == "study":
            await self._app.show_study(visit.item)
        elif visit.item and visit.mode == "cases":
            await self._app.show_case(visit.item, visit.place)
        else:
            await self._app.show_mode(visit.mode)
