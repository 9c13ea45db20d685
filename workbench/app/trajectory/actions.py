"""What a person can do with a trial besides looking: rerun, resume, cancel, annotate, export, open, copy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.toolkit.actions import RunActions
from workbench.app.trajectory import going_on
from workbench.app.trajectory.loading import state_of

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.app.toolkit.document import Subject
    from workbench.app.toolkit.latest import Latest
    from workbench.app.trajectory.loading import TrialState
    from workbench.app.trajectory.screen import TrajectoryScreen
    from workbench.engine.trial_orders import Edit


class Actions(RunActions):
    """Carries out keys that touch the engine, the disk or another program; all of it in threads but the editor.

    Args:
        host: The app.
        jobs: Does the work in a thread, all of it in its order.
        shown: The trial that is meant.
    """

    def __init__(self, host: WorkbenchApp, jobs: Latest, shown: TrajectoryScreen) -> None:
        super().__init__(host, jobs)
        self._shown = shown

    def rerun(self) -> None:
        state = self._shown.state
        if state is not None:
            self.when_agreed(lambda: going_on.again(self._host, state), lambda: self.run_again(state))

    def run_again(self, state: TrialState, model: str = "") -> None:
        """Run a trial once more, with another model where one is named, and show the new one."""
        warm = self._host.warm
        trial = state.trial.id

        def work(session: Path) -> str:
            from workbench.engine import client

            return client.rerun(session, trial, model=model or None, warm=warm)

        def done(session: Path, new: str) -> str:
            self._show(session, new)
            return f"Started the same agent on the case with {model or 'the same model'} once more."

        self.on_own(work, done)

    def fork(self, state: TrialState, step: int, edit: Edit, model: str, then: Callable[[], None]) -> None:
        """Go on from a step of a trial with an edited text, and show the fork.

        Args:
            state: The trial.
            step: The last step that is taken over.
            edit: What of it is replaced.
            model: Who goes on.
            then: Called once the fork is in the session.
        """
        warm, trial = self._host.warm, state.trial.id

        def work(session: Path) -> str:
            from workbench.engine.trial_orders import fork

            return fork(session, trial, step, edit, model=model, warm=warm).trial

        def done(session: Path, new: str) -> str:
            then()
            self._show(session, new)
            return f"Goes on from step {step}; what came before is taken over and not paid again."

        self.on_own(work, done)

    def check_readme(self, block: int = -1) -> None:
        """Have an engine check the README, or run one of its blocks again."""
        state, warm = self._shown.state, self._host.warm
        if state is None:
            return
        if state.check_run:
            self._host.notify(f"This README is being checked already; {key_of('trajectory.cancel')} stops it.")
            return
        trial = state.trial.id

        def work(session: Path) -> str:
            from workbench.engine import launching
            from workbench.engine.trial_orders import plan_check
            from workbench.sandbox.errors import NoIsolation

            alone = ""
            try:
                run, _ = plan_check(session, [trial], block=block, anew=True)
            except NoIsolation as error:
                if block >= 0:
                    raise
                run, _ = plan_check(session, [trial], execute=False, anew=True)
                alone = f"{error} Names are looked up all the same."
            if not run:
                return f"This README is being checked already; {key_of('trajectory.cancel')} stops it."
            launching.launch(session, run, warm)
            return alone

        def done(session: Path, alone: str) -> str:
            if session != self._host.session_path:
                self._show(session, trial)
            said = (
                "Runs this block again, after those before it."
                if block >= 0
                else "Checks the README: its blocks run in a sandbox without network."
            )
            return alone or said

        self.on_own(work, done)

    def resume(self) -> None:
        state, warm = self._shown.state, self._host.warm
        if state is None:
            return
        run, trial = state.trial.run_id, state.trial.id

        def work(session: Path) -> list[str]:
            from workbench.engine import client

            return client.resume(session, run, warm=warm)

        def done(session: Path, runs: list[str]) -> str:
            if session != self._host.session_path:
                self._show(session, trial)
            return "An engine takes the run up again." if runs else "Nothing is missing in this run."

        self.on_own(work, done)

    def cancel(self) -> None:
        state = self._shown.state
        if state is None:
            return
        trial, checking = state.trial.id, not state.live and bool(state.check_run)
        run = state.check_run if checking else state.trial.run_id

        def work(session: Path) -> None:
            from workbench.engine import client

            client.cancel(session, run)

        def done(session: Path, _: object) -> str:
            if session != self._host.session_path:
                self._show(session, trial)
            return "Asked the engine to stop the check." if checking else "Asked the engine to stop this run."

        self.on_own(work, done)

    def _show(self, session: Path, trial: str) -> None:
        app = self._host
        if session == app.session_path:
            self._shown.show_trial(trial)
        else:
            app.open_session(session, then=lambda: app.show_trial(trial))

    def annotate(self, subject: Subject, text: str) -> None:
        """Keep a remark on a step or criterion, on the trial what is about neither."""
        place, said = self._here(), subject.remark(text)
        if place is None or not said:
            return
        session, trial = place

        def work() -> None:
            from workbench.app.runs import is_example
            from workbench.errors import WorkbenchError
            from workbench.session import SessionWriter

            if is_example(session):
                raise WorkbenchError(
                    "The example that came with the program is only read; remark on a run of your own."
                )
            with SessionWriter(session) as writer:
                writer.annotate(trial, said, subject.step, criterion=subject.criterion)

        self._jobs.ask(work, lambda _: self._host.notify("Kept the remark in the session."))

    def can(self, action: str) -> bool:
        state = self._shown.state
        if state is None:
            return False
        if action == "resume":
            return state_of(state) in {"interrupted", "unscored", "failed", "cancelled"}
        if action == "cancel":
            return state.live or bool(state.check_run)
        if action == "fork":
            return state.step_count > 0
        return True

    def subject(self) -> Subject:
        return self._shown.subject()

    def _here(self) -> tuple[Path, str] | None:
        session, state = self._host.session_path, self._shown.state
        if session is None or state is None:
            self._host.notify("No trial is shown.")
            return None
        return session, state.trial.id
