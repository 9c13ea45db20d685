"""How many candidates an order of a regeneration run will add, and what they will take. Cheap to import."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.builds import tasks_in_cache
from workbench.engine.estimate import (
    Estimate,
    Measured,
    added,
    estimate_candidates,
    estimate_tests,
    tasks_of,
    with_building,
)
from workbench.engine.plan import Ask, RegenerationPlan

if TYPE_CHECKING:
    from workbench.engine.estimate import Documentation
    from workbench.engine.rerunning import Again


def known_tasks(measured: Measured, source: str, limit: int = 0) -> int | None:
    """Return how many tasks a source has, by its name or as a path; None where neither a session nor the cache has them."""
    for name in (source, _as_path(source)):
        if (found := tasks_of(measured, name, limit)) is not None:
            return found
        if (built := tasks_in_cache(measured.builds.get(name))) is not None:
            return min(len(built), limit) if limit else len(built)
    return None


def _as_path(source: str) -> str:
    return str(Path(source).expanduser().absolute())


def new_candidates(measured: Measured, source: str, ask: Ask) -> int | None:
    """Return how many candidates an ask adds, those that the session has left out; None where tasks were never built.

    Of an ask for some tasks by pattern it is not known how many they are.
    """
    if ask.tasks:
        return len(ask.tasks) * ask.samples if not set("*?[") & set("".join(ask.tasks)) else None
    tasks = known_tasks(measured, source, ask.limit)
    if tasks is None or not ask.samples:
        return None
    had = measured.had.get((source, ask.evaluator), ())
    return sum(max(0, tasks - (had[sample] if sample < len(had) else 0)) for sample in range(ask.samples))


def estimate_ask(measured: Measured, source: str, ask: Ask, *, rebuild: bool = False) -> Estimate:
    """Return what an ask will take: its tasks are built where they are not yet, then its candidates are written and tested."""
    told = estimate_candidates(measured, source, ask.evaluator, candidates=new_candidates(measured, source, ask))
    return building_first(told, measured, source, rebuild=rebuild)


def estimate_order(measured: Measured, plan: RegenerationPlan, into: Path | None) -> Estimate:
    """Return what an order will take in a session: :func:`estimate_ask`, and before it what its doc system asks.

    Raises UsageError: the plan names what cannot be used here.
    """
    from workbench.engine.regeneration_client import full_ask

    told = estimate_ask(measured, plan.source, full_ask(plan), rebuild=plan.rebuild)
    return replace(told, documentation=documentation_of(measured, plan, into))


def documentation_of(measured: Measured, plan: RegenerationPlan, into: Path | None) -> Documentation:
    """Return what the doc system of an order asks before candidates are written; it reads the source, so call it in a thread."""
    from workbench.engine.docs_estimate import documentation
    from workbench.engine.regeneration_client import resolved
    from workbench.engine.study_estimate import is_documented

    whole = resolved(plan)
    return documentation(measured, [(whole, into is not None and is_documented(into, whole))])


def estimate_again(measured: Measured, again: Sequence[Again]) -> Estimate:
    """Return what parts of runs will take once more: see :func:`workbench.engine.rerunning.what_again`."""
    told = added(
        estimate_candidates(measured, one.source, one.evaluator, candidates=one.asked)
        if one.asked or not one.tested
        else estimate_tests(measured, one.source, one.tested)
        for one in again
    )
    for source in dict.fromkeys(one.source for one in again):
        told = building_first(told, measured, source)
    return told


def building_first(told: Estimate, measured: Measured, source: str, *, rebuild: bool = False) -> Estimate:
    """Add to an estimate the time that building the tasks of a source takes, by its name or as a path; see :func:`with_building`."""
    named = source if source in measured.builds else _as_path(source)
    return with_building(told, measured, named, rebuild=rebuild)
