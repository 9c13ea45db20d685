"""What a person can do with a trial besides looking: rerun, resume, cancel, annotate, export, open, copy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.deeds import RunDeeds, Text
from workbench.app.trajectory.loading import state_of

if TYPE_CHECKING:
    from workbench.app.screens.trajectory import TrajectoryScreen


class Deeds(RunDeeds):
    """Carries out keys that touch the engine, the disk or another program; all of it in threads but the editor.

    Args:
        screen: The mode whose trial is meant.
    """

    def __init__(self, screen: TrajectoryScreen) -> None:
        super().__init__(screen)
        self._screen = screen

    def rerun(self) -> None:
        """Run the trial once more and show the new one."""
        state, warm = self._screen.state, self._screen.workbench.warm
        if state is None:
            return
        trial = state.trial.id

        def work(session: Path) -> str:
            from workbench.engine import client

            return client.rerun(session, trial, warm=warm)

        def done(session: Path, new: str) -> str:
            self._show(session, new)
            return "Started the same agent and model on the case once more."

        self.on_own(work, done)

    def resume(self) -> None:
        """Have an engine take up what was interrupted."""
        state, warm = self._screen.state, self._screen.workbench.warm
        if state is None:
            return
        run, trial = state.trial.run_id, state.trial.id

        def work(session: Path) -> list[str]:
            from workbench.engine import client

            return client.resume(session, run, warm=warm)

        def done(session: Path, runs: list[str]) -> str:
            if session != self._screen.workbench.session_path:
                self._show(session, trial)
            return "An engine takes the run up again." if runs else "Nothing is missing in this run."

        self.on_own(work, done)

    def cancel(self) -> None:
        """Ask the engine to stop the run."""
        state = self._screen.state
        if state is None:
            return
        run, trial = state.trial.run_id, state.trial.id

        def work(session: Path) -> None:
            from workbench.engine import client

            client.cancel(session, run)

        def done(session: Path, _: object) -> str:
            if session != self._screen.workbench.session_path:
                self._show(session, trial)
            return "Asked the engine to stop this run."

        self.on_own(work, done)

    def _show(self, session: Path, trial: str) -> None:
        """Show a trial of this session or of another one."""
        app = self._screen.workbench
        if session == app.session_path:
            self._screen.show_trial(trial)
        else:
            app.open_session(session, then=lambda: app.show_trial(trial))

    def annotate(self, text: str) -> None:
        """Keep a remark on the selected step."""
        place = self._here()
        if place is None or not text.strip():
            return
        session, trial = place
        step = self._screen.step_list.selected
        number = step.number if step else None

        def work() -> None:
            from workbench.app.runs import is_example
            from workbench.errors import WorkbenchError
            from workbench.session import SessionWriter

            if is_example(session):
                raise WorkbenchError(
                    "The example that came with the program is only read; remark on a run of your own."
                )
            with SessionWriter(session) as writer:
                writer.annotate(trial, text.strip(), number)

        self._screen.doing.ask(work, lambda _: self._screen.notify("Kept the remark in the session."))

    def can(self, action: str) -> bool:
        """Whether a deed makes sense now."""
        state = self._screen.state
        if state is None:
            return False
        if action == "resume":
            return state_of(state) in {"interrupted", "failed", "cancelled"}
        if action == "cancel":
            return state.live
        return True

    def current_text(self) -> Text:
        """Return a name for the text of the current pane, the text, and a suffix for a file that holds it."""
        screen = self._screen
        if screen.outcome.has_class("-current"):
            tab = screen.outcome.tab
            suffix = {"README": ".md", "Metadata": ".json"}.get(tab, ".diff")
            return tab, screen.outcome.text.document.text, suffix
        step = screen.step_list.selected
        tab = screen.content.tab
        named = Path(step.target).suffix if step is not None and tab == "Observation" else ""
        suffix = named if named[1:].isalnum() else ".txt"
        return f"the {tab.lower()} of step {step.number if step else 0}", screen.content.text.document.text, suffix

    def _here(self) -> tuple[Path, str] | None:
        session, state = self._screen.workbench.session_path, self._screen.state
        if session is None or state is None:
            self._screen.notify("No trial is shown.")
            return None
        return session, state.trial.id
