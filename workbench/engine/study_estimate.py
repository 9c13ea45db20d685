"""What a study will take before it starts: items, requests, time and cost of what the session lacks, by measured rates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from workbench.agents.remote_names import is_remote
from workbench.engine import client
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

    What a doc system asks for itself is in no estimate: nobody knows it before it has documented a repository.

    Args:
        measured: What former runs took.
        session: The session, which may not be there yet; what it has is not counted.
        study: A resolved study, see :func:`workbench.engine.study_client.resolved_study`.
        at_once: Trials that the engine runs side by side.
    """
    if study.kind == AGENTS:
        found = []
        for column in study.columns:
            try:
                plan, trials = client.meant_trials(session, document_plan(study, column))
            except WorkbenchError:
                if is_remote(column.system):
                    continue  # its cells will say why
                raise
            # What was begun and did not come to its end is taken up again.
            if cases := [one.case for one in trials if one.state != "done"]:
                found.append(
                    estimate_trials(
                        measured, cases, plan.agent, plan.model, plan.asked_judges, repeats=1, at_once=at_once
                    )
                )
        return added(found) if found else Estimate(0, "trial", 0.0, 0.0, 0.0)
    cells = []
    built: set[str] = set()
    for row in study.rows:
        for column in study.columns:
            if column_problem(study, column):
                continue
            try:
                plan_of_cell = resolved(regeneration_plan(study, row, column))
            except WorkbenchError:
                continue  # its cell will say why
            missing = _missing(measured, session, study, plan_of_cell)
            if missing == 0:
                continue
            told = estimate_candidates(measured, row, column.model, candidates=missing)
            if row not in built:
                told = building_first(told, measured, row)
                built.add(row)
            cells.append(told)
    if not cells:
        return Estimate(0, "candidate", 0.0, 0.0, 0.0)
    whole = added(cells)
    building = [one.building for one in cells]
    return replace(whole, building=None if None in building else sum(one or 0.0 for one in building))


def _missing(measured: Measured, session: Path, study: Study, plan: RegenerationPlan) -> int | None:
    """Return how many candidates a cell lacks, None where nobody knows yet how many tasks there are."""
    ask = plan.asks[0]
    tasks = known_tasks(measured, plan.source, ask.limit)
    if tasks is None or ask.tasks:
        return None
    return max(0, tasks * study.samples - _had(session, study, plan))


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
