"""What a person can do with a regeneration run besides looking; all of it in threads but the editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.app.regeneration.loading import RunView
    from workbench.app.screens.regeneration import RegenerationScreen
    from workbench.engine.client import WarmEngine

MORE_SAMPLES = 5


class Deeds:
    """Carries out keys that touch the engine, the disk or another program.

    Args:
        screen: The mode whose run is meant.
    """

    def __init__(self, screen: RegenerationScreen) -> None:
        self._screen = screen

    def rerun_task(self) -> None:
        """Test the samples of the selected task again; those without an answer are asked for."""
        line = self._screen.table.selected
        if line is None:
            return

        def work(session: Path, _: RunView, warm: WarmEngine | None) -> None:
            from workbench.engine.regeneration_client import rerun_items

            rerun_items(session, line.id, warm=warm)

        self._do(work, "Testing this task's samples again; answers that are there are kept.")

    def rerun_failed(self) -> None:
        """Test every sample again that did not pass."""

        def work(session: Path, _: RunView, warm: WarmEngine | None) -> None:
            from workbench.engine.regeneration_client import rerun_items

            rerun_items(session, failed=True, warm=warm)

        self._do(work, "Testing every sample again that did not pass; answers that are there are kept.")

    def add_samples(self) -> None:
        """Ask for five more samples of every task."""
        view = self._screen.view
        if view is None:
            return
        wanted = view.samples + MORE_SAMPLES

        def work(session: Path, view: RunView, warm: WarmEngine | None) -> None:
            from workbench.engine.regeneration_client import add_samples

            add_samples(session, view.run.id, wanted, warm=warm)

        self._do(work, f"Asking for {MORE_SAMPLES} more samples: m = {wanted}.")

    def resume(self) -> None:
        """Have an engine take up what is missing."""

        def work(session: Path, view: RunView, warm: WarmEngine | None) -> None:
            from workbench.engine import client

            client.resume(session, view.run.id, warm=warm)

        self._do(work, "An engine takes the run up again.")

    def cancel(self) -> None:
        """Ask the engine to stop the run."""

        def work(session: Path, view: RunView, _: WarmEngine | None) -> None:
            from workbench.engine import client

            client.cancel(session, view.run.id)

        self._do(work, "Asked the engine to stop this run; what is tested stays.")

    def export(self) -> None:
        """Write a self-contained HTML report beside the session."""
        session = self._screen.workbench.session_path
        if session is None:
            return

        def work() -> Path:
            from workbench.reports import write_report

            target = session.with_suffix(".html")
            write_report(session, "html", target)
            return target

        self._screen.doing.ask(work, lambda path: self._screen.notify(f"Wrote the report {path}.", timeout=10))

    def copy(self) -> None:
        """Copy the text of the current pane."""
        name, text, _ = self._current_text()
        self._screen.app.copy_to_clipboard(text)
        self._screen.notify(f"Copied {name}: {len(text):,} characters.")

    def open_outside(self) -> None:
        """Show the text of the current pane in $EDITOR or $PAGER."""
        from textual.app import SuspendNotSupported

        _, text, suffix = self._current_text()
        program = os.environ.get("EDITOR") or os.environ.get("VISUAL") or os.environ.get("PAGER") or "less"
        with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
            path = Path(folder) / f"sample{suffix}"
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
        view = self._screen.view
        if view is None:
            return False
        if action in {"rerun_task", "rerun_failed", "add_samples"} and self._screen.has_class("-building"):
            return False
        if action == "resume":
            return view.state in {"interrupted", "failed", "cancelled"}
        if action == "cancel":
            return view.live
        if action in {"copy", "open_outside"}:
            return bool(self._current_text()[1])
        if action == "rerun_task":
            return self._screen.table.selected is not None
        if action == "rerun_failed":
            return any(count for verdict, count in view.verdicts.items() if verdict != "passed")
        if action == "add_samples":
            # A control says the same every time, and a file holds what it holds.
            return bool(view.total) and view.evaluator not in {"reference", "stub"} and "samples:" not in view.evaluator
        return True

    def _current_text(self) -> tuple[str, str, str]:
        """Return a name for the text of the current pane, the text, and a suffix for a file that holds it."""
        screen = self._screen
        if screen.failing.has_class("-current"):
            return "the failing tests", screen.failing.text.document.text, ".txt"
        tab = screen.sample.tab
        suffix = {"Diff": ".diff", "Candidate": ".py", "Answer": ".md", "Prompt": ".md"}.get(tab, ".txt")
        return f"the {tab.lower()}", screen.sample.text.document.text, suffix

    def _do(self, work: Callable[[Path, RunView, WarmEngine | None], Any], said: str) -> None:
        screen = self._screen
        session, view, warm = screen.workbench.session_path, screen.view, screen.workbench.warm
        if session is None or view is None:
            screen.notify("No run is shown.")
            return

        def on_own() -> Path:
            from workbench.app.runs import own_copy

            own = own_copy(session)
            work(own, view, warm)
            return own

        def done(own: Path) -> None:
            screen.notify(said if own == session else f"{said} In a copy of the example: {own.stem}.")
            if own != session:
                screen.workbench.open_session(own)

        screen.doing.ask(on_own, done)
