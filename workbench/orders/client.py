"""Request work: write plans of runs into a session file, cancel, resume and repeat them.

Cheap to import. Calls access the disk for some milliseconds, so the app makes them in a thread.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import catalog
from workbench.agents.names import address_of, is_peer, is_remote, make_agent
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.extensions import is_dotted
from workbench.base.plugins import path_of
from workbench.base.settings import load
from workbench.orders import defaults
from workbench.orders.extension_check import import_folders
from workbench.orders.launching import WarmEngine, enqueue, launch
from workbench.orders.orders import all_orders, is_finished, ordered_work, refusal
from workbench.orders.plan import DocumentPlan, RegenerationPlan, as_text
from workbench.orders.plan_checks import check_document, check_place
from workbench.orders.session_names import resolve_session
from workbench.results.runs import waiting_runs
from workbench.session import SessionReader, SessionWriter, engine_starts, ensure
from workbench.session.identity import run_id
from workbench.session.pending_work import unfinished
from workbench.session.rows import RunRow, TrialRow

if TYPE_CHECKING:
    from workbench.orders.trial_contents import OrderedCase

LOCAL_READ_LIMIT = 1_800  # characters; a small model's window holds a few such files and the conversation


def resolved(plan: DocumentPlan) -> DocumentPlan:
    """Return the plan with this machine's defaults and its folders of classes: a resume elsewhere does the same."""
    from workbench.rubric.judging import parse_judge

    plan = with_defaults(plan)
    named = [("agent", plan.agent)] if is_dotted(plan.agent) else []
    named += [("judge", judge) for judge in plan.asked_judges if parse_judge(judge).kind == "extension"]
    return replace(plan, import_folders=import_folders(named, plan.import_folders))


def with_defaults(plan: DocumentPlan) -> DocumentPlan:
    settings = load()
    model = plan.model or defaults.agent_model(settings)
    judge = resolved_judge(plan.judge)
    if model.startswith("replay:"):
        recording = resolve_session(model.removeprefix("replay:")).resolve()
        recorded = replay_plan(recording)
        return replace(
            plan,
            model=f"replay:{recording}",
            judge=judge,
            read_limit=plan.read_limit or recorded.read_limit,
            max_steps=recorded.max_steps,
            answer_tokens=recorded.answer_tokens,
        )
    if is_remote(plan.agent):
        return replace(
            with_card(plan),
            judge=judge,
            read_limit=plan.read_limit or settings.read_limit,
            spend_limit=plan.spend_limit or settings.spend_limit,
        )
    defaults.check_model(model, "the agent")
    read_limit = plan.read_limit or (LOCAL_READ_LIMIT if model.startswith("local") else settings.read_limit)
    spend_limit = plan.spend_limit or settings.spend_limit
    answer_tokens = plan.answer_tokens or settings.answer_tokens
    return replace(
        plan, model=model, judge=judge, read_limit=read_limit, answer_tokens=answer_tokens, spend_limit=spend_limit
    )


def with_card(plan: DocumentPlan) -> DocumentPlan:
    """Return a plan of a remote agent with what its card says now and the model that stands for it; others as they are."""
    if not is_remote(plan.agent) or is_peer(plan.model) or plan.model.startswith("replay:"):
        return plan
    address = address_of(plan.agent)
    if plan.model:
        raise UsageError(
            f"The agent at {address} asks a model of its own, so {plan.model} cannot be asked; leave the model out, "
            "or name a recording with replay:SESSION."
        )
    agent: Any = make_agent(plan.agent)
    model, card = agent.card()
    return replace(plan, model=model, card=card)


def resolved_judge(text: str) -> str:
    """Return a judge with this machine's default written out. Raises UsageError: nothing that can be asked is named so."""
    from workbench.rubric.judging import parse_judge

    settings = load()
    judge = text or defaults.judge(settings)
    judge = path_of("judge", judge) or judge
    named = parse_judge(judge)
    if named.kind == "replay":
        return f"replay:{resolve_session(named.rest).resolve()}"
    if named.kind == "model":
        defaults.check_model(judge, "the judge")
    return judge


