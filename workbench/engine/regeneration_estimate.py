"""How many candidates an order of a regeneration run will add. Cheap to import."""

from __future__ import annotations

from pathlib import Path

from workbench.engine.estimate import Measured, tasks_of
from workbench.engine.plan import Ask


def known_tasks(measured: Measured, source: str, limit: int = 0) -> int | None:
    """Return how many tasks a source has, by its name or as a path; None where none were ever built."""
    found = tasks_of(measured, source, limit)
    return found if found is not None else tasks_of(measured, str(Path(source).expanduser().absolute()), limit)


def new_candidates(measured: Measured, source: str, ask: Ask) -> int | None:
    """Return how many candidates an ask adds, those that the session has left out; None where tasks were never built.

    Args:
        measured: What former runs took, and what the session has.
        source: The source.
        ask: Evaluator, samples, tasks and limit. Of an ask for some tasks by pattern it is not known how many they are.
    """
    if ask.tasks:
        return len(ask.tasks) * ask.samples if not set("*?[") & set("".join(ask.tasks)) else None
    tasks = known_tasks(measured, source, ask.limit)
    if tasks is None or not ask.samples:
        return None
    had = measured.had.get((source, ask.evaluator), ())
    return sum(max(0, tasks - (had[sample] if sample < len(had) else 0)) for sample in range(ask.samples))
