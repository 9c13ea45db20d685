"""What a study will take before it starts: items, requests, time and cost of what the session lacks, by measured rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from workbench.engine import client
from workbench.engine.docs_estimate import documentation
from workbench.engine.estimate import Estimate, Measured, added, estimate_candidates, estimate_trials
from workbench.engine.plan import RegenerationPlan
from workbench.engine.regeneration_client import resolved
from workbench.engine.regeneration_estimate import building_first, known_tasks
from workbench.engine.same_work import is_same_work
from workbench.engine.study_client import document_plan, regeneration_plan
from workbench.errors import WorkbenchError
from workbench.session import SessionReader
from workbench.studies.checking import column_problem
from workbench.studies.declaration import AGENTS, Study

_HAD = """
SELECT total(min(counts.counted, ?)) FROM tasks JOIN verdict_counts AS counts ON counts.task_id = tasks.id
WHERE tasks.run_id = ? AND counts.evaluator = ? AND counts.prompt = ? AND counts.context = ? AND tasks.state = 'ready'
"""


def estimate_study(measured: Measured, session: Path, study: Study, at_once: int) -> Estimate:
    """Return what will be executed of a study and what it will take, one cell after the other.

    What doc systems ask by themselves stands apart (:mod:`workbench.engine.docs_estimate`). Where tasks are not built yet and the
    study takes some of each source only, that many are an upper bound.

    Args:
        measured: What former runs took.
        session: The session, which may not be there yet; what it has is not counted.
        study: A resolved study, see :func:`workbench.engine.study_client.resolved_study`.
        at_once: Trials that the engine runs side by side.
    """
    if study.kind == AGENTS:
        found = []
        lacking = []
        for column in study.columns:
            plan, trials = client.meant_trials(session, document_plan(study, column))
            # What was begun and did not come to its end is taken up again.
            if cases := [one.case for one in trials if one.state != "done"]:
                lacking.append(column.name)
                found.append(
                    estimate_trials(
                        measured, cases, plan.agent, plan.model, plan.asked_judges, repeats=1, at_once=at_once
                    )
                )
        return _all(found, lacking) if found else Estimate(0, "trial", 0.0, 0.0, 0.0)
    cells = []
    names = []
    orders = []
    built: set[str] = set()
    left_out: dict[str, None] = {}
    for row in study.rows:
        for column in study.columns:
            if column_problem(study, column):
                left_out[column.name] = None
                continue
            try:
                plan_of_cell = resolved(regeneration_plan(study, row, column))
            except WorkbenchError:
                left_out[column.name] = None  # its cell will say why
                continue
            missing = _missing(measured, session, study, plan_of_cell)
            if missing == 0:
                continue
            most = study.limits.tasks * study.samples if not plan_of_cell.asks[0].tasks else 0
            told = estimate_candidates(measured, row, column.model, candidates=missing or most or None)
            told = replace(told, up_to=missing is None and most > 0)
            if row not in built:
                told = building_first(told, measured, row)
                built.add(row)
            cells.append(told)
            names.append(f"{row} × {column.name}")
            orders.append((plan_of_cell, is_documented(session, plan_of_cell)))
    if not cells:
        return Estimate(0, "candidate", 0.0, 0.0, 0.0, left_out=tuple(left_out))
    building = [one.building for one in cells]
    return replace(
        _all(cells, names),
        building=None if None in building else sum(one or 0.0 for one in building),
        documentation=documentation(measured, orders),
        left_out=tuple(left_out),
    )


def _all(found: Sequence[Estimate], names: Sequence[str]) -> Estimate:
    """Return all of some estimates; where the time of some is not known, that of the others, which says so."""
    whole = replace(added(found), up_to=any(one.up_to for one in found))
    timed = [one.seconds for one in found if one.seconds is not None]
    if whole.count is None or whole.seconds is not None or not timed:
        return whole
    without = tuple(name for name, one in zip(names, found, strict=True) if one.seconds is None)
    return replace(whole, seconds=sum(timed), without=without)


def _missing(measured: Measured, session: Path, study: Study, plan: RegenerationPlan) -> int | None:
    """Return how many candidates a cell lacks, None where nobody knows yet how many tasks there are."""
    ask = plan.asks[0]
    tasks = known_tasks(measured, plan.source, ask.limit)
    if tasks is None or ask.tasks:
        return None
    return max(0, tasks * study.samples - _had(session, study, plan))


def is_documented(session: Path, plan: RegenerationPlan) -> bool:
    """Return whether a session has what a doc system wrote for an order, all of it."""
    if not session.exists():
        return False
    with SessionReader(session, surveyed=False) as reader:
        return any(
            is_same_work(run, plan)
            and any(stage.name == "documentation" and stage.state == "done" for stage in reader.stages(run.id))
            for run in reader.runs()
        )


def _had(session: Path, study: Study, plan: RegenerationPlan) -> int:
    if not session.exists():
        return 0
    ask = plan.asks[0]
    with SessionReader(session, surveyed=False) as reader:
        for run in reader.runs():
            if is_same_work(run, plan):
                found = reader.query(_HAD, (study.samples, run.id, ask.evaluator, ask.prompt, ask.context))
                return int(found[0][0])
    return 0
