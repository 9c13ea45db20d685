"""The actions on a trial: rerun, rescore, fork, check, resume and cancel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.app.keys import key_of
from workbench.app.location import Location
from workbench.app.toolkit.actions import RunActions, edited_text
from workbench.app.toolkit.fields import Completion, Field, Values
from workbench.app.toolkit.form import Form
from workbench.app.toolkit.order_form import check_named_model
from workbench.app.trajectory.trial_state import state_of
from workbench.base.errors import UsageError
from workbench.base.text import plural

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.app.trajectory.screen import TrajectoryScreen
    from workbench.app.trajectory.trial_state import TrialState
    from workbench.orders.measured import MeasuredRates
    from workbench.orders.rescore import RescoreOrder
    from workbench.session.rows import StepRow


class TrialActions(RunActions):
    """Runs the actions that involve the engine, the disk or another program; all but the editor run in threads."""

    def __init__(self, shown: TrajectoryScreen) -> None:
        super().__init__(shown)
        self._shown = shown
        # Edits for forks that have not been started, by trial, step and edited part.
        self._drafts: dict[tuple[str, int, str], str] = {}

    def can(self, action: str) -> bool:
        state = self._shown.state
        if state is None:
            return False
        if state.run is not None and state.run.has_candidates and action not in ("resume", "cancel"):
            return False  # the trial of a reader agent, which wrote a sample: rerun the sample
        if action == "resume":
            return state_of(state) in {"interrupted", "unscored", "failed", "cancelled"}
        if action == "cancel":
            return state.live or bool(state.check_run)
        if action == "fork":
            return state.step_count > 0
        if action == "rescore":
            return state.trial.state == "done" and state.trial.readme_blob is not None
        return True

    def _start(self, order: Callable[[Path], Any], text: str, then: Callable[[], object] = lambda: None) -> None:
        """Start an order for a trial and show the new trial, asking for confirmation first if it is expensive."""

        def begin(session: Path) -> str:
            trial: str = order(session).begin(warm=self._host.warm).trial
            then()
            return trial

        def start() -> None:
            self.on_writable(
                begin, lambda _: text, lambda own, trial: Location(own, "trajectory", trial), self._shown.show_trial
            )

        self.after_confirmation(order, start)

    def _with_trial(self, work: Callable[[Path, TrialState], Any], notice: Callable[[Any], str]) -> None:
        state = self._shown.state
        if state is not None:
            self.on_writable(
                lambda own: work(own, state), notice, lambda own, _: Location(own, "trajectory", state.trial.id)
            )

    def rerun(self, model: str = "") -> None:
        from workbench.orders.rerun import RerunTrialOrder

        state = self._shown.state
        if state is not None:
            text = f"Started a rerun with {model or 'the same model'}."
            self._start(lambda session: RerunTrialOrder(session, state.trial.id, model=model), text)

    def rerun_model(self) -> None:
        """Ask for a model and rerun the trial with it."""
        from workbench.orders.rerun import RerunTrialOrder

        session, state = self._host.session_path, self._shown.state
        if state is None or session is None:
            return
        of = f"{state.trial.case_name or state.trial.case_id} × {state.trial.agent}"

        def summarize(model: str, measured: MeasuredRates) -> str:
            estimate = RerunTrialOrder(session, state.trial.id, model=model).estimate(measured)
            return f"{of} × {model} = {estimate.sentence()}."

        def start(model: str | None) -> None:
            if model is not None:
                self.rerun("" if model == state.trial.model else model)

        self._host.push_screen(ModelDialog(self._host, f"Rerun: {of}", state.trial.model, summarize), start)

    def rescore(self) -> None:
        from workbench.app.trajectory.rescore_dialog import RescoreDialog

        session, state, host = self._host.session_path, self._shown.state, self._host
        if state is None or session is None:
            return

        def show(order: RescoreOrder) -> None:
            host.notify("Rescoring; the scores of other judges are kept.")
            if order.session != session:  # the order was placed in a copy of an example session
                host.go_to(Location(order.session, "trajectory", state.trial.id))

        host.push_screen(RescoreDialog(host, session, state.trial.id, show))

    def fork(self) -> None:
        """Let the user edit a step, choose the model to continue with, and start the fork.

        On the Thought and Action tabs the user edits the model's message, on the other tabs the observation.
        """
        state, step = self._shown.state, self._shown.step_list.selected
        if state is not None and step is not None:
            self._shown.run_worker(self._edit_and_fork(state, step, self._shown.content.tab))

    async def _edit_and_fork(self, state: TrialState, step: StepRow, tab: str) -> None:
        from workbench.orders.fork import Edit, ForkOrder, editable

        host, reader, trial, session = self._host, self._host.reader, state.trial, self._host.session_path
        choices = editable(step)
        if reader is None or session is None or not choices:
            host.notify(f"Step {step.number} has nothing to edit.", severity="warning")
            return
        if state.live:
            host.notify("The trial is still running; fork it when it has ended.", severity="warning")
            return
        what = "message" if tab in {"Thought", "Action"} and "message" in choices else choices[0]
        before = await asyncio.to_thread(
            reader.text, step.observation_blob if what == "observation" else step.answer_blob
        )
        key = (trial.id, step.number, what)
        suffix = ".json" if what == "observation" and before.lstrip().startswith(("[", "{")) else ".txt"
        title = f"The {what} of step {step.number}"
        if what == "observation" and "message" in choices:
            title += f" (for the agent's message press {key_of('trajectory.fork')} on Thought or Action)"
        text = await edited_text(host, title, self._drafts.get(key, before), suffix)
        if text is None:
            return
        self._drafts[key] = text
        changed = text != before
        edit = Edit(what, text) if changed else Edit()

        def order(session: Path, model: str) -> ForkOrder:
            return ForkOrder(session, trial.id, step.number, edit, model=model)

        def summarize(model: str, measured: MeasuredRates) -> str:
            edited = f"the {what} of step {step.number} edited" if changed else "nothing edited"
            took = order(session, model).estimate(measured).sentence()
            return (
                f"Inherits {plural(step.number, 'step')}, {edited}; then {trial.agent} continues with {model}: {took}."
            )

        def refused(model: str) -> str:
            if not changed and model == trial.model:
                return "Nothing was changed: choose another model, or cancel and edit the step."
            if step.kind == "respond" and not changed:
                return "The agent submitted at this step: edit its message, or fork an earlier step."
            return ""

        dialog = ModelDialog(host, f"Fork at step {step.number}", trial.model, summarize, refused)
        model = await host.push_screen_wait(dialog)
        if model is None:
            kept = f" Press {key_of('trajectory.fork')} on this step to continue editing." if changed else ""
            host.notify(f"Nothing was started.{kept}")
            return
        message = f"Forked at step {step.number}; earlier steps are inherited at no cost."
        self._start(lambda session: order(session, model), message, lambda: self._drafts.pop(key, None))

    def check_readme(self, block: int = -1) -> None:
        """Have an engine check the README, or only the block with index ``block`` unless that is -1."""
        already_running = f"This README is already being checked; {key_of('trajectory.cancel')} cancels the check."
        if self._shown.state is not None and self._shown.state.check_run:
            self._host.notify(already_running)
            return

        def work(session: Path, state: TrialState) -> str:
            from workbench.orders.check import CheckOrder
            from workbench.sandbox.types import NoIsolation

            order, alone = CheckOrder(session, [state.trial.id], block=block, anew=True), ""
            try:
                order.check()
            except NoIsolation as error:
                if block >= 0:
                    raise
                order.execute, alone = False, f"{error} Claims are still looked up."
            return alone if order.begin(warm=self._host.warm).runs else already_running

        text = "Checking the README: its blocks run in a sandbox without network."
        if block >= 0:
            text = "Running this block again, after the blocks before it."
        self._with_trial(work, lambda alone: alone or text)

    def resume(self) -> None:
        def work(session: Path, state: TrialState) -> list[str]:
            from workbench.orders import running

            return running.resume(session, state.trial.run_id, warm=self._host.warm)

        self._with_trial(work, lambda runs: "Resuming the run." if runs else "This run is complete.")

    def cancel(self) -> None:
        def work(session: Path, state: TrialState) -> str:
            from workbench.orders import running

            checking = not state.live and state.check_run
            running.cancel(session, checking or state.trial.run_id)
            return f"Cancelling {'the check' if checking else 'the run'}."

        self._with_trial(work, str)


class ModelDialog(Form[str]):
    """Asks for a model and describes the effect and cost of starting with it.

    ``refused`` returns why a model is not suitable here, or "" if it is.
    """

    LIVE = True

    def __init__(
        self,
        host: WorkbenchApp,
        title: str,
        model: str,
        summarize: Callable[[str, MeasuredRates], str],
        refused: Callable[[str], str] = lambda model: "",
    ) -> None:
        from workbench.models.defaults import available_models

        self._host, self._summarize, self._refused = host, summarize, refused
        self._measured: MeasuredRates | None = None
        self._known: Sequence[str] = available_models()
        field = Field("model", model, self._about, self._known, paths=True, needed="Name a model.", check=self._check)
        super().__init__(title, (field,), "model")

    def _check(self, model: str) -> None:
        check_named_model(model, "the agent", self._host.settings)
        if problem := self._refused(model):
            raise UsageError(problem)

    def _about(self, values: Values) -> str:
        used = f"Recent: {', '.join(self._known[:4])}. " if self._known else ""
        return f"{used}Any LiteLLM name, local or replay:SESSION. Enter starts, {key_of('dialog.cancel')} cancels."

    def read(self, values: Values) -> str:
        return str(values["model"])

    def summary(self, answer: str, values: Values) -> str:
        from workbench.orders.measured import measure

        if self._measured is None:
            self._measured = measure(self._host.session_path)
            self._known = tuple(dict.fromkeys((*(rate.model for rate in self._measured.trials), *self._known)))
        return self._summarize(answer, self._measured)

    def show_summary(self, text: str) -> None:
        self._lines["model"].suggester = Completion(self._known, paths=True)
        super().show_summary(text)
