"""What a person can do with a regeneration run besides looking; all of it in threads but the editor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.toolkit.actions import RunActions

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.app.regeneration.loading import RunView
    from workbench.app.regeneration.screen import RegenerationScreen
    from workbench.app.toolkit.latest import Latest
    from workbench.app.toolkit.subject import Subject
    from workbench.engine.estimate import Estimate
    from workbench.engine.launching import WarmEngine

MORE_SAMPLES = 5


class Actions(RunActions):
    """Carries out keys that touch the engine, the disk or another program.

    Args:
        host: The app.
        jobs: Does the work in a thread, all of it in its order.
        shown: The run that is meant.
    """

    def __init__(self, host: WorkbenchApp, jobs: Latest, shown: RegenerationScreen) -> None:
        super().__init__(host, jobs)
        self._shown = shown

    def rerun(self) -> None:
        line = self._shown.selected_task
        if line is None:
            return

        def work(session: Path, _: RunView, warm: WarmEngine | None) -> None:
            from workbench.engine.rerunning import rerun_items

            rerun_items(session, line.id, warm=warm)

        said = "Testing this task's samples again; answers that are there are kept."
        self._asking_first(lambda view: self._again(view, line.id), lambda: self._do(work, said))

    def rerun_failed(self) -> None:
        """Test every sample again that did not pass."""

        def work(session: Path, _: RunView, warm: WarmEngine | None) -> None:
            from workbench.engine.rerunning import rerun_items

            rerun_items(session, failed=True, warm=warm)

        said = "Testing every sample again that did not pass; answers that are there are kept."
        self._asking_first(lambda view: self._again(view, failed=True), lambda: self._do(work, said))

    def add_samples(self) -> None:
        """Ask for five more samples of every task."""
        view = self._shown.view
        if view is None:
            return
        wanted = view.samples + MORE_SAMPLES

        def work(session: Path, view: RunView, warm: WarmEngine | None) -> None:
            from workbench.engine.regeneration_client import add_samples

            group = view.group
            add_samples(
                session,
                view.run.id,
                wanted,
                evaluator=group.evaluator,
                prompt=group.prompt,
                context=group.context,
                warm=warm,
            )

        said = f"Asking for {MORE_SAMPLES} more samples: m = {wanted}."
        self._asking_first(self._more, lambda: self._do(work, said))

    def _asking_first(self, estimate: Callable[[RunView], Estimate], then: Callable[[], None]) -> None:
        """Do something with the run, after a question where it will take more than the settings allow unasked."""
        view = self._shown.view
        if view is not None:
            self.when_agreed(lambda: estimate(view), then)

    def _again(self, view: RunView, item: str = "", *, failed: bool = False) -> Estimate:
        from workbench.engine.measured import measure
        from workbench.engine.regeneration_estimate import estimate_again
        from workbench.engine.rerunning import what_again

        session = self._host.session_path
        again = what_again(session, item, failed=failed) if session is not None else []
        return estimate_again(measure(session), again)

    def _more(self, view: RunView) -> Estimate:
        from workbench.engine.estimate import estimate_candidates
        from workbench.engine.measured import measure
        from workbench.engine.plan import RegenerationPlan
        from workbench.engine.regeneration_estimate import building_first

        source = RegenerationPlan.from_json(view.run.config).source
        count = MORE_SAMPLES * view.tasks
        measured = measure(self._host.session_path)
        told = estimate_candidates(measured, source, view.group.evaluator, candidates=count)
        return building_first(told, measured, source)

    def resume(self) -> None:
        def work(session: Path, view: RunView, warm: WarmEngine | None) -> None:
            from workbench.engine import client

            client.resume(session, view.run.id, warm=warm)

        self._do(work, "An engine takes the run up again.")

    def cancel(self) -> None:
        def work(session: Path, view: RunView, _: WarmEngine | None) -> None:
            from workbench.engine import client

            client.cancel(session, view.run.id)

        self._do(work, "Asked the engine to stop this run; what is tested stays.")

    def can(self, action: str) -> bool:
        view = self._shown.view
        if view is None:
            return False
        if action in {"rerun", "rerun_failed", "add_samples"} and self._shown.shows_building:
            return False
        if action == "resume":
            if view.lasting:
                return False
            return view.state in {"interrupted", "failed", "cancelled"} or (
                view.state == "done" and view.totals.again > 0
            )
        if action == "cancel":
            return view.live
        if action in {"copy", "open_outside"}:
            return bool(self.subject().text)
        if action == "rerun":
            return self._shown.selected_task is not None
        if action == "rerun_failed":
            return any(count for verdict, count in view.totals.verdicts.items() if verdict != "passed")
        if action == "add_samples":
            # A control says the same every time, and a file holds what it holds.
            return (
                bool(view.totals.samples)
                and view.evaluator not in {"reference", "stub"}
                and "samples:" not in view.evaluator
            )
        return True

    def subject(self) -> Subject:
        return self._shown.subject()

    def _do(self, work: Callable[[Path, RunView, WarmEngine | None], object], said: str) -> None:
        host, view, warm = self._host, self._shown.view, self._host.warm
        if view is None:
            host.notify("No run is shown.")
            return
        run = view.run.id

        def done(own: Path, _: object) -> str:
            if own != host.session_path:
                host.open_session(own, then=lambda: host.show_run(run))
            return said

        self.on_own(lambda own: work(own, view, warm), done)
