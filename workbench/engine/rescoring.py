"""Order scores of recorded trials by other judges and rubrics: a run that executes no agent. Cheap to import."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench.engine.client import resolved_judge
from workbench.engine.plan import RUBRICS, DocumentPlan
from workbench.engine.plan_checks import check_place, check_scoring
from workbench.errors import UsageError
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

    Args:
        session: The session file.
        items: Trials, by id, its beginning, or their case; empty = all that handed something in.
        judges: ``offline`` or models; empty = the default of this machine.
        rubrics: Names of rubrics; empty = all.
        judge_repeats: Times that a model judges each tier.
        spend_limit: US dollars, 0 = the setting.

    Raises:
        UsageError: Nothing is meant, a named trial handed nothing in, or a judge or rubric is unknown.
        SessionError: The session cannot be written.
    """
    from workbench.settings import load

    with SessionReader(session) as reader:
        trials = _meant(session, reader.trials(), items)
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


def _meant(session: Path, rows: Sequence[TrialRow], items: Sequence[str]) -> list[TrialRow]:
    found: dict[str, TrialRow] = {}
    for item in items:
        mine = [row for row in rows if item in (row.id, row.case_id, row.case_name)]
        mine = mine or [row for row in rows if row.id.startswith(item)]
        if not mine:
            raise UsageError(f"{session.name} has no trial {item!r}; `workbench show {session}` lists them.")
        if not any(_handed_in(row) for row in mine):
            why = f"it is {mine[0].state}" if mine[0].state != "done" else "its file holds no README"
            raise UsageError(f"Trial {item} handed nothing in that could be scored: {why}.")
        found |= {row.id: row for row in mine if _handed_in(row)}
    if not items:
        found = {row.id: row for row in rows if _handed_in(row)}
    if not found:
        raise UsageError(f"{session.name} has no trial that handed something in, so there is nothing to score.")
    return list(found.values())


def _handed_in(row: TrialRow) -> bool:
    """Return whether a trial has something to score; one from another program's file may be done without."""
    return row.state == "done" and row.readme_blob is not None
