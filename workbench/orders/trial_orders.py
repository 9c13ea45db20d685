"""Order work on recorded trials: READMEs are checked, what was handed in is scored anew, a fork goes on from a step. Cheap to import."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.agents.names import address_of, is_peer
from workbench.base.errors import UsageError
from workbench.base.settings import load
from workbench.checking.verdicts import RULES
from workbench.orders.client import resolved, resolved_judge, the_trial
from workbench.orders.launching import WarmEngine, launch
from workbench.orders.plan import RUBRICS, DocumentPlan
from workbench.orders.plan_checks import check_document, check_place, check_scoring
from workbench.session import SessionReader, SessionWriter, engine_starts
from workbench.session.identity import fork_id, run_id
from workbench.session.pending_work import is_check
from workbench.session.rows import CheckRow, StepRow, TrialRow

Key = tuple[str, int, float, int]
"""What a check is one of: trial, whether blocks are run, seconds for a step, version of the rules."""
STEP_SECONDS = 10.0


def plan_check(
    session: Path,
    items: Sequence[str] = (),
    *,
    execute: bool = True,
    seconds: float = STEP_SECONDS,
    block: int = -1,
    anew: bool = False,
) -> tuple[str, list[str]]:
    """Write a run that checks READMEs into their session; return its id, "" where all are or were checked so, and the trials meant.

    ``items`` are trials by id, its beginning, or their case, none for all with a README; ``block`` is the one to run once more.
    """
    with SessionReader(session) as reader:
        trials = trials_meant(
            session, reader.trials(), items, lambda row: row.readme_blob is not None,
            lambda row: "handed in no README that could be checked",
        )  # fmt: skip
        known = {key_of(row): row for row in reader.checks()}
        if execute:
            from workbench.checking.environment import require_isolation

            require_isolation()
        keys = [(trial.id, int(execute), float(seconds), RULES) for trial in trials]
        waits = [key for key in keys if _is_due(reader, known.get(key), anew or block >= 0)]
        emptied = _left_without_work(reader, waits)
    meant = [trial.id for trial in trials]
    if not waits:
        return "", meant
    plan = DocumentPlan(
        cases=(),
        agent="",
        rubrics=(),
        trials=tuple(key[0] for key in waits),
        check="run" if execute else "claims",
        check_only=True,
        check_seconds=float(seconds),
        check_again=block,
    )
    with _new_run(session) as (writer, run):
        writer.add_run(run, "document", plan.to_json())
        for key in waits:
            writer.put_check(key, run, block if block >= 0 else None)
        for former in emptied:
            writer.set_run(
                former, state="done", finished_at=time.time(), note=f"what it lacked was begun again by {run}"
            )
    return run, meant


@contextmanager
def _new_run(session: Path) -> Iterator[tuple[SessionWriter, str]]:
    """Give a writer and the id of a run for which an engine is about to be started; all that is written is one transaction."""
    check_place(session)
    key = run_id()
    engine_starts.announce(key)
    with SessionWriter(session) as writer, writer.transaction():
        yield writer, key


def key_of(row: CheckRow) -> Key:
    return row.trial_id, row.executed, row.step_seconds, row.rules


def _is_due(reader: SessionReader, known: CheckRow | None, anew: bool) -> bool:
    if known is not None and known.state in ("queued", "running") and reader.holder(known.run_id) is not None:
        return False
    return anew or known is None or known.state != "done"


def _left_without_work(reader: SessionReader, taken: Sequence[Key]) -> list[str]:
    rows = [row for row in reader.checks() if row.state not in ("done", "failed")]
    former = {row.run_id for row in rows if key_of(row) in taken}
    keep = {row.run_id for row in rows if key_of(row) not in taken}
    runs = [run for run in map(reader.run, sorted(former - keep)) if run is not None]
    return [run.id for run in runs if is_check(run) and reader.run_state(run) == "interrupted"]


def plan_rescore(
    session: Path,
    items: Sequence[str] = (),
    *,
    judges: Sequence[str] = (),
    rubrics: Sequence[str] = (),
    judge_repeats: int = 1,
    spend_limit: float = 0.0,
) -> str:
    """Write a run that scores recorded trials anew into their session, and return the run's id.

    What other judges gave stays beside the new scores; the same judge's score by the same rubric is replaced. ``items`` are
    trials by id, its beginning, or their case; what is empty is all, or the default of this machine.
    """
    with SessionReader(session) as reader:
        trials = trials_meant(
            session,
            reader.trials(),
            items,
            lambda row: row.state == "done" and row.readme_blob is not None,
            _why_unscored,
        )
    resolved = tuple(dict.fromkeys(resolved_judge(judge) for judge in judges or ("",)))
    plan = DocumentPlan(
        cases=tuple(dict.fromkeys(trial.case_id for trial in trials)),
        agent="",
        judge=resolved[0],
        rubrics=tuple(dict.fromkeys(rubrics)) or RUBRICS,
        spend_limit=spend_limit or load().spend_limit,
        judge_repeats=judge_repeats,
        trials=tuple(trial.id for trial in trials),
        judges=resolved,
        rescore="anew",
    )
    check_scoring(plan)
    with _new_run(session) as (writer, run):
        writer.add_run(run, "document", plan.to_json())
    return run


def _why_unscored(row: TrialRow) -> str:
    why = f"it is {row.state}" if row.state != "done" else "its file holds no README"
    return f"handed nothing in that could be scored: {why}"


def trials_meant(
    session: Path,
    rows: Sequence[TrialRow],
    items: Sequence[str],
    usable: Callable[[TrialRow], bool],
    why_not: Callable[[TrialRow], str],
) -> list[TrialRow]:
    """Return the usable trials among those named, or all; ``why_not`` goes on after "Trial X". Raises UsageError: there is none."""
    found: dict[str, TrialRow] = {}
    for item in items:
        mine = [row for row in rows if item in (row.id, row.case_id, row.case_name)]
        mine = mine or [row for row in rows if row.id.startswith(item)]
        if not mine:
            raise UsageError(f"{session.name} has no trial {item!r}; `workbench show {session}` lists them.")
        if not any(map(usable, mine)):
            raise UsageError(f"Trial {item} {why_not(mine[0])}.")
        found |= {row.id: row for row in mine if usable(row)}
    if not items:
        found = {row.id: row for row in rows if usable(row)}
    if not found:
        raise UsageError(
            f"{session.name} has no trial that handed something in, so there is nothing to score or check."
        )
    return list(found.values())


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

    ``step`` is the last one that is inherited, from 1. Raises UsageError: nothing of it can be edited so, or changes.
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
    with _new_run(session) as (writer, key), writer.transaction() as connection:
        blob = writer.blob(edit.text) if edit.what else None
        same = (
            "SELECT coalesce(max(repeat), 0) + 1 FROM trials WHERE parent = ? AND fork_step = ? AND edited = ? "
            "AND edit_blob IS ? AND model = ?"
        )
        repeat = int(connection.execute(same, (parent.id, step, edit.what, blob, plan.model)).fetchone()[0])
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
    session: Path, trial: str, step: int, edit: Edit = Edit(), *, model: str = "", warm: WarmEngine | None = None
) -> Fork:
    made = plan_fork(session, trial, step, edit, model=model)
    launch(session, made.run, warm)
    return made


def fork_again(session: Path, old: TrialRow, *, model: str = "") -> Fork:
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
