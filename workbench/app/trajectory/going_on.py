"""Once more with another model, or on from a step with an edited text: asks, says what it will take, and starts it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.widgets import Input

from workbench.app.key_table import key_of
from workbench.app.toolkit.agreeing import model_problem
from workbench.app.toolkit.completion import suggester
from workbench.app.toolkit.form_dialog import Field, FormDialog, Refused

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.app.trajectory.actions import Actions
    from workbench.app.trajectory.loading import TrialState
    from workbench.engine.estimate import Estimate, Measured
    from workbench.session.rows import StepRow
    from workbench.settings import Settings


class ModelDialog(FormDialog[str]):
    """Ends with the model.

    Args:
        settings: The settings in force, which say what can be asked.
        title: What is started.
        model: Model to start with.
        known: Models to complete what is typed with.
        says: What starting with a model will do, by what former work took (None until that is known).
        refused: Why it makes no sense with a model, "" where it does.
        measure: Reads what former work took; models that were used before complete what is typed, too.
    """

    def __init__(
        self,
        settings: Settings,
        title: str,
        model: str,
        known: Sequence[str],
        says: Callable[[str, Measured | None], str],
        refused: Callable[[str], str] = lambda model: "",
        measure: Callable[[], Measured] | None = None,
    ) -> None:
        super().__init__(title, (Field("model", model, known, paths=True),), "model", measure)
        self._settings, self._known, self._says, self._refused = settings, known, says, refused

    def has_measured(self, measured: Measured) -> None:
        self._known = tuple(dict.fromkeys((*(rate.model for rate in measured.trials), *self._known)))
        self.query_one("#model", Input).suggester = suggester(self._known, paths=True)
        super().has_measured(measured)

    def about(self, field: str) -> str:
        others = ", ".join(self._known[:4])
        used = f"Used before or at hand: {others}. " if others else ""
        return (
            f"{used}Any LiteLLM name works, local, and replay:SESSION. Enter starts, {key_of('dialog.cancel')} cancels."
        )

    def will_do(self) -> str:
        model = self.text("model")
        return self._says(model, self.measured) if model else ""

    def answer(self) -> str | Refused:
        model = self.text("model")
        problem = model_problem(model, "the agent", self._settings) or self._refused(model)
        return Refused("model", problem) if problem else model


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
    from workbench.engine.measured import measure
    from workbench.models.defaults import available_models

    trial = state.trial

    def says(model: str, measured: Measured | None) -> str:
        of = f"{trial.case_name or trial.case_id} × {trial.agent} × {model} = 1 trial"
        return f"{of}…" if measured is None else f"{of[:-7]}{again(host, state, model, measured).sentence()}."

    title = f"Run once more: {trial.case_name or trial.case_id} · {trial.agent}"
    model = await host.push_screen_wait(
        ModelDialog(
            host.settings, title, trial.model, available_models(), says, measure=lambda: measure(host.session_path)
        )
    )
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
    from workbench.models.defaults import available_models

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

    def says(model: str, measured: Measured | None) -> str:
        steps = "1 step" if step.number == 1 else f"{step.number} steps"
        took = "…" if measured is None else f": {estimate(model, measured).sentence()}"
        edited = f"the {what} of step {step.number} edited" if changed else "nothing edited"
        return f"Takes over {steps}, {edited}; then {trial.agent} goes on with {model}{took}."

    def refused(model: str) -> str:
        if not changed and model == trial.model:
            return "Nothing was changed: name another model, or cancel and edit the step."
        if step.kind == "respond" and not changed:
            return "The agent handed in at this step: edit its message, or go on from an earlier step."
        return ""

    title = f"Go on from step {step.number}"
    dialog = ModelDialog(
        host.settings, title, trial.model, available_models(), says, refused, lambda: measure(host.session_path)
    )
    model = await host.push_screen_wait(dialog)
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
