"""Order scores of recorded trials by other judges and rubrics: a run that executes no agent. Cheap to import."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench.engine.client import resolved_judge
from workbench.engine.plan import RUBRICS, DocumentPlan
from workbench.engine.plan_checks import check_place, check_scoring
from workbench.engine.trial_choice import trials_meant
from workbench.session import SessionReader, SessionWriter, engine_starts
from workbench.session.identity import run_id
from workbench.session.rows import TrialRow


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

    What other judges gave stays beside the new scores; the same judge's score by the same rubric is replaced.

    ``items`` are trials by id, its beginning, or their case; what is empty is all, or the default of this machine.

    Raises:
        UsageError: Nothing is meant, a named trial handed nothing in, or a judge or rubric is unknown.
    """
    from workbench.settings import load

    with SessionReader(session) as reader:
        trials = trials_meant(session, reader.trials(), items, _handed_in, _why_not)
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
    check_place(session)
    run = run_id()
    engine_starts.announce(run)
    with SessionWriter(session) as writer, writer.transaction():
        writer.add_run(run, "document", plan.to_json())
    return run


def _handed_in(row: TrialRow) -> bool:
    """Return whether a trial has something to score; one from another program's file may be done without."""
    return row.state == "done" and row.readme_blob is not None


def _why_not(row: TrialRow) -> str:
    why = f"it is {row.state}" if row.state != "done" else "its file holds no README"
    return f"handed nothing in that could be scored: {why}"
