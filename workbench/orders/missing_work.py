"""What the runs of a session lack, with what a resume would take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from workbench.base.settings import load
from workbench.orders.estimate import (
    Again,
    Estimate,
    estimate_again,
    estimate_alike,
    estimate_ask,
    estimate_scores,
    estimate_trials,
)
from workbench.orders.import_files import ImportOrder, ordered_import
from workbench.orders.measured import Measured
from workbench.plans.plan import DocumentPlan, RegenerationPlan
from workbench.session import SessionReader
from workbench.session.pending_work import is_check, judges_of, lacking, trial_problem, unchecked, unfinished
from workbench.session.rows import RunRow


def missing_work(session: Path, measured: Measured, run: str = "") -> Iterator[tuple[str, Estimate]]:
    """Yield what each run that no engine executes lacks, in words, with an estimate of it."""
    with SessionReader(session) as reader:
        for row in unfinished(reader):
            if run in ("", row.id):
                for what, found in _of_run(reader, row, measured):
                    yield f"run {row.id}: {what}", found


def _of_run(reader: SessionReader, run: RunRow, measured: Measured) -> Iterator[tuple[str, Estimate]]:
    if (plan := ordered_import(run)) is not None:
        order = ImportOrder(reader.path, plan)
        yield order.what, order.estimate(measured)
    elif run.kind == "regenerate":
        yield from _of_regeneration(reader, run, measured)
    elif is_check(run):
        due = [row for row in reader.checks(run_id=run.id) if row.state not in ("done", "failed")]
        executed = bool(due and due[0].executed)
        yield "READMEs to check", estimate_alike(len(due), "README", measured.checks[executed], "check")
    else:
        yield from _of_trials(reader, run, measured)


def _of_trials(reader: SessionReader, run: RunRow, measured: Measured) -> Iterator[tuple[str, Estimate]]:
    judges, at_once = judges_of(run), load().trials_at_once
    trials = reader.trials(run.id)
    open_trials = [trial for trial in trials if trial.state != "done"]
    for agent, model in dict.fromkeys((trial.agent, trial.model) for trial in open_trials):
        cases = [trial.case_id for trial in open_trials if (trial.agent, trial.model) == (agent, model)]
        told = estimate_trials(measured, cases, agent, model, judges, repeats=1, at_once=at_once)
        yield f"trials of {agent} × {model}", told
    scores = Counter(judge for _, judge in {(trial, judge) for trial, _, judge in lacking(reader, run)})
    for trial in trials:
        if trial_problem(reader, trial):
            scores.update(judges)
    for judge, count in scores.items():
        yield f"scores by {judge}", estimate_scores(measured, count, [judge])
    if waiting := unchecked(reader, run):
        executed = DocumentPlan.from_json(run.config).check == "run"
        yield "READMEs to check", estimate_alike(len(waiting), "README", measured.checks[executed], "check")


def _of_regeneration(reader: SessionReader, run: RunRow, measured: Measured) -> Iterator[tuple[str, Estimate]]:
    plan = RegenerationPlan.from_json(run.config)
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
        yield f"{plan.source} × {evaluator}", estimate_again(measured, left)