def replay_plan(session: Path) -> DocumentPlan:
    """Return the plan of the first document run of a session, whose limits a replay uses. Raises UsageError: there is none."""
    with SessionReader(resolve_session(str(session))) as reader:
        for run in reader.runs():
            if run.kind == "document":
                return DocumentPlan.from_json(run.config)
    raise UsageError(f"{session} holds no recorded trials to replay.")


def plan_document(session: Path, plan: DocumentPlan) -> str:
    """Write a run and those of its trials that the session (created if missing) has not into it, and return the run's id."""
    from workbench.orders.trial_contents import ordered_case

    _check_named(plan)
    plan = resolved(plan)
    check_place(session)
    # Done last because it caches a copy of each repository: a refused plan must leave nothing behind.
    cases = [ordered_case(text) for text in dict.fromkeys(plan.cases)]
    ensure(session)
    run = run_id()
    engine_starts.announce(run)
    with SessionWriter(session) as writer, writer.transaction() as connection:

        def look_up(sql: str, arguments: Sequence[object]) -> list[Any]:
            return connection.execute(sql, tuple(arguments)).fetchall()

        same = "SELECT max(repeat) FROM trials WHERE case_id = ? AND agent = ? AND model = ? AND parent = ''"
        had = {case.text: look_up(same, (case.text, plan.agent, plan.model))[0][0] or 0 for case in cases}
        first = {case.text: plan.first_repeat or had[case.text] + 1 for case in cases}
        meant = [(case, first[case.text] + number) for number in range(plan.repeats) for case in cases]
        wanted = {case.identity(look_up, plan.agent, plan.model, repeat): (case, repeat) for case, repeat in meant}
        plan = replace(plan, cases=tuple(case.text for case in cases), trials=tuple(wanted))
        plan = replace(plan, rescore=_rescored(connection, plan))
        shown = "UPDATE runs SET deleted_at = NULL WHERE id = (SELECT run_id FROM trials WHERE id = ?) AND deleted_at IS NOT NULL"
        connection.executemany(shown, [(trial,) for trial in wanted])
        writer.add_run(run, "document", plan.to_json())
        position = 0
        for identity, (case, repeat) in wanted.items():
            position += writer.add_trial(
                identity,
                run,
                position,
                (case.text, case.case.name),
                plan.agent,
                plan.model,
                repeat,
                content=case.content,
                snapshot=case.snapshot.digest if case.snapshot else None,
            )
    return run


def _check_named(plan: DocumentPlan) -> None:
    check_document(plan)
    for text in plan.cases:
        catalog.check_there(catalog.resolve_case(text))


@dataclass(frozen=True, slots=True)
class MeantTrial:
    """A trial that a plan asks for: its case, repeat and identity, and its state, "" where the session does not have it."""

    case: str
    repeat: int
    identity: str
    state: str = ""


def meant_trials(
    session: Path, plan: DocumentPlan, cases: Sequence[OrderedCase] = ()
) -> tuple[DocumentPlan, list[MeantTrial]]:
    """Return a plan with its defaults and the trials that it asks for; ``cases`` are its cases where they were read already."""
    from workbench.orders.trial_contents import ordered_case

    _check_named(plan)
    plan = with_defaults(plan)
    check_place(session)
    # Done last because it caches a copy of each repository: a refused plan must leave nothing behind.
    cases = cases or [ordered_case(text) for text in dict.fromkeys(plan.cases)]
    numbers = range(plan.first_repeat, plan.first_repeat + plan.repeats)
    meant = [(case, number) for case in cases for number in numbers]
    found = []
    with SessionReader(session) if session.exists() else contextlib.nullcontext() as reader:
        for case, number in meant:
            identity = case.identity(reader.query if reader else lambda *_: [], plan.agent, plan.model, number)
            row = reader.trial(identity) if reader else None
            found.append(MeantTrial(case.text, number, identity, row.state if row is not None else ""))
    return plan, found


