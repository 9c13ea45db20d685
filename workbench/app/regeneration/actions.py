"""What a person can do with a regeneration run besides looking: rerun, resume, mark, compare; all of it in threads but the editor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.location import Location
from workbench.app.toolkit.actions import RunActions
from workbench.session.groups import CONTROLS

if TYPE_CHECKING:
    from workbench.app.regeneration.screen import RegenerationScreen
    from workbench.engine.estimate import Estimate
    from workbench.results.regeneration_runs import RunView

MORE_SAMPLES = 5


class Actions(RunActions):
    """Carries out keys that touch the engine, the disk or another program."""

    def __init__(self, shown: RegenerationScreen) -> None:
        super().__init__(shown)
        self._shown = shown

    def rerun(self) -> None:
        line = self._shown.selected_task
        if line is not None:
            self._rerun("Testing this task's samples again", line.id)

    def rerun_failed(self) -> None:
        """Test every sample again that did not pass."""
        self._rerun("Testing every sample again that did not pass", failed=True)

    def _rerun(self, said: str, item: str = "", *, failed: bool = False) -> None:
        warm, session = self._host.warm, self._host.session_path

        def estimate() -> Estimate:
            from workbench.engine.measured import measure
            from workbench.engine.regeneration_estimate import estimate_again
            from workbench.engine.rerunning import what_again

            again = what_again(session, item, failed=failed) if session is not None else []
            return estimate_again(measure(session), again)

        def do(own: Path, _: RunView) -> None:
            from workbench.engine.rerunning import rerun_orders

            rerun_orders(own, item, failed=failed, warm=warm)

        if self._shown.view is not None:
            self.when_agreed(estimate, lambda: self._do(do, f"{said}; answers that are there are kept."))

    def add_samples(self) -> None:
        """Ask for five more samples of every task."""
        view, warm, session = self._shown.view, self._host.warm, self._host.session_path
        if view is None:
            return
        wanted = view.samples + MORE_SAMPLES

        def estimate() -> Estimate:
            from workbench.engine.estimate import estimate_candidates
            from workbench.engine.measured import measure
            from workbench.engine.plan import RegenerationPlan
            from workbench.engine.regeneration_estimate import building_first

            source, measured = RegenerationPlan.from_json(view.run.config).source, measure(session)
            told = estimate_candidates(measured, source, view.evaluator, candidates=MORE_SAMPLES * view.tasks)
            return building_first(told, measured, source)

        def do(own: Path, now: RunView) -> None:
            from workbench.engine.regeneration_client import add_samples

            group = now.group
            asked = {"evaluator": group.evaluator, "prompt": group.prompt, "context": group.context}
            add_samples(own, now.run.id, wanted, **asked, warm=warm)

        said = f"Asking for {MORE_SAMPLES} more samples: m = {wanted}."
        self.when_agreed(estimate, lambda: self._do(do, said))

    def resume(self) -> None:
        from workbench.engine import client

        warm = self._host.warm
        self._do(lambda own, view: client.resume(own, view.run.id, warm=warm), "An engine takes the run up again.")

    def cancel(self) -> None:
        from workbench.engine import client

        said = "Asked the engine to stop this run; what is tested stays."
        self._do(lambda own, view: client.cancel(own, view.run.id), said)

    def can(self, action: str) -> bool:
        view = self._shown.view
        if view is None or (action in {"rerun", "rerun_failed", "add_samples"} and self._shown.shows_building):
            return False
        match action:
            case "resume":
                unfinished = view.state in {"interrupted", "failed", "cancelled"}
                return not view.lasting and (unfinished or (view.state == "done" and view.totals.again > 0))
            case "cancel":
                return view.live
            case "copy" | "open_outside":
                return bool(self._subject().text)
            case "rerun":
                return self._shown.selected_task is not None
            case "rerun_failed":
                return any(count for verdict, count in view.totals.verdicts.items() if verdict != "passed")
            case "add_samples":
                # A control says the same every time, and a file holds what it holds.
                fixed = view.evaluator in CONTROLS or "samples:" in view.evaluator
                return bool(view.totals.samples) and not fixed
            case _:
                return True

    def _do(self, work: Callable[[Path, RunView], object], said: str) -> None:
        view = self._shown.view
        if view is None:
            self._host.notify("No run is shown.")
        else:
            self.on_own(
                lambda own: work(own, view), lambda _: said, lambda own, _: Location(own, "regeneration", view.run.id)
            )
