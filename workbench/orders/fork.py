"""Fork a recorded trial: continue from one of its steps, with a text of that step edited. Cheap to import."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench.agents.names import address_of, is_peer
from workbench.base.errors import UsageError
from workbench.orders.estimate import WorkEstimate, estimate_fork
from workbench.orders.measured import MeasuredRates
from workbench.orders.order import WorkOrder, new_run, resolve_trial
from workbench.orders.plan_checks import check_document
from workbench.orders.run import resolved
from workbench.plans.plan import DocumentPlan
from workbench.session import SessionReader
from workbench.session.identity import fork_id
from workbench.session.json_forms import picked
from workbench.session.rows import StepRow, TrialRow


@dataclass(frozen=True, slots=True)
class Edit:
    """The new text of a part of the last inherited step (``observation`` or ``message``); "" if nothing is replaced."""

    what: str = ""
    text: str = ""


def editable(step: StepRow) -> tuple[str, ...]:
    """Return the editable parts of a step: the tool's observation, then the model's message."""
    found = []
    if step.observation_blob is not None:
        found.append("observation")
    if step.answer_blob is not None and step.call_id is not None:
        found.append("message")
    return tuple(found)


@dataclass(eq=False)
class ForkOrder(WorkOrder):
    """Continue a trial from a step, with the same agent, case, limits and judge.

    The model is also the same unless another model is named. ``step`` is the last inherited step, counting from 1.
    """

    parent: str
    step: int
    edit: Edit = Edit()
    model: str = ""
    spend_limit: float = 0.0
    trial: str = field(default="", init=False)  # The new trial, set by `write`

    @classmethod
    def again(cls, session: Path, old: TrialRow, *, model: str = "", spend_limit: float = 0.0) -> ForkOrder:
        with SessionReader(session) as reader:
            edit = Edit(old.edited, reader.text(old.edit_blob)) if old.edited else Edit()
        return cls(session, old.parent, old.fork_step, edit, model=model or old.model, spend_limit=spend_limit)

    def resolve(self) -> None:
        with SessionReader(self.session) as reader:
            self._row = resolve_trial(self.session, reader, self.parent)

    @property
    def what(self) -> str:
        return f"{self._row.case_name} × {self._row.agent} × {self.model or self._row.model} from step {self.step}"

    def estimate(self, measured: MeasuredRates) -> WorkEstimate:
        self.resolve()
        with SessionReader(self.session) as reader:
            rest = [step for step in reader.steps(self._row.id, self.step) if step.answer_blob is not None]
        model = self.model or self._row.model
        left = [(step.seconds or 0.0, step.cost_usd) for step in rest]
        return estimate_fork(measured, model, left, same=model == self._row.model)

    def write(self) -> None:
        """Write the order. Raises UsageError if the step cannot be edited this way or the edit changes nothing."""
        edit, step = self.edit, self.step
        self.resolve()
        parent = self._row
        with SessionReader(self.session) as reader:
            run = reader.run(parent.run_id)
            if run is None:
                raise UsageError(f"The run of trial {parent.id} cannot be read, so it cannot be forked.")
            row = next((one for one in reader.steps(parent.id) if one.number == step), None)
            if row is None:
                had = f"it has {parent.steps}" if parent.steps else "it has none"
                raise UsageError(f"Trial {parent.id} has no step {step}; {had}.")
            _check_edit(reader, parent, row, edit, self.model)
        recorded = DocumentPlan.from_json(run.config)
        plan = replace(
            recorded,
            cases=(parent.case_id,),
            agent=parent.agent,
            model=self.model or parent.model,
            repeats=1,
            first_repeat=1,
            rescore="",
            spend_limit=self.spend_limit or recorded.spend_limit,
            fork_of=parent.id,
            fork_step=step,
        )
        check_document(plan)
        # Keep the recorded limits, so that replayed steps match.
        plan = replace(resolved(plan), **picked(recorded, "read_limit", "max_steps", "answer_tokens"))
        with new_run(self.session) as (writer, key), writer.transaction() as connection:
            blob = writer.blob(edit.text) if edit.what else None
            same = (
                "SELECT coalesce(max(repeat), 0) + 1 FROM trials WHERE parent = ? AND fork_step = ? AND edited = ? "
                "AND edit_blob IS ? AND model = ?"
            )
            repeat = int(connection.execute(same, (parent.id, step, edit.what, blob, plan.model)).fetchone()[0])
            self.trial = fork_id(parent.id, step, edit.what, blob or "", plan.agent, plan.model, repeat)
            writer.add_run(key, "document", replace(plan, trials=(self.trial,), first_repeat=repeat).to_json())
            writer.add_trial(
                self.trial,
                key,
                0,
                (parent.case_id, parent.case_name),
                plan.agent,
                plan.model,
                repeat,
                content=parent.content,
                snapshot=parent.snapshot,
                parent=parent.id,
                fork_step=step,
                edited=edit.what,
                edit_blob=blob,
            )
        self.runs = [key]


def _check_edit(reader: SessionReader, parent: TrialRow, step: StepRow, edit: Edit, model: str) -> None:
    number = step.number
    if is_peer(model or parent.model):
        raise UsageError(
            f"The agent at {address_of(parent.agent)} keeps the conversation itself, so it cannot be continued "
            "from the middle; "
            "run the trial again instead."
        )
    if step.kind == "error":
        raise UsageError(
            f"At step {number} the model gave no answer; continue from an earlier step, or resume the run."
        )
    if edit.what and edit.what not in editable(step):
        words = "no observation" if edit.what == "observation" else "no answer of a model"
        raise UsageError(f"Step {number} has {words} that could be edited.")
    if edit.what and not edit.text.strip():
        raise UsageError(f"The edited {edit.what} is empty; enter the text that the agent should see.")
    if step.kind == "respond" and edit.what != "message":
        raise UsageError(f"At step {number} the agent submitted: edit its message, or continue from an earlier step.")
    before = step.observation_blob if edit.what == "observation" else step.answer_blob
    same = not edit.what or hashlib.sha256(edit.text.encode("utf-8", "surrogatepass")).hexdigest() == before
    if same and model in ("", parent.model):
        raise UsageError("Nothing was changed, so there is nothing to try: edit the step, or name another model.")
