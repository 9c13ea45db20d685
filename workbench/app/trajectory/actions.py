"""What a person can do with a trial besides looking: rerun, fork, check, resume, cancel, annotate, open, copy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.widgets import Input

from workbench.app.key_table import key_of
from workbench.app.toolkit.actions import RunActions, edited_text
from workbench.app.toolkit.agreeing import model_problem
from workbench.app.toolkit.completion import suggester
from workbench.app.toolkit.form_dialog import Field, FormDialog, Refused
from workbench.app.trajectory.loading import state_of

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.app.toolkit.latest import Latest
    from workbench.app.toolkit.subject import Subject
    from workbench.app.trajectory.loading import TrialState
    from workbench.app.trajectory.screen import TrajectoryScreen
    from workbench.engine.estimate import Estimate, Measured
    from workbench.session.rows import StepRow


class Actions(RunActions):
    """Carries out keys that touch the engine, the disk or another program; all of it in threads but the editor."""

    def __init__(self, host: WorkbenchApp, jobs: Latest, shown: TrajectoryScreen) -> None:
        super().__init__(host, jobs)
        self._shown = shown
        # What was edited and not started, by trial, step and what of it.
        self._drafts: dict[tuple[str, int, str], str] = {}

    def can(self, action: str) -> bool:
        state = self._shown.state
        if state is None:
            return False
        if action == "resume":
            return state_of(state) in {"interrupted", "unscored", "failed", "cancelled"}
        if action == "cancel":
            return state.live or bool(state.check_run)
        if action == "fork":
            return state.step_count > 0
        return True

    def subject(self) -> Subject:
        return self._shown.subject()

    def _start(self, work: Callable[[Path], str], said: str, then: Callable[[], object] = lambda: None) -> None:
        """Start a trial, which ``work`` returns, and show it."""

        def done(session: Path, trial: str) -> str:
            then()
            self._show(session, trial)
            return said

        self.on_own(work, done)

    def _of_shown(self, work: Callable[[Path, TrialState], Any], say: Callable[[Any], str]) -> None:
        """Do something with the trial that is shown; where that is in a copy of the example, the copy is shown then."""
        state = self._shown.state
        if state is None:
            return

        def done(session: Path, value: Any) -> str:
            if session != self._host.session_path:
                self._show(session, state.trial.id)
            return say(value)

        self.on_own(lambda session: work(session, state), done)

    def _show(self, session: Path, trial: str) -> None:
        app = self._host
        if session == app.session_path:
            self._shown.show_trial(trial)
        else:
            app.open_session(session, then=lambda: app.show_trial(trial))

    def rerun(self) -> None:
        state = self._shown.state
        if state is not None:
            self.when_agreed(lambda: self._estimate(state), lambda: self._run_again(state))

    def _estimate(self, state: TrialState, model: str = "", measured: Measured | None = None) -> Estimate:
        """Return what a trial once more will take; reads former sessions unless they were, so call it in a thread."""
        from workbench.engine.estimate import estimate_trials
        from workbench.engine.measured import measure
        from workbench.session.pending_work import judges_of

        trial, judges = state.trial, judges_of(state.run)
        known = measured if measured is not None else measure(self._host.session_path)
        return estimate_trials(known, [trial.case_id], trial.agent, model or trial.model, judges, repeats=1, at_once=1)

    def _run_again(self, state: TrialState, model: str = "") -> None:
        def work(session: Path) -> str:
            from workbench.engine import client

            return client.rerun(session, state.trial.id, model=model or None, warm=self._host.warm)

        self._start(work, f"Started the same agent on the case with {model or 'the same model'} once more.")

    async def ask_and_rerun(self, state: TrialState) -> None:
        """Ask for another model and run the trial once more with it, everything else the same; call it from a worker."""
        trial = state.trial
        case = trial.case_name or trial.case_id

        def says(model: str, measured: Measured | None) -> str:
            took = "1 trial…" if measured is None else f"{self._estimate(state, model, measured).sentence()}."
            return f"{case} × {trial.agent} × {model} = {took}"

        model = await self._ask_model(f"Run once more: {case} · {trial.agent}", trial.model, says)
        if model is not None:
            self.when_agreed(
                lambda: self._estimate(state, model),
                lambda: self._run_again(state, "" if model == trial.model else model),
            )

    async def _ask_model(
        self,
        title: str,
        model: str,
        says: Callable[[str, Measured | None], str],
        refused: Callable[[str], str] = lambda model: "",
    ) -> str | None:
        from workbench.models.defaults import available_models

        dialog = ModelDialog(self._host, title, model, available_models(), says, refused)
        answer: str | None = await self._host.push_screen_wait(dialog)
        return answer

    async def edit_and_fork(self, state: TrialState, step: StepRow, tab: str) -> None:
        """Let a person edit what a step says, ask with which model to go on, and start the fork; call it from a worker.

        With Thought or Action as the tab that is shown the model's message is edited, else the observation.
        """
        from workbench.engine import forking
        from workbench.engine.estimate import estimate_fork
        from workbench.engine.measured import measure

        host, reader, trial = self._host, self._host.reader, state.trial
        choices = forking.editable(step)
        if reader is None or not choices:
            host.notify(f"Step {step.number} says nothing that could be edited.", severity="warning")
            return
        if state.live:
            host.notify("The trial is not at its end yet; go on from it when it is.", severity="warning")
            return
        what = "message" if tab in {"Thought", "Action"} and "message" in choices else choices[0]
        before = await asyncio.to_thread(
            reader.text, step.observation_blob if what == "observation" else step.answer_blob
        )
        key = (trial.id, step.number, what)
        suffix = ".json" if what == "observation" and before.lstrip().startswith(("[", "{")) else ".txt"
        title = f"The {what} of step {step.number}"
        if what == "observation" and "message" in choices:
            title += f" (the agent's message: {key_of('trajectory.fork')} on Thought or Action)"
        text = await edited_text(host, title, self._drafts.get(key, before), suffix)
        if text is None:
            return
        self._drafts[key] = text
        changed = text != before
        rest = await asyncio.to_thread(reader.steps, trial.id, step.number)
        left = [(one.seconds or 0.0, one.cost_usd) for one in rest if one.kind != "error" and one.answer_blob]

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

        model = await self._ask_model(f"Go on from step {step.number}", trial.model, says, refused)
        if model is None:
            kept = f" {key_of('trajectory.fork')} on this step has your text again." if changed else ""
            host.notify(f"Nothing was started.{kept}")
            return
        edit = forking.Edit(what, text) if changed else forking.Edit()

        def fork(session: Path) -> str:
            return forking.fork(session, trial.id, step.number, edit, model=model, warm=host.warm).trial

        said = f"Goes on from step {step.number}; what came before is taken over and not paid again."
        self.when_agreed(
            lambda: estimate(model, measure(host.session_path)),
            lambda: self._start(fork, said, lambda: self._drafts.pop(key, None)),
        )

    def check_readme(self, block: int = -1) -> None:
        """Have an engine check the README, or run one of its blocks again."""
        under_way = f"This README is being checked already; {key_of('trajectory.cancel')} stops it."
        if self._shown.state is not None and self._shown.state.check_run:
            self._host.notify(under_way)
            return

        def work(session: Path, state: TrialState) -> str:
            from workbench.engine import checks, launching
            from workbench.sandbox.errors import NoIsolation

            alone = ""
            try:
                run, _ = checks.plan_check(session, [state.trial.id], block=block, anew=True)
            except NoIsolation as error:
                if block >= 0:
                    raise
                run, _ = checks.plan_check(session, [state.trial.id], execute=False, anew=True)
                alone = f"{error} Names are looked up all the same."
            if not run:
                return under_way
            launching.launch(session, run, self._host.warm)
            return alone

        said = "Checks the README: its blocks run in a sandbox without network."
        if block >= 0:
            said = "Runs this block again, after those before it."
        self._of_shown(work, lambda alone: alone or said)

    def resume(self) -> None:
        def work(session: Path, state: TrialState) -> list[str]:
            from workbench.engine import client

            return client.resume(session, state.trial.run_id, warm=self._host.warm)

        self._of_shown(
            work, lambda runs: "An engine takes the run up again." if runs else "Nothing is missing in this run."
        )

    def cancel(self) -> None:
        def work(session: Path, state: TrialState) -> str:
            from workbench.engine import client

            checking = not state.live and state.check_run
            client.cancel(session, checking or state.trial.run_id)
            return f"Asked the engine to stop {'the check' if checking else 'this run'}."

        self._of_shown(work, str)

    def annotate(self, subject: Subject, text: str) -> None:
        """Keep a remark on a step or criterion, on the trial what is about neither."""
        session, state, said = self._host.session_path, self._shown.state, subject.remark(text)
        if session is None or state is None:
            self._host.notify("No trial is shown.")
        if session is None or state is None or not said:
            return

        def work() -> None:
            from workbench.app.runs import is_example
            from workbench.errors import WorkbenchError
            from workbench.session import SessionWriter

            if is_example(session):
                raise WorkbenchError(
                    "The example that came with the program is only read; remark on a run of your own."
                )
            with SessionWriter(session) as writer:
                writer.annotate(state.trial.id, said, subject.step, criterion=subject.criterion)

        self._jobs.ask(work, lambda _: self._host.notify("Kept the remark in the session."))


class ModelDialog(FormDialog[str]):
    """Ends with the model.

    Args:
        host: The app.
        title: What is started.
        model: Model to start with.
        known: Models to complete what is typed with; those that were used before join them.
        says: What starting with a model will do, by what former work took (None until that is known).
        refused: Why it makes no sense with a model, "" where it does.
    """

    def __init__(
        self,
        host: WorkbenchApp,
        title: str,
        model: str,
        known: Sequence[str],
        says: Callable[[str, Measured | None], str],
        refused: Callable[[str], str],
    ) -> None:
        from workbench.engine.measured import measure

        field = Field("model", model, known, paths=True)
        super().__init__(title, (field,), "model", lambda: measure(host.session_path))
        self._settings, self._known, self._says, self._refused = host.settings, known, says, refused

    def has_measured(self, measured: Measured) -> None:
        self._known = tuple(dict.fromkeys((*(rate.model for rate in measured.trials), *self._known)))
        self.query_one("#model", Input).suggester = suggester(self._known, paths=True)
        super().has_measured(measured)

    def about(self, field: str) -> str:
        others = ", ".join(self._known[:4])
        used = f"Used before or at hand: {others}. " if others else ""
        cancels = key_of("dialog.cancel")
        return f"{used}Any LiteLLM name works, local, and replay:SESSION. Enter starts, {cancels} cancels."

    def will_do(self) -> str:
        model = self.text("model")
        return self._says(model, self.measured) if model else ""

    def answer(self) -> str | Refused:
        model = self.text("model")
        problem = model_problem(model, "the agent", self._settings) or self._refused(model)
        return Refused("model", problem) if problem else model
