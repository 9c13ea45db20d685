"""What a person can do with a trial besides looking: rerun, resume, cancel, annotate, export, open, copy."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.trajectory.loading import state_of

if TYPE_CHECKING:
    from workbench.app.screens.trajectory import TrajectoryScreen


class Deeds:
    """Carries out keys that touch the engine, the disk or another program; all of it in threads but the editor.

    Args:
        screen: The mode whose trial is meant.
    """

    def __init__(self, screen: TrajectoryScreen) -> None:
        self._screen = screen

    def rerun(self) -> None:
        """Run the trial once more and show the new one."""
        place = self._here()
        if place is None:
            return
        session, trial = place
        warm = self._screen.workbench.warm

        def work() -> tuple[Path, str]:
            from workbench.app.runs import own_copy
            from workbench.engine import client

            own = own_copy(session)
            return own, client.rerun(own, trial, warm=warm)

        def done(begun: tuple[Path, str]) -> None:
            own, new = begun
            said = "Started the same agent and model on the case once more"
            if own == session:
                self._screen.notify(f"{said}.")
                self._screen.show_trial(new)
            else:
                self._screen.notify(f"{said}, in a copy of the example: {own.stem}.")
                app = self._screen.workbench
                app.open_session(own, then=lambda: app.show_trial(new))

        self._screen.doing.ask(work, done)

    def resume(self) -> None:
        """Have an engine take up what was interrupted."""
        place, state = self._here(), self._screen.state
        if place is None or state is None:
            return
        session, _ = place
        run = state.trial.run_id
        warm = self._screen.workbench.warm

        def work() -> list[str]:
            from workbench.engine import client

            return client.resume(session, run, warm=warm)

        def done(runs: list[str]) -> None:
            self._screen.notify("An engine takes the run up again." if runs else "Nothing is missing in this run.")

        self._screen.doing.ask(work, done)

    def cancel(self) -> None:
        """Ask the engine to stop the run."""
        place, state = self._here(), self._screen.state
        if place is None or state is None:
            return
        session, run = place[0], state.trial.run_id

        def work() -> None:
            from workbench.engine import client

            client.cancel(session, run)

        self._screen.doing.ask(work, lambda _: self._screen.notify("Asked the engine to stop this run."))

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

    def export(self) -> None:
        """Write a self-contained HTML report beside the session."""
        place = self._here()
        if place is None:
            return
        session, _ = place

        def work() -> Path:
            from workbench.reports import write_report

            target = session.with_suffix(".html")
            write_report(session, "html", target)
            return target

        self._screen.doing.ask(work, lambda path: self._screen.notify(f"Wrote the report {path}.", timeout=10))

    def copy(self) -> None:
        """Copy the text of the current pane."""
        name, text, _ = self._current_text()
        if not text:
            self._screen.notify("There is nothing to copy here.")
            return
        self._screen.app.copy_to_clipboard(text)
        self._screen.notify(f"Copied {name}: {len(text):,} characters.")

    def open_outside(self) -> None:
        """Show the text of the current pane in $EDITOR or $PAGER."""
        from textual.app import SuspendNotSupported

        _, text, suffix = self._current_text()
        program = os.environ.get("EDITOR") or os.environ.get("VISUAL") or os.environ.get("PAGER") or "less"
        if not text:
            self._screen.notify("There is nothing to open here.")
            return
        with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
            path = Path(folder) / f"content{suffix}"
            path.write_text(text, encoding="utf-8", errors="replace")
            try:
                with self._screen.app.suspend():
                    subprocess.run([*shlex.split(program), str(path)], check=False)
            except SuspendNotSupported:
                self._screen.notify(
                    "This terminal cannot hand over to another program; y copies instead.", severity="warning"
                )
            except OSError as error:
                self._screen.notify(f"{program} cannot be started: {error.strerror}. Set $EDITOR.", severity="error")

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

    def _current_text(self) -> tuple[str, str, str]:
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
