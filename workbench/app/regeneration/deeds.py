"""What a person can do with a regeneration run besides looking; all of it in threads but the editor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.deeds import RunDeeds, Text
from workbench.app.regeneration.building import FallenList

if TYPE_CHECKING:
    from workbench.app.regeneration.loading import RunView
    from workbench.app.screens.regeneration import RegenerationScreen
    from workbench.engine.client import WarmEngine

MORE_SAMPLES = 5


class Deeds(RunDeeds):
    """Carries out keys that touch the engine, the disk or another program.

    Args:
        screen: The mode whose run is meant.
    """

    def __init__(self, screen: RegenerationScreen) -> None:
        super().__init__(screen)
        self._screen = screen

    def rerun(self) -> None:
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

    def can(self, action: str) -> bool:
        """Whether a deed makes sense now."""
        view = self._screen.view
        if view is None:
            return False
        if action in {"rerun", "rerun_failed", "add_samples"} and self._screen.has_class("-building"):
            return False
        if action == "resume":
            return view.state in {"interrupted", "failed", "cancelled"}
        if action == "cancel":
            return view.live
        if action in {"copy", "open_outside"}:
            return bool(self.current_text()[1])
        if action == "rerun":
            return self._screen.table.selected is not None
        if action == "rerun_failed":
            return any(count for verdict, count in view.verdicts.items() if verdict != "passed")
        if action == "add_samples":
            # A control says the same every time, and a file holds what it holds.
            return bool(view.total) and view.evaluator not in {"reference", "stub"} and "samples:" not in view.evaluator
        return True

    def current_text(self) -> Text:
        """Return a name for the text of the current pane, the text, and a suffix for a file that holds it."""
        screen = self._screen
        if screen.has_class("-building"):
            listed = screen.building.query_one(FallenList).entries
            return "what was dropped", "\n".join("\t".join(entry) for entry in listed), ".tsv"
        if screen.failing.has_class("-current"):
            return "the failing tests", screen.failing.text.document.text, ".txt"
        tab = screen.sample.tab
        suffix = {"Diff": ".diff", "Candidate": ".py", "Answer": ".md", "Prompt": ".md"}.get(tab, ".txt")
        return f"the {tab.lower()}", screen.sample.text.document.text, suffix

    def _do(self, work: Callable[[Path, RunView, WarmEngine | None], object], said: str) -> None:
        screen, view, warm = self._screen, self._screen.view, self._screen.workbench.warm
        if view is None:
            screen.notify("No run is shown.")
            return
        run = view.run.id

        def done(own: Path, _: object) -> str:
            if own != screen.workbench.session_path:
                from workbench.app.regeneration.starting import show_run

                screen.workbench.open_session(own, then=lambda: show_run(screen.workbench, run))
            return said

        self.on_own(lambda own: work(own, view, warm), done)