def _rescored(connection: sqlite3.Connection, plan: DocumentPlan) -> str:
    """Return what a plan asks of trials that the session has: the judge's scores, anew if it was asked fewer times before."""
    marks = ",".join("?" * len(plan.trials))
    had = {row[0] for row in connection.execute(f"SELECT id FROM trials WHERE id IN ({marks})", plan.trials)}
    if not had:
        return ""
    if plan.judge_repeats > 1 and plan.judge != "offline":
        configs = connection.execute(
            "SELECT config FROM runs WHERE kind = 'document' AND id IN (SELECT run_id FROM trials WHERE "
            f"id IN ({marks}))",
            plan.trials,
        )
        repeats = [DocumentPlan.from_json(config).judge_repeats for (config,) in configs]
        if min(repeats, default=plan.judge_repeats) < plan.judge_repeats:
            return "anew"
    return "missing"


def cancel(session: Path, run: str) -> None:
    """Ask the engine of a run to stop; a run that no engine executes is marked cancelled at once."""
    with SessionReader(session) as reader:
        held = reader.holder(run)
    with SessionWriter(session) as writer, writer.transaction() as connection:
        if held is not None:
            writer.request(run, "cancel")
            return
        writer.set_run(run, state="cancelled")
        mark_cancelled(connection, run)


def mark_cancelled(connection: sqlite3.Connection, run: str) -> None:
    """Mark the unfinished work items of a run as cancelled, within a transaction; former verdicts are restored."""
    connection.execute(
        "UPDATE trials SET state = 'cancelled' WHERE run_id = ? AND state IN ('queued', 'running')", (run,)
    )
    # A candidate queued for another test still has its former verdict, so it is done.
    connection.execute(
        "UPDATE candidates SET state = CASE WHEN verdict IS NULL THEN 'cancelled' ELSE 'done' END "
        "WHERE run_id = ? AND state != 'done'",
        (run,),
    )
    # What a former check said counts again, and nothing of the one that was cut off.
    connection.execute(
        "UPDATE checks SET state = CASE WHEN result_blob IS NULL THEN 'cancelled' ELSE 'done' END, again = NULL, problem = NULL, "
        "partial = CASE WHEN result_blob IS NULL THEN partial ELSE '' END WHERE run_id = ? AND state IN ('queued', 'running')",
        (run,),
    )
    _recount_stages(connection, run)


def _let_go(reader: SessionReader, run: str | None) -> None:
    """Wait for engines that have finished their run and are about to exit, so that a resume right after the end works."""
    pause = threading.Event()
    for row in reader.runs():
        if run in (None, row.id) and _is_over(reader, row):
            for _ in range(100):
                if reader.holder(row.id) is None:
                    break
                pause.wait(0.1)


def _is_over(reader: SessionReader, run: RunRow) -> bool:
    """Return whether an engine has nothing left to do in a run: what was ordered is there before the run is marked as done."""
    if run.kind != "regenerate" or run.state != "running":
        return run.state not in {"queued", "running"}
    orders = all_orders(run)
    return all(refusal(reader, order) or is_finished(reader, order) for order in orders) and not any(
        ordered_work(reader, order).others for order in orders
    )


# An explicit list: an item with a damaged state may be done already and must not be repeated.
_OPEN = "('queued', 'running', 'failed', 'asking', 'testing', 'cancelled')"


