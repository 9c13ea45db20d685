"""What an order to improve docstrings will take at most, before it starts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from workbench.engine.estimate import Estimate, Measured, added, estimate_candidates, is_free, seconds_of_request
from workbench.engine.improvement_plan import ImprovementPlan
from workbench.engine.orders import ordered_work
from workbench.engine.regeneration_client import carried_out
from workbench.engine.regeneration_estimate import estimate_order, known_tasks
from workbench.engine.same_work import is_same_work
from workbench.engine.selection import chosen, row_id
from workbench.errors import UsageError
from workbench.improving.standing import standings
from workbench.results.kinds import Kind
from workbench.session import SessionReader


def estimate_improvement(measured: Measured, session: Path, plan: ImprovementPlan) -> Estimate:
    """Return an upper bound: every function is tried as often as it may be, and comes to its held-out samples each time.

    Raises:
        UsageError: The plan names what cannot be used here.
    """
    base = plan.base
    _check_tasks(session, plan)
    tried = _badly_documented(session, plan)
    if tried is not None:
        first = estimate_candidates(measured, base.source, base.evaluator, candidates=0)
    else:
        first = estimate_order(measured, base, session)
        tasks = known_tasks(measured, base.source)
        exact = bool(base.tasks) and not set("*?[") & set("".join(base.tasks))
        tried = len(base.tasks) if exact else tasks
    if tried is not None and plan.most:
        tried = min(tried, plan.most)
    if tried == 0:
        return first
    seen, held_out = plan.attempts * base.samples, (1 + plan.attempts) * plan.held_out
    more = [
        estimate_candidates(measured, base.source, model, candidates=None if tried is None else tried * each)
        for model, each in ((base.evaluator, seen), (plan.held_out_by, held_out))
    ]
    told = replace(added((first, *more)), building=first.building, documentation=first.documentation, up_to=True)
    if tried is None:
        return told
    written = tried * plan.attempts
    near = seconds_of_request(measured, plan.writer)
    return replace(
        told,
        requests=None if told.requests is None else told.requests + written,
        seconds=None if told.seconds is None or near is None else told.seconds + near[0] * written,
        dollars=told.dollars if is_free(plan.writer) else None,
    )


def _check_tasks(session: Path, plan: ImprovementPlan) -> None:
    base = plan.base
    if not base.tasks or not session.exists():
        return
    with SessionReader(session) as reader:
        rows = [task for run in reader.runs() if is_same_work(run, base) for task in reader.tasks(run.id)]
    if rows and not chosen(base.asks[0], [(row_id(task), task.id, task) for task in rows]):
        raise UsageError(f"No task is called {', '.join(base.tasks)}; `workbench tasks` lists their ids.")


def _badly_documented(session: Path, plan: ImprovementPlan) -> int | None:
    order = carried_out(session, plan.base)
    if order is None:
        return None
    with SessionReader(session) as reader:
        work = ordered_work(reader, order)
        found = standings(work.tasks, work.candidates, (), below=plan.below, samples=plan.base.samples)
    return sum(one.kind is Kind.BADLY for one in found)
