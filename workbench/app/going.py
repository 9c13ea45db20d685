"""Goes to the places of the app: a mode, a trial, run, study or case in it, two things side by side, a list over a mode."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from workbench.app.toolkit.mode_screen import ModeScreen

if TYPE_CHECKING:
    from textual.app import App

    from workbench.app.host import Host
    from workbench.app.marks import Pair
    from workbench.app.place import Place
    from workbench.app.search.places import Searched


class Going:
    """Brings a place into sight, and notes for the way back which one was left.

    Screens are imported when they are gone to: what is imported before the first paint is waited for.

    Args:
        app: Whose screens are shown.
        host: The same, as modes know it.
    """

    def __init__(self, app: App[Any], host: Host) -> None:
        self._app = app
        self._host = host

    async def to_mode(self, mode: str) -> None:
        """Show a mode, without what stands over it."""
        await self._app.switch_mode(mode)
        while len(self._app.screen_stack) > 1 and isinstance(self._app.screen, ModeScreen):
            await self._app.screen.dismiss()

    async def to_trial(self, trial_id: str, place: Place | None = None) -> None:
        """Show a trial of the open session, or a place in it."""
        from workbench.app.trajectory.screen import TrajectoryScreen

        self._host.leave_place()
        self._host.selected_trial = trial_id
        # Over the trial that it shows the mode may show the table of all trials, and two of them side by side over that.
        await self.to_mode("trajectory")
        if isinstance(self._app.screen, TrajectoryScreen):
            self._app.screen.show_trial(trial_id, place)

    async def to_run(self, run_id: str, evaluator: str = "", place: Place | None = None) -> None:
        """Show a regeneration run of the open session, with the samples of ``evaluator`` once there are some."""
        from workbench.app.regeneration.screen import RegenerationScreen

        self._host.leave_place()
        self._host.selected_run = run_id
        await self.to_mode("regeneration")
        if isinstance(self._app.screen, RegenerationScreen):
            self._app.screen.show_run(run_id, evaluator, place)

    async def to_study(self, name: str) -> None:
        """Show a study of the open session."""
        from workbench.app.study.screen import StudyScreen

        self._host.leave_place()
        await self.to_mode("study")
        if isinstance(self._app.screen, StudyScreen):
            self._app.screen.show_study(name)

    async def to_case(self, key: str, place: Place | None = None) -> None:
        """Show a case, or a file of it (``place.item``)."""
        from workbench.app.cases.screen import CasesScreen

        self._host.leave_place()
        await self.to_mode("cases")
        if isinstance(self._app.screen, CasesScreen):
            self._app.screen.show_case(key, place.item if place is not None else "")

    def to_pair(self, pair: Pair) -> None:
        """Show two things side by side, over the mode."""
        from workbench.app.compare.frame import screen_for

        self._host.leave_place()
        self._app.push_screen(screen_for(pair))

    async def to_what_matters(self) -> None:
        """Show what the state of the open session is about: a trial, with the table of all where there are more, or a run."""
        from workbench.app.trials.screen import TrialsScreen
        from workbench.results.sessions import what_matters

        reader = self._host.reader
        found = await asyncio.to_thread(what_matters, reader) if reader is not None else None
        if found is None:
            await self._app.switch_mode("cases")
        elif found.trial is not None:
            await self.to_trial(found.trial)
            if found.trials > 1:
                # One of many says little: the table of all, which leads to each.
                self._app.push_screen(TrialsScreen(found.trial))
        else:
            await self.to_run(found.run)

    # -- lists that stand over a mode

    def to_runs(self) -> None:
        """Show all runs of the open session."""
        from workbench.app.run_list.screen import RunsScreen

        if self._has_session():
            self._app.push_screen(RunsScreen(self._host.selected_run or ""))

    def to_marked(self) -> None:
        """Show all stars, tags and remarks of the open session."""
        from workbench.app.marked.screen import MarkedScreen

        if self._has_session():
            self._app.push_screen(MarkedScreen())

    def to_search(self, searched: Searched) -> None:
        """Search everything that sessions hold; the last search is still there."""
        from workbench.app.search.screen import SearchScreen

        if not isinstance(self._app.screen, SearchScreen):
            self._app.push_screen(SearchScreen(searched))

    def _has_session(self) -> bool:
        if self._host.reader is None:
            self._host.notify("No session is open: press 3 and choose one.", severity="warning")
        return self._host.reader is not None
