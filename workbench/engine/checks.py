"""Order checks of READMEs that trials handed in: a run that executes no agent and asks no model. Cheap to import."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from workbench.checking.stored import RULES
from workbench.engine.plan import DocumentPlan
from workbench.engine.plan_checks import check_place
from workbench.engine.trial_choice import trials_meant
from workbench.session import SessionReader, SessionWriter, engine_starts
from workbench.session.identity import run_id
from workbench.session.pending_work import is_check
from workbench.session.rows import CheckRow, TrialRow

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
    """Write a run that checks READMEs into their session.

    Returns the run's id, "" where everything meant has been or is being checked in the same way, and the trials meant. ``items`` are
    trials by id, its beginning, or their case, none for all with a README; ``block`` is the one to run once more, -1 for all.

    Raises:
        UsageError: Nothing is meant, or a named trial has no README.
    """
    with SessionReader(session) as reader:
        trials = trials_meant(session, reader.trials(), items, _has_readme, _why_not)
        known = {key_of(row): row for row in reader.checks()}
        if execute:
            _require_isolation()
        keys = [(trial.id, int(execute), float(seconds), RULES) for trial in trials]
        idle = [key for key in keys if not _is_under_way(reader, known.get(key))]
        waits = [key for key in idle if anew or block >= 0 or not _is_done(known.get(key))]
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
    check_place(session)
    run = run_id()
    engine_starts.announce(run)
    with SessionWriter(session) as writer, writer.transaction():
        writer.add_run(run, "document", plan.to_json())
        for key in waits:
            writer.put_check(key, run, block if block >= 0 else None)
        for former in emptied:
            writer.set_run(
                former, state="done", finished_at=time.time(), note=f"what it lacked was begun again by {run}"
            )
    return run, meant


def _require_isolation() -> None:
    from workbench.checking.environment import require_isolation

    require_isolation()


def key_of(row: CheckRow) -> Key:
    return row.trial_id, row.executed, row.step_seconds, row.rules


def _is_done(row: CheckRow | None) -> bool:
    return row is not None and row.state == "done"


def _is_under_way(reader: SessionReader, row: CheckRow | None) -> bool:
    return row is not None and row.state in ("queued", "running") and reader.holder(row.run_id) is not None


def _left_without_work(reader: SessionReader, taken: Sequence[Key]) -> list[str]:
    """Return the interrupted runs that have nothing left to check once these checks are another run's."""
    rows = [row for row in reader.checks() if row.state not in ("done", "failed")]
    former = {row.run_id for row in rows if key_of(row) in taken}
    keep = {row.run_id for row in rows if key_of(row) not in taken}
    runs = [run for run in map(reader.run, sorted(former - keep)) if run is not None]
    return [run.id for run in runs if is_check(run) and reader.run_state(run) == "interrupted"]


def _has_readme(row: TrialRow) -> bool:
    return row.readme_blob is not None


def _why_not(_: TrialRow) -> str:
    return "handed in no README that could be checked"
