"""Cancel and resume runs, and list missing work. These functions do file I/O, so the app calls them in threads."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.settings import load
from workbench.orders import launching
from workbench.orders.estimate import (
    Again,
    WorkEstimate,
    estimate_alike,
    estimate_ask,
    estimate_rerun,
    estimate_scores,
    estimate_trials,
)
from workbench.orders.launching import WarmEngine, enqueue
from workbench.orders.measured import MeasuredRates
from workbench.orders.ordered_asks import all_orders, is_finished, ordered_work, refusal
from workbench.plans.plan import DocumentPlan, as_text
from workbench.plans.usage import PLANS, candidate_plan, read_candidate_plan
from workbench.results.runs import waiting_runs
from workbench.session import SessionReader, SessionWriter, engine_starts
from workbench.session.pending_work import (
    is_check,
    is_imported,
    judges_of,
    lacking,
    trial_problem,
    unchecked,
    unfinished,
)
from workbench.session.rows import RunRow


def cancel(session: Path, run: str) -> None:
    """Ask a run's engine to cancel the run; a run without an engine is cancelled at once."""
    with SessionReader(session) as reader:
        held = reader.holder(run)
    with SessionWriter(session) as writer, writer.transaction() as connection:
        if held is not None:
            writer.request(run, "cancel")
            return
        writer.set_run(run, state="cancelled")
        mark_cancelled(connection, run)


def mark_cancelled(connection: sqlite3.Connection, run: str) -> None:
    """Cancel the unfinished work items of a run, within a transaction, and restore their earlier verdicts."""
    connection.execute(
        "UPDATE trials SET state = 'cancelled' WHERE run_id = ? AND state IN ('queued', 'running')", (run,)
    )
    # A candidate that is queued for a retest still has its earlier verdict, so its state becomes done.
    connection.execute(
        "UPDATE candidates SET state = CASE WHEN verdict IS NULL THEN 'cancelled' ELSE 'done' END "
        "WHERE run_id = ? AND state != 'done'",
        (run,),
    )
    # The earlier result counts again, and the partial one is dropped.
    connection.execute(
        "UPDATE checks SET state = CASE WHEN result_blob IS NULL THEN 'cancelled' ELSE 'done' END, rerun_block = NULL, problem = NULL, "
        "partial = CASE WHEN result_blob IS NULL THEN partial ELSE '' END WHERE run_id = ? AND state IN ('queued', 'running')",
        (run,),
    )
    _recount(connection, run)


def _wait_for_release(reader: SessionReader, run: str | None) -> None:
    """Wait until engines that have finished their run exit, so that a run can be resumed right after its end."""
    pause = threading.Event()
    for row in reader.runs():
        if run in (None, row.id) and _is_over(reader, row):
            for _ in range(100):
                if reader.holder(row.id) is None:
                    break
                pause.wait(0.1)


def _is_over(reader: SessionReader, run: RunRow) -> bool:
    """Return whether an engine has no work left in a run, which can be true before it is marked as done."""
    if not run.has_candidates or run.state != "running":
        return run.state not in {"queued", "running"}
    orders = all_orders(run)
    return all(refusal(reader, order) or is_finished(reader, order) for order in orders) and not any(
        ordered_work(reader, order).others for order in orders
    )


# The states are listed explicitly, because an item with a damaged state may be done and must not be repeated.
_OPEN = "('queued', 'running', 'failed', 'asking', 'testing', 'cancelled')"


def resume(session: Path, run: str | None = None, warm: WarmEngine | None = None) -> list[str]:
    """Execute the unfinished work of a session, or of one run; return the ids of the resumed runs."""
    with SessionReader(session) as reader:
        if run is not None and reader.run(run) is None:
            raise UsageError(f"{session.name} has no run {run!r}.")
        _wait_for_release(reader, run)
        if run is not None:
            held = reader.holder(run)
            if held is not None:
                raise WorkbenchError(f"Run {run} is being executed right now (process {held.pid} on {held.host}).")
        # Queued runs already have engines.
        queued = {row.id for row in waiting_runs(reader)}
        rows = [row for row in unfinished(reader) if run in (None, row.id) and row.id not in queued]
    waiting = [row.id for row in rows]
    ordered = {row.id for row in rows if row.has_candidates and candidate_plan(row).waiting}
    imported = {row.id for row in rows if is_imported(row)}
    if not waiting:
        return []
    for key in waiting:
        engine_starts.announce(key)
    with SessionWriter(session) as writer, writer.transaction() as connection:
        for key in waiting:
            writer.set_run(key, state="queued", finished_at=None, error=None)
            if key in imported:  # imported items keep the states recorded in their files
                continue
            kind, text = connection.execute("SELECT kind, config FROM runs WHERE id = ?", (key,)).fetchone()
            if kind in PLANS:  # the next engine records its own acceptances
                writer.set_run(
                    key,
                    config=as_text(replace(read_candidate_plan(kind, text), acceptances=(), permanent_failure=False)),
                )
            connection.execute("UPDATE requests SET handled_at = 0 WHERE run_id = ? AND handled_at IS NULL", (key,))
            connection.execute(f"UPDATE trials SET state = 'queued' WHERE run_id = ? AND state IN {_OPEN}", (key,))
            # An order that no engine has accepted yet adds only its own candidates to the queue.
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
        launching.launch(session, key, warm)
    return waiting


