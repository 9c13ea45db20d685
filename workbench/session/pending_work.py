"""Unfinished work and missing scores of a session, for the states of runs and for `resume`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.session.judges import recorded_as

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import RunRow, TrialRow

# Candidates that have no verdict, are to be retested or failed because of a Workbench error; tasks without a docstring
# from the doc system.
_MISSING = """
SELECT 1 FROM candidates JOIN tasks ON tasks.id = candidates.task_id WHERE candidates.run_id = ? AND (
    candidates.verdict = 'error'
    OR (candidates.state != 'done' AND (tasks.state = 'ready' OR candidates.verdict IS NOT NULL)))
UNION ALL SELECT 1 FROM dropped WHERE run_id = ? AND stage = 'documentation' LIMIT 1
"""


def judges_of(run: RunRow | None) -> tuple[str, ...]:
    """Return the judges of a document run, as named in scorecards, or () if its plan is unreadable."""
    plan = run.plan if run is not None else {}
    judges = plan.get("judges") or [plan.get("judge")]
    return tuple(recorded_as(str(judge)) for judge in judges if judge) if isinstance(judges, list) else ()


def is_imported(run: RunRow) -> bool:
    """Return whether a run's data was imported from files of other programs."""
    return isinstance(run.plan.get("imported"), dict)


def is_rescored(run: RunRow) -> bool:
    return bool(run.plan.get("rescore"))


def is_check(run: RunRow) -> bool:
    """Return whether a run only checks READMEs of trials recorded by other runs."""
    return bool(run.plan.get("check_only"))


def unchecked(reader: SessionReader, run: RunRow) -> list[str]:
    """Return the trials of a run with READMEs that it has not checked yet."""
    plan = run.plan
    if not plan.get("check") or plan.get("check_only"):
        return []
    way = (int(plan["check"] == "run"), plan.get("check_seconds"))
    over = {
        row.trial_id
        for row in reader.checks()
        if (row.executed, row.step_seconds) == way and row.state in ("done", "failed")
    }
    trials = [row for row in map(reader.trial, map(str, plan.get("trials") or ())) if row is not None]
    return [row.id for row in trials if row.state == "done" and row.readme_blob and row.id not in over]


def lacking(reader: SessionReader, run: RunRow) -> list[tuple[str, str, str]]:
    plan = run.plan
    if not plan.get("rescore"):
        return []
    since = run.created_at if plan["rescore"] == "anew" else 0.0
    found = []
    for trial in plan.get("trials") or ():
        row = reader.trial(str(trial))
        if row is None or row.run_id == run.id or row.state != "done":
            continue
        cards = {(score.rubric, score.judge): score for score in reader.scores(row.id)}
        for rubric in plan.get("rubrics") or ():
            for judge in judges_of(run):
                card = cards.get((rubric, judge))
                if card is None or card.at < since or card.problem:
                    found.append((row.id, rubric, judge))
    return found


def trial_problem(reader: SessionReader, trial: TrialRow) -> str:
    """Return why a done trial lacks scores of its run's judges, or "" if it has them.

    Judges of later rescorings are ignored.
    """
    if trial.state != "done":
        return ""
    meant = judges_of(reader.run(trial.run_id))
    every = reader.scores(trial.id)
    # The judges of an imported trial are in no plan, so all of its scores count.
    scores = [score for score in every if score.judge in meant] or every
    return next((score.problem for score in scores if score.problem), "")


def trial_state(reader: SessionReader, trial: TrialRow) -> str:
    """Return the displayed state of a trial: ``unscored`` if its judge failed, otherwise the state in its row."""
    return "unscored" if trial_problem(reader, trial) else trial.state


def has_unscored(reader: SessionReader, run_id: str) -> bool:
    run = reader.run(run_id)
    known = reader.query(
        "SELECT DISTINCT trial_id FROM scorecards JOIN trials ON trials.id = trial_id "
        "WHERE run_id = ? AND trials.state = 'done' AND problem != ''",
        (run_id,),
    )
    if any(row is not None and trial_problem(reader, row) for row in (reader.trial(trial) for (trial,) in known)):
        return True
    return run is not None and bool(lacking(reader, run))


def is_missing(reader: SessionReader, run: RunRow) -> bool:
    """Return whether a run without an engine has work left to resume."""
    if is_imported(run):
        return run.state != "done" and bool(run.plan["imported"].get("files"))
    if run.has_candidates:
        return run.state != "done" or bool(reader.query(_MISSING, (run.id, run.id)))
    if is_check(run):
        return any(row.state not in ("done", "failed") for row in reader.checks(run_id=run.id))
    if run.state in {"queued", "running"} or has_unscored(reader, run.id):
        return True
    return any(trial.state != "done" for trial in reader.trials(run.id)) or bool(unchecked(reader, run))


def unfinished(reader: SessionReader) -> list[RunRow]:
    """Return the runs that have work left but no engine."""
    return [run for run in reader.runs() if reader.holder(run.id) is None and is_missing(reader, run)]
