"""Once more with another model, or on from a step with an edited text: asks, says what it will take, and starts it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.toolkit.fields import Completion, Field, Values
from workbench.app.toolkit.form import Form
from workbench.app.toolkit.ordering import check_named_model
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.app.trajectory.actions import Actions
    from workbench.app.trajectory.loading import TrialState
    from workbench.engine.estimate import Estimate, Measured
    from workbench.session.rows import StepRow


class ModelDialog(Form[str]):
    """Ends with the model.

    Args:
        host: The app.
        title: What is started.
        model: Model to start with.
        says: What starting with a model will do, by what former work took; called in a thread.
        refused: Why it makes no sense with a model, "" where it does.
    """

    LIVE = True

    def __init__(
        self,
        host: WorkbenchApp,
        title: str,
        model: str,
        says: Callable[[str, Measured], str],
        refused: Callable[[str], str] = lambda model: "",
    ) -> None:
        from workbench.models.defaults import available_models

        self._host, self._says, self._refused = host, says, refused
        self._measured: Measured | None = None
        self._known: Sequence[str] = available_models()
        field = Field("model", model, self._about, self._known, paths=True, needed="Name a model.", check=self._check)
        super().__init__(title, (field,), "model")

    def _check(self, model: str) -> None:
        check_named_model(model, "the agent", self._host.settings)
        if problem := self._refused(model):
            raise UsageError(problem)

    def _about(self, values: Values) -> str:
        used = f"Used before or at hand: {', '.join(self._known[:4])}. " if self._known else ""
        return (
            f"{used}Any LiteLLM name works, local, and replay:SESSION. Enter starts, {key_of('dialog.cancel')} cancels."
        )

    def read(self, values: Values) -> str:
        return str(values["model"])

    def summary(self, answer: str, values: Values) -> str:
        from workbench.engine.measured import measure

        if self._measured is None:
            self._measured = measure(self._host.session_path)
            self._known = tuple(dict.fromkeys((*(rate.model for rate in self._measured.trials), *self._known)))
        return self._says(answer, self._measured)

    def show_summary(self, text: str) -> None:
        self._lines["model"].suggester = Completion(self._known, paths=True)
        super().show_summary(text)


Drafts = dict[tuple[str, int, str], str]
"""Texts that were edited and not started, by trial, step and what of it; who asks again finds them."""

_AS_JSON, _AS_TEXT = ".json", ".txt"


def again(host: WorkbenchApp, state: TrialState, model: str = "", measured: Measured | None = None) -> Estimate:
    """Return what a trial once more will take; reads former sessions unless they were, so call it in a thread."""
    from workbench.engine.estimate import estimate_trials
    from workbench.engine.measured import measure
    from workbench.session.pending_work import judges_of

    trial = state.trial
    known = measured if measured is not None else measure(host.session_path)
    return estimate_trials(
        known, [trial.case_id], trial.agent, model or trial.model, judges_of(state.run), repeats=1, at_once=1
    )


async def ask_and_rerun(host: WorkbenchApp, actions: Actions, state: TrialState) -> None:
    """Ask for another model and run the trial once more with it, everything else the same; call it from a worker."""
    trial = state.trial

    def says(model: str, measured: Measured) -> str:
        of = f"{trial.case_name or trial.case_id} × {trial.agent} × {model}"
        return f"{of} = {again(host, state, model, measured).sentence()}."

    title = f"Run once more: {trial.case_name or trial.case_id} · {trial.agent}"
    model = await host.push_screen_wait(ModelDialog(host, title, trial.model, says))
    if model is not None:
        actions.when_agreed(
            lambda: again(host, state, model),
            lambda: actions.run_again(state, "" if model == trial.model else model),
        )


async def edit_and_go_on(
    host: WorkbenchApp, actions: Actions, state: TrialState, step: StepRow, tab: str, drafts: Drafts
) -> None:
    """Let a person edit what a step says, ask with which model to go on, and start the fork; call it from a worker.

    Args:
        host: The app.
        actions: Starts it.
        state: The trial.
        step: The step.
        tab: What of the step is shown: with Thought or Action the model's message is edited, else the observation.
        drafts: What was edited before and not started.
    """
    from workbench.engine.estimate import estimate_fork
    from workbench.engine.measured import measure
    from workbench.engine.trial_orders import Edit, editable

    reader, trial = host.reader, state.trial
    choices = editable(step)
    if reader is None or not choices:
        host.notify(f"Step {step.number} says nothing that could be edited.", severity="warning")
        return
    if state.live:
        host.notify("The trial is not at its end yet; go on from it when it is.", severity="warning")
        return
    what = "message" if tab in {"Thought", "Action"} and "message" in choices else choices[0]
    blob = step.observation_blob if what == "observation" else step.answer_blob
    before = await asyncio.to_thread(reader.text, blob)
    key = (trial.id, step.number, what)
    from workbench.app.toolkit.actions import edited_text

    suffix = _AS_JSON if what == "observation" and before.lstrip().startswith(("[", "{")) else _AS_TEXT
    title = f"The {what} of step {step.number}"
    if what == "observation" and "message" in choices:
        title += f" (the agent's message: {key_of('trajectory.fork')} on Thought or Action)"
    text = await edited_text(host, title, drafts.get(key, before), suffix)
    if text is None:
        return
    drafts[key] = text
    changed = text != before
    rest = await asyncio.to_thread(lambda: [one for one in reader.steps(trial.id, step.number) if one.kind != "error"])
    left = [(one.seconds or 0.0, one.cost_usd) for one in rest if one.answer_blob is not None]

    def estimate(model: str, measured: Measured) -> Estimate:
        return estimate_fork(measured, model, left, same=model == trial.model)

    def says(model: str, measured: Measured) -> str:
        steps = "1 step" if step.number == 1 else f"{step.number} steps"
        took = estimate(model, measured).sentence()
        edited = f"the {what} of step {step.number} edited" if changed else "nothing edited"
        return f"Takes over {steps}, {edited}; then {trial.agent} goes on with {model}: {took}."

    def refused(model: str) -> str:
        if not changed and model == trial.model:
            return "Nothing was changed: name another model, or cancel and edit the step."
        if step.kind == "respond" and not changed:
            return "The agent handed in at this step: edit its message, or go on from an earlier step."
        return ""

    title = f"Go on from step {step.number}"
    model = await host.push_screen_wait(ModelDialog(host, title, trial.model, says, refused))
    if model is None:
        host.notify(
            f"Nothing was started. {key_of('trajectory.fork')} on this step has your text again."
            if changed
            else "Nothing was started."
        )
        return
    edit = Edit(what, text) if changed else Edit()

    def started() -> None:
        drafts.pop(key, None)

    actions.when_agreed(
        lambda: estimate(model, measure(host.session_path)),
        lambda: actions.fork(state, step.number, edit, model, started),
    )