def _recount(connection: sqlite3.Connection, run: str) -> None:
    """Recount the stages of a cancelled run, within a transaction, since a cancelled rerun restores old verdicts."""
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


def missing_work(session: Path, measured: MeasuredRates, run: str = "") -> Iterator[tuple[str, WorkEstimate]]:
    """Yield descriptions and estimates of the missing work of runs without an engine."""
    with SessionReader(session) as reader:
        for row in unfinished(reader):
            if run in ("", row.id):
                for what, found in _of_run(reader, row, measured):
                    yield f"run {row.id}: {what}", found


def _of_run(reader: SessionReader, run: RunRow, measured: MeasuredRates) -> Iterator[tuple[str, WorkEstimate]]:
    # Imported here, because the modules of orders import this module.
    from workbench.orders.import_files import ImportOrder, ordered_import

    if (plan := ordered_import(run)) is not None:
        order = ImportOrder(reader.path, plan)
        yield order.what, order.estimate(measured)
    elif run.has_candidates:
        yield from _of_regeneration(reader, run, measured)
    elif is_check(run):
        due = [row for row in reader.checks(run_id=run.id) if row.state not in ("done", "failed")]
        executed = bool(due and due[0].executed)
        yield "READMEs to check", estimate_alike(len(due), "README", measured.checks[executed], "check")
    else:
        yield from _of_trials(reader, run, measured)


def _of_trials(reader: SessionReader, run: RunRow, measured: MeasuredRates) -> Iterator[tuple[str, WorkEstimate]]:
    judges, at_once = judges_of(run), load().trials_at_once
    trials = reader.trials(run.id)
    open_trials = [trial for trial in trials if trial.state != "done"]
    for agent, model in dict.fromkeys((trial.agent, trial.model) for trial in open_trials):
        cases = [trial.case_id for trial in open_trials if (trial.agent, trial.model) == (agent, model)]
        estimate = estimate_trials(measured, cases, agent, model, judges, repeats=1, at_once=at_once)
        yield f"trials of {agent} × {model}", estimate
    scores = Counter(judge for _, judge in {(trial, judge) for trial, _, judge in lacking(reader, run)})
    for trial in trials:
        if trial_problem(reader, trial):
            scores.update(judges)
    for judge, count in scores.items():
        yield f"scores by {judge}", estimate_scores(measured, count, [judge])
    if waiting := unchecked(reader, run):
        executed = DocumentPlan.from_json(run.config).check == "run"
        yield "READMEs to check", estimate_alike(len(waiting), "README", measured.checks[executed], "check")


def _of_regeneration(reader: SessionReader, run: RunRow, measured: MeasuredRates) -> Iterator[tuple[str, WorkEstimate]]:
    plan = candidate_plan(run)
    for ask in plan.waiting:
        yield f"{plan.source} × {ask.evaluator}", estimate_ask(measured, plan.source, ask, rebuild=plan.rebuild)
    ready = {task.id for task in reader.tasks(run.id) if task.state == "ready"}
    rows = [
        row
        for row in reader.candidates(run.id)
        if row.task_id in ready and (row.state != "done" or row.verdict == "error")
    ]
    for evaluator in dict.fromkeys(row.evaluator for row in rows) if not plan.waiting else ():
        mine = [row for row in rows if row.evaluator == evaluator]
        unanswered = sum(row.answer_blob is None and row.body_blob is None for row in mine)
        parts = [Again(plan.source, evaluator, unanswered, 0), Again(plan.source, evaluator, 0, len(mine) - unanswered)]
        left = [part for part in parts if part.asked or part.tested]
        yield f"{plan.source} × {evaluator}", estimate_rerun(measured, left)