def resume(session: Path, run: str | None = None, warm: WarmEngine | None = None) -> list[str]:
    """Execute the unfinished work of a session, or of one run that nobody executes; return the ids of the resumed runs."""
    with SessionReader(session) as reader:
        if run is not None and reader.run(run) is None:
            raise UsageError(f"{session.name} has no run {run!r}.")
        _let_go(reader, run)
        if run is not None:
            held = reader.holder(run)
            if held is not None:
                raise WorkbenchError(f"Run {run} is being executed right now (process {held.pid} on {held.host}).")
        # What waits in the queue has its engine already.
        queued = {row.id for row in waiting_runs(reader)}
        rows = [row for row in unfinished(reader) if run in (None, row.id) and row.id not in queued]
    waiting = [row.id for row in rows]
    ordered = {row.id for row in rows if row.kind == "regenerate" and RegenerationPlan.from_json(row.config).waiting}
    if not waiting:
        return []
    for key in waiting:
        engine_starts.announce(key)
    with SessionWriter(session) as writer, writer.transaction() as connection:
        for key in waiting:
            writer.set_run(key, state="queued", finished_at=None, error=None)
            kind, text = connection.execute("SELECT kind, config FROM runs WHERE id = ?", (key,)).fetchone()
            if kind == "regenerate":  # the next engine records its own acceptances
                writer.set_run(
                    key, config=as_text(replace(RegenerationPlan.from_json(text), acceptances=(), lasting=False))
                )
            connection.execute("UPDATE requests SET handled_at = 0 WHERE run_id = ? AND handled_at IS NULL", (key,))
            connection.execute(f"UPDATE trials SET state = 'queued' WHERE run_id = ? AND state IN {_OPEN}", (key,))
            # An order that no engine has taken up yet asks for no more than its own.
            if key not in ordered:
                connection.execute(
                    f"UPDATE candidates SET state = 'queued' WHERE run_id = ? AND (state IN {_OPEN} OR verdict = 'error')",
                    (key,),
                )
            connection.execute(f"UPDATE checks SET state = 'queued' WHERE run_id = ? AND state IN {_OPEN}", (key,))
    if len(waiting) > 1:
        with SessionReader(session) as reader:
            of_studies = {str(run) for (run,) in reader.query("SELECT DISTINCT run_id FROM study_cells")}
        for key in filter(of_studies.__contains__, waiting):
            enqueue(session, key)
    for key in waiting:
        launch(session, key, warm)
    return waiting


def the_trial(session: Path, reader: SessionReader, trial: str) -> TrialRow:
    """Return the trial with this identity, or the only one that begins so. Raises UsageError: there is none, or several."""
    matches = [row for row in reader.trials() if row.id.startswith(trial)]
    exact = [row for row in matches if row.id == trial]
    if len(exact or matches) != 1:
        what = "no trial" if not matches else f"{len(matches)} trials that begin with"
        raise UsageError(f"{session.name} has {what} {trial!r}; `workbench show {session}` lists them.")
    return (exact or matches)[0]


def rerun(session: Path, trial: str, *, model: str | None = None, warm: WarmEngine | None = None) -> str:
    """Run a trial again as the next repeat, with another model if one is named, and return its id; a fork is forked again."""
    with SessionReader(session) as reader:
        old = the_trial(session, reader, trial)
        run = reader.run(old.run_id)
        if run is None:
            raise UsageError(f"The run of trial {old.id} cannot be read, so it cannot be run again.")
        chosen = model or old.model
    if old.parent:
        from workbench.orders.trial_orders import fork_again

        again = fork_again(session, old, model=chosen)
        launch(session, again.run, warm)
        return again.trial
    plan = replace(
        DocumentPlan.from_json(run.config),
        cases=(old.case_id,),
        agent=old.agent,
        model=chosen,
        repeats=1,
        first_repeat=0,
        read_limit=0 if model else DocumentPlan.from_json(run.config).read_limit,
    )
    new_run = plan_document(session, plan)
    launch(session, new_run, warm)
    with SessionReader(session) as reader:
        return reader.trials(new_run)[0].id


def _recount_stages(connection: sqlite3.Connection, run: str) -> None:
    """Recount the verdicts of an interrupted run, within a transaction, as a cancelled rerun keeps former verdicts."""
    settled = (
        "state = 'done' OR task_id IN (SELECT id FROM tasks WHERE run_id = candidates.run_id AND state = 'excluded')"
    )
    for name, counts in (
        ("controls", f"control = 1 AND ({settled})"),
        ("candidates", f"control = 0 AND ({settled})"),
        ("rechecks", "recheck IS NOT NULL"),
    ):
        connection.execute(
            f"UPDATE stages SET done = (SELECT count(*) FROM candidates WHERE candidates.run_id = stages.run_id AND {counts}) "
            "WHERE run_id = ? AND name = ? AND total IS NOT NULL",
            (run, name),
        )
        connection.execute(
            "UPDATE stages SET state = CASE WHEN done >= total THEN 'done' ELSE 'failed' END "
            "WHERE run_id = ? AND name = ? AND state IN ('done', 'failed')",
            (run, name),
        )
