"""The part of the Trajectory mode that follows a trial: what is read when, in which thread, and how often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from workbench.app.key_table import with_keys
from workbench.app.toolkit.latest import Latest, Live
from workbench.app.trajectory import loading
from workbench.app.trajectory.repository_pane import Coverage, Entry, entries_of

if TYPE_CHECKING:
    from workbench.app.trajectory.loading import TrialState
    from workbench.app.trajectory.screen import TrajectoryScreen
    from workbench.session.reader import SessionReader
    from workbench.session.rows import StepRow

Tree = tuple[list[Entry], Coverage]
"""The files of a trial's repository, and how much of them was seen."""


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at a trial found: ``steps`` stand behind the first ``after`` ones that are known; no ``tree`` is the known one."""

    state: TrialState
    steps: list[StepRow]
    after: int
    tree: Tree | None


class Following:
    """Reads the trial that the screen shows and keeps the screen in step with it.

    Args:
        screen: The view that is kept in step.
    """

    def __init__(self, screen: TrajectoryScreen) -> None:
        self._screen = screen
        self.loading_trial = Latest(screen, "trial")
        self.loading_rest = Live(screen, "rest", self._look, self._show, seconds=loading.REFRESH_SECONDS)
        self._tree_of: TrialState | None = None  # the state whose tree is shown
        self._tree_at = 0.0

    @property
    def idle(self) -> bool:
        """Whether nothing is being read and nothing is about to be."""
        return self.loading_trial.idle and self.loading_rest.settled

    def load_latest(self, reader: SessionReader) -> None:
        """Show the session's most telling trial from its beginning."""

        def done(trial: str | None) -> None:
            if trial is None:
                self._screen.show_reason(with_keys(loading.NO_TRIALS))
            else:
                self._screen.show_trial(trial)

        def work() -> str | None:
            # Imported in the thread: the first paint does without.
            from workbench.results.trials import latest_trial

            return latest_trial(reader)

        self.loading_trial.ask(work, done, self._screen.show_reason)

    def load(self, reader: SessionReader, trial: str) -> None:
        def work() -> Look | None:
            state = loading.load_trial(reader, trial)
            if state is None:
                return None
            steps = reader.steps(trial, 0, loading.FIRST_STEPS)
            return Look(state, steps, 0, entries_of(state.files, state.seen))

        self.loading_trial.ask(work, self._screen.begin, self._screen.show_reason)

    def begun(self) -> None:
        """Another trial is shown: what was still to be read of the one before is not."""
        self.loading_rest.drop_waiting()

    def tree_shown(self, state: TrialState) -> None:
        self._tree_of, self._tree_at = state, monotonic()

    def _look(self, reader: SessionReader) -> Callable[[], Look | None] | None:
        screen, grown, state = self._screen, self._tree_of, self._screen.state
        if state is None:
            return None
        keep, number = screen.step_list.known_tail()
        tree_due = monotonic() - self._tree_at > loading.TREE_SECONDS

        def work() -> Look | None:
            fresh = loading.load_trial(reader, state.trial.id, state)
            if fresh is None:
                return None
            steps = reader.steps(state.trial.id, number, loading.PAGE_OF_STEPS)
            same = grown is not None and fresh.seen is grown.seen and fresh.files is grown.files
            return Look(fresh, steps, keep, entries_of(fresh.files, fresh.seen) if tree_due and not same else None)

        return work

    def _show(self, look: Look | None) -> None:
        now = self._screen.state
        if look is not None and now is not None and look.state.trial.id == now.trial.id:
            self._screen.apply(look)
            if self._tree_of is not None and self._tree_of.seen is not look.state.seen:
                self.loading_rest.refresh_soon()

    def rest_soon(self) -> None:
        """Read the steps that are not there yet once those that are have been painted."""
        self._screen.set_timer(loading.REST_SECONDS, self._load_rest)

    def _load_rest(self) -> None:
        screen = self._screen
        reader, state, known = screen.reader, screen.state, screen.step_list.steps
        if reader is None or state is None or not known or not self.loading_rest.idle:
            return
        after, number, trial = len(known), known[-1].number, state.trial.id

        def work() -> list[StepRow]:
            return reader.steps(trial, number, loading.PAGE_OF_STEPS)

        def done(page: list[StepRow]) -> None:
            now = screen.state
            if now is not None and now.trial.id == trial and len(screen.step_list.steps) == after and page:
                screen.add_page(page, after)
                if len(screen.step_list.steps) < now.step_count:
                    self._load_rest()

        self.loading_rest.ask(work, done)
