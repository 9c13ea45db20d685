"""Navigation to a trial, run, study, case or pair, through the history, and through the list that led there."""

from __future__ import annotations

import asyncio
from functools import cached_property
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from workbench.app.keys import key_of
from workbench.app.location import History, Location, ResultList
from workbench.app.session_app import SessionApp

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from workbench.app.location import MarkedPair, Marks
    from workbench.app.search_screen import SearchState


class NavigatingApp(SessionApp):
    """An app with locations and a history; ``lists_left`` stores the state of lists that the user has left."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.history = History()
        self.results: ResultList | None = None
        self.lists_left: dict[str, Any] = {}
        self._is_replaying = self.is_following = False
        super().__init__(*args, **kwargs)

    # Imported on first use: every import before the first paint delays it.

    @cached_property
    def searched(self) -> SearchState:
        from workbench.app.search_screen import SearchState

        return SearchState()

    @cached_property
    def marks(self) -> Marks:
        """The items marked for comparison; they stay marked when another session is opened."""
        from workbench.app.location import Marks

        return Marks()

    # -- navigating to a location

    async def show(self, location: Location) -> None:
        """Show a location of the open session, or the session's default view if the location has no mode."""
        mode, item, place = location.mode, location.item, location.place
        if location.pair is not None:
            await self.show_mode(mode)
            self.show_pair(location.pair)
        elif not mode:
            await self._show_default_view()
        elif item:
            self.leave_place()
            if mode == "trajectory":
                self.selected_trial = item
            elif mode == "regeneration":
                self.selected_run = item
            await self.show_mode(mode)
            # A dialog may have been opened on top of the mode in the meantime.
            screen: Any = self.screen
            if mode == "trajectory" and hasattr(screen, "show_trial"):
                screen.show_trial(item, place)
            elif mode == "regeneration" and hasattr(screen, "show_run"):
                screen.show_run(item, location.evaluator, place)
            elif mode == "study" and hasattr(screen, "show_study"):
                screen.show_study(item)
            elif mode == "cases" and hasattr(screen, "show_case"):
                screen.show_case(item, place.item if place is not None else "")
        else:
            await self.show_mode(mode)

    def go_to(self, location: Location) -> None:
        """Show a location in its session; this is deferred because it may remove the calling screen."""
        self._in_session(location.session, lambda: self.show(location))

    def _in_session(self, session: Path | None, then: Callable[[], Any]) -> None:
        opened = self.opened
        if session is None or (opened is not None and opened.resolve() == session.resolve()):
            self.call_later(then)
        else:
            self.open_session(session, then=then)

    async def show_mode(self, mode: str) -> None:
        from workbench.app.toolkit.mode_screen import ModeScreen

        await self.switch_mode(mode)
        while len(self.screen_stack) > 1 and isinstance(self.screen, ModeScreen):
            await self.screen.dismiss()

    def show_pair(self, pair: MarkedPair) -> None:
        from workbench.app.compare_screen import SideBySide

        self.leave_place()
        self.push_screen(SideBySide(pair))

    async def _show_default_view(self) -> None:
        """Show the run or trial that determines the session's state; several trials are shown with their table."""
        from workbench.app.trials.screen import TrialsScreen
        from workbench.results.sessions import what_matters

        found = await asyncio.to_thread(what_matters, self.reader) if self.reader is not None else None
        if found is None:
            await self.switch_mode("cases")
        elif found.trial is not None:
            await self.show(Location(None, "trajectory", found.trial))
            if found.trials > 1:
                # A single trial is not representative of many, so show the table of all trials.
                self.push_screen(TrialsScreen(found.trial))
        else:
            await self.show(Location(None, "regeneration", found.run))

    def open_session(self, path: Path, *, show: bool = False, then: Callable[[], Any] | None = None) -> None:
        """Open a session file, then call ``then``. Without ``then``, show the default view if ``show`` is true."""
        then = then or (self._show_default_view if show else None)
        if path != self.session_path:
            self.results = None  # its rows belong to the previous session
            if then is not None:
                self._record()
                then = self._arriving(then)
        super().open_session(path, then=then)

    def open_latest(self) -> None:
        from workbench.app.sessions.session_files import latest_session

        def done(path: Path | None) -> None:
            if path is not None:
                self.open_session(path)
            else:
                self.counted(None)

        self.opening_session.ask(latest_session, done, self.session_failed)

    # -- back and forward

    def leave_place(self, *, within_list: bool = False) -> None:
        """Record the current location, and forget the list that led here unless ``within_list`` is true."""
        self._record()
        if not within_list and not self.is_following:
            self.results = None

    def _record(self) -> None:
        if not self._is_replaying:
            self.history.leave(self._here())

    def _here(self) -> Location | None:
        # A screen on top of a mode, such as the table of all trials, has no location of its own.
        for screen in reversed(self.screen_stack):
            here: Location | None = screen.location() if hasattr(screen, "location") else None
            if here is not None:
                return here
        return None

    def _arriving(self, then: Callable[[], Any]) -> Callable[[], Any]:
        """Wrap ``then`` so that it records no further locations; the navigation itself is already recorded."""

        async def last_part() -> None:
            self._is_replaying = True
            try:
                result = then()
                if isawaitable(result):
                    await result
            finally:
                self._is_replaying = False

        return last_part

    async def action_travel(self, step: int) -> None:
        location = self.history.go(step, self._here())
        if location is None:
            self.notify(
                "There is nothing to go back to." if step < 0 else "There is nothing to go forward to.", timeout=3
            )
            return
        arrive = self._arriving(lambda: self.show(location))
        if location.session is not None and location.session != self.session_path:
            self._is_replaying = True
            try:
                self.open_session(location.session, then=arrive)
            finally:
                self._is_replaying = False
        else:
            await arrive()

    # -- stepping through a list

    def follow(self, results: ResultList, at: int) -> None:
        """Go to a row of a list; this is deferred because the location replaces the list's own screen."""
        results.at = at

        async def go() -> None:
            self.is_following = True
            try:
                await self.show(await results.completed(at) if results.completed else results.locations[at])
            finally:
                self.is_following = False
            self.results = results
            self._show_position()

        self._in_session(results.locations[at].session, go)

    @property
    def goes_through_hits(self) -> bool:
        return self.results is not None and self.results.searched

    @property
    def where_in_list(self) -> str:
        """The position in the list that led here, with the keys for the next row; "" if there is no such list."""
        results = self.results
        if results is None or (len(results.locations) < 2 and not results.searched):
            return ""
        name = "hit" if results.searched else "run" if self.current_mode == "regeneration" else "trial"
        previous, following, back = (
            key_of(f"{self.current_mode}.{one}") for one in (f"previous-{name}", f"next-{name}", "escape")
        )
        keys = f"{following} {previous}" if results.searched else f"{previous} {following}"
        at = f"{results.row} {results.at + 1:,} of {len(results.locations):,}"
        return f"{at} · {keys} go on, {back} returns to the list"

    def go_on(self, step: int) -> bool:
        """Go to the next (1) or previous (-1) row of the list that led here; returns False if there is none."""
        results = self.results
        if results is None or len(results.locations) < 2:
            return False
        at, count = results.at + step, len(results.locations)
        if results.searched:
            at %= count
        if 0 <= at < count:
            self.follow(results, at)
        else:
            end = "last" if step > 0 else "first"
            self.notify(f"This is the {end} {results.row} of the list that led here.", timeout=4)
        return True

    def go_back_to_list(self) -> bool:
        results, self.results = self.results, None
        if results is None:
            return False
        self._show_position()
        results.show_list(results.at)
        return True

    def forget_hits(self) -> None:
        """Forget the hits of an earlier list, because the keys for hits now belong to a new search."""
        if self.results is not None and self.results.searched:
            self.results.searched = False
            self._show_position()

    def _show_position(self) -> None:
        show = getattr(self.screen, "show_remark", None)
        if show is not None:
            show()

    # -- screens on top of a mode

    def action_runs(self) -> None:
        from workbench.app.runs_screen import RunsScreen

        if self._has_session():
            self.push_screen(RunsScreen(self.selected_run or ""))

    def action_marked(self) -> None:
        from workbench.app.labels_screen import LabelsScreen

        if self._has_session():
            self.push_screen(LabelsScreen())

    def action_search(self) -> None:
        from workbench.app.search_screen import SearchScreen

        if not isinstance(self.screen, SearchScreen):
            self.push_screen(SearchScreen(self.searched))

    def _has_session(self) -> bool:
        if self.reader is None:
            self.notify(f"No session is open: press {key_of('app.sessions')} to choose one.", severity="warning")
        return self.reader is not None
