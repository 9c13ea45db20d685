"""How many candidates an order of a regeneration run will add. Cheap to import."""

from __future__ import annotations

from pathlib import Path

from workbench.engine.estimate import Measured, tasks_of
from workbench.engine.plan import Ask, PlanDamaged, RegenerationPlan
from workbench.session import SessionReader


def known_tasks(measured: Measured, source: str, limit: int = 0) -> int | None:
    """Return how many tasks a source has, by its name or as a path; None where none were ever built."""
    found = tasks_of(measured, source, limit)
    return found if found is not None else tasks_of(measured, str(Path(source).expanduser().absolute()), limit)


def new_candidates(measured: Measured, session: Path | None, source: str, ask: Ask) -> int | None:
    """Return how many candidates an ask adds, those that the session has left out; None where tasks were never built.

    Args:
        measured: What former runs took.
        session: The session that is written, which may not be there yet; None for a new one.
        source: The source.
        ask: Evaluator, samples, tasks and limit. Of an ask for some tasks by name it is not known how many they are.
    """
    if ask.tasks:
        return len(ask.tasks) * ask.samples if all(character not in "".join(ask.tasks) for character in "*?[") else None
    tasks = known_tasks(measured, source, ask.limit)
    if tasks is None or not ask.samples:
        return None
    return max(0, tasks * ask.samples - _had(session, source, ask.evaluator, ask.samples))


def _had(session: Path | None, source: str, evaluator: str, samples: int) -> int:
    if session is None or not session.exists():
        return 0
    with SessionReader(session) as reader:
        for run in reader.runs():
            if run.kind != "regenerate":
                continue
            try:
                plan = RegenerationPlan.from_json(run.config)
            except PlanDamaged:
                continue
            if plan.source == source:
                have = (
                    "SELECT count(*) FROM candidates WHERE run_id = ? AND evaluator = ? AND control = 0 AND sample < ?"
                )
                return int(reader.query(have, (run.id, evaluator, samples))[0][0])
    return 0
