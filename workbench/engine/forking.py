"""Request a fork: a trial that inherits a recorded one's first steps, with one of them edited, and goes on. Cheap to import."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.agents.remote_names import address_of, is_peer
from workbench.engine.client import resolved, the_trial
from workbench.engine.launching import WarmEngine, launch
from workbench.engine.plan import DocumentPlan
from workbench.engine.plan_checks import check_document, check_place
from workbench.errors import UsageError
from workbench.session import SessionReader, SessionWriter, engine_starts
from workbench.session.identity import fork_id, run_id
from workbench.session.rows import StepRow, TrialRow


@dataclass(frozen=True, slots=True)
class Edit:
    """What of the last inherited step is replaced: ``observation``, ``message``, or "" for nothing; and by which text."""

    what: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Fork:
    """A planned fork: its run and its trial."""

    run: str
    trial: str


def editable(step: StepRow) -> tuple[str, ...]:
    """Return what of a step can be edited, the likelier first: the observation of a tool, the answer of a model."""
    found = []
    if step.observation_blob is not None:
        found.append("observation")
    if step.answer_blob is not None and step.call_id is not None:
        found.append("message")
    return tuple(found)


def plan_fork(session: Path, trial: str, step: int, edit: Edit = Edit(), *, model: str = "") -> Fork:
    """Write a fork into the session of its parent: the same agent, case, limits and judge, and the same model unless named.

    ``step`` is the last one that is inherited, from 1.

    Raises:
        UsageError: There is no such trial or step, nothing of it can be edited so, or nothing would be another than it was.
    """
    with SessionReader(session) as reader:
        parent = the_trial(session, reader, trial)
        run = reader.run(parent.run_id)
        if run is None:
            raise UsageError(f"The run of trial {parent.id} cannot be read, so it cannot go on from a step.")
        row = next((one for one in reader.steps(parent.id) if one.number == step), None)
        if row is None:
            had = f"it has {parent.steps}" if parent.steps else "it has none"
            raise UsageError(f"Trial {parent.id} has no step {step}; {had}.")
        _check_edit(reader, parent, row, edit, model)
    recorded = DocumentPlan.from_json(run.config)
    plan = replace(
        recorded,
        cases=(parent.case_id,),
        agent=parent.agent,
        model=model or parent.model,
        repeats=1,
        first_repeat=1,
        rescore="",
        fork_of=parent.id,
        fork_step=step,
    )
    check_document(plan)
    # What a replay would take from its recording must stay what the inherited steps were made with.
    plan = replace(
        resolved(plan),
        read_limit=recorded.read_limit,
        max_steps=recorded.max_steps,
        answer_tokens=recorded.answer_tokens,
    )
    check_place(session)
    key = run_id()
    engine_starts.announce(key)
    with SessionWriter(session) as writer, writer.transaction() as connection:
        blob = writer.blob(edit.text) if edit.what else None
        repeat = _next_repeat(connection, parent.id, step, edit.what, blob, plan.model)
        identity = fork_id(parent.id, step, edit.what, blob or "", plan.agent, plan.model, repeat)
        writer.add_run(key, "document", replace(plan, trials=(identity,), first_repeat=repeat).to_json())
        writer.add_trial(
            identity,
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
    return Fork(key, identity)


def fork(
    session: Path,
    trial: str,
    step: int,
    edit: Edit = Edit(),
    *,
    model: str = "",
    warm: WarmEngine | None = None,
) -> Fork:
    made = plan_fork(session, trial, step, edit, model=model)
    launch(session, made.run, warm)
    return made


def fork_again(session: Path, old: TrialRow, *, model: str = "") -> Fork:
    """Plan a fork once more as its next repeat, with the same edit, and another model where one is named."""
    with SessionReader(session) as reader:
        edit = Edit(old.edited, reader.text(old.edit_blob)) if old.edited else Edit()
    return plan_fork(session, old.parent, old.fork_step, edit, model=model or old.model)


def _check_edit(reader: SessionReader, parent: TrialRow, step: StepRow, edit: Edit, model: str) -> None:
    number = step.number
    if is_peer(model or parent.model):
        raise UsageError(
            f"The agent at {address_of(parent.agent)} keeps the conversation itself, so nobody can go on from its middle; "
            "run the trial again instead."
        )
    if step.kind == "error":
        raise UsageError(f"At step {number} the model gave no answer; go on from an earlier step, or resume the run.")
    if edit.what and edit.what not in editable(step):
        words = "no observation" if edit.what == "observation" else "no answer of a model"
        raise UsageError(f"Step {number} has {words} that could be edited.")
    if edit.what and not edit.text.strip():
        raise UsageError(f"The edited {edit.what} is empty; write what the agent shall see.")
    if step.kind == "respond" and edit.what != "message":
        raise UsageError(f"At step {number} the agent handed in: edit its message, or go on from an earlier step.")
    before = step.observation_blob if edit.what == "observation" else step.answer_blob
    same = not edit.what or hashlib.sha256(edit.text.encode("utf-8", "surrogatepass")).hexdigest() == before
    if same and model in ("", parent.model):
        raise UsageError("Nothing was changed, so there is nothing to try: edit the step, or name another model.")


def _next_repeat(
    connection: sqlite3.Connection, parent: str, step: int, edited: str, blob: str | None, model: str
) -> int:
    same = (
        "SELECT coalesce(max(repeat), 0) FROM trials WHERE parent = ? AND fork_step = ? AND edited = ? "
        "AND edit_blob IS ? AND model = ?"
    )
    return int(connection.execute(same, (parent, step, edited, blob, model)).fetchone()[0]) + 1
