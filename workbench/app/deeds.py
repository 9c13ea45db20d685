"""What a person can do with a run besides looking, as far as it is the same in every mode that follows one."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.app.screens.run_screen import RunScreen

Text = tuple[str, str, str]
"""A name for a text, the text, and a suffix for a file that holds it."""


class RunDeeds:
    """Carries out keys that touch the engine, the disk or another program; all of it in threads but the editor.

    Args:
        screen: The mode whose run is meant.
    """

    def __init__(self, screen: RunScreen) -> None:
        self._mode = screen

    def can(self, action: str) -> bool:
        """Return whether a deed makes sense now."""
        raise NotImplementedError

    def current_text(self) -> Text:
        """Return the text of the current pane."""
        raise NotImplementedError

    def rerun(self) -> None:
        """Do the selected work once more."""
        raise NotImplementedError

    def resume(self) -> None:
        """Have an engine take up what is missing."""
        raise NotImplementedError

    def cancel(self) -> None:
        """Ask the engine to stop the run."""
        raise NotImplementedError

    def on_own(self, work: Callable[[Path], Any], done: Callable[[Path, Any], str]) -> None:
        """Do something that writes into the session, or into a copy of an example, which is only read.

        Args:
            work: Called with the session in a thread.
            done: Called with the session and what ``work`` gave; returns what to tell.
        """
        mode = self._mode
        session = mode.workbench.session_path
        if session is None:
            mode.notify("No session is open.")
            return

        def in_thread() -> tuple[Path, Any]:
            from workbench.app.runs import own_copy

            own = own_copy(session)
            return own, work(own)

        def told(begun: tuple[Path, Any]) -> None:
            own, value = begun
            said = done(own, value)
            mode.notify(said if own == session else f"{said} In a copy of the example: {own.stem}.")

        mode.doing.ask(in_thread, told)

    def export(self) -> None:
        """Write a self-contained HTML report beside the session."""
        session = self._mode.workbench.session_path
        if session is None:
            return

        def work() -> Path:
            from workbench.reports import write_report

            target = session.with_suffix(".html")
            write_report(session, "html", target)
            return target

        self._mode.doing.ask(work, lambda path: self._mode.notify(f"Wrote the report {path}.", timeout=10))

    def copy(self) -> None:
        """Copy the text of the current pane."""
        name, text, _ = self.current_text()
        if not text:
            self._mode.notify("There is nothing to copy here.")
            return
        self._mode.app.copy_to_clipboard(text)
        self._mode.notify(f"Copied {name}: {len(text):,} characters.")

    def open_outside(self) -> None:
        """Show the text of the current pane in $EDITOR or $PAGER."""
        from textual.app import SuspendNotSupported

        _, text, suffix = self.current_text()
        program = os.environ.get("EDITOR") or os.environ.get("VISUAL") or os.environ.get("PAGER") or "less"
        if not text:
            self._mode.notify("There is nothing to open here.")
            return
        with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
            path = Path(folder) / f"content{suffix}"
            path.write_text(text, encoding="utf-8", errors="replace")
            try:
                with self._mode.app.suspend():
                    subprocess.run([*shlex.split(program), str(path)], check=False)
            except SuspendNotSupported:
                self._mode.notify(
                    "This terminal cannot hand over to another program; y copies instead.", severity="warning"
                )
            except OSError as error:
                self._mode.notify(f"{program} cannot be started: {error.strerror}. Set $EDITOR.", severity="error")
