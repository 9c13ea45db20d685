"""What a study will take before it starts: items, requests, time and cost of what the session lacks, by measured rates."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.engine import client
from workbench.engine.estimate import Estimate, Measured, added, estimate_candidates, estimate_trials
from workbench.engine.measured import measure
from workbench.engine.plan import RegenerationPlan
from workbench.engine.regeneration_client import absolute_source, resolved
from workbench.engine.regeneration_estimate import building_first, known_tasks
from workbench.engine.same_work import is_same_work
from workbench.engine.study_client import document_plan, regeneration_plan
from workbench.engine.trial_contents import ordered_case
from workbench.errors import WorkbenchError
from workbench.session import SessionReader
from workbench.session.rows import RunRow
from workbench.studies.checking import column_problem
from workbench.studies.declaration import AGENTS, Column, Study
from workbench.studies.following import declared

_Group = tuple[str, str, str, str]
"""Run, evaluator, prompt and context."""


_HAD = """
SELECT tasks.run_id, counts.evaluator, counts.prompt, counts.context, total(min(counts.counted, ?))
FROM tasks JOIN verdict_counts AS counts ON counts.task_id = tasks.id WHERE tasks.state = 'ready' GROUP BY 1, 2, 3, 4
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
        ordered = [ordered_case(row) for row in study.rows]
        for column in study.columns:
            asked, trials = client.meant_trials(session, document_plan(study, column), ordered)
            # What was begun and did not come to its end is taken up again.
            if cases := [one.case for one in trials if one.state != "done"]:
                found.append(
                    estimate_trials(
                        measured, cases, asked.agent, asked.model, asked.asked_judges, repeats=1, at_once=at_once
                    )
                )
        return added(found) if found else Estimate(0, "trial", 0.0, 0.0, 0.0)
    plans = _plans(study)
    runs, had = _had(session, study)
    cells = []
    for row in study.rows:
        source, first = absolute_source(row), True
        for column, plan in plans:
            plan_of_cell = replace(plan, source=source)
            missing = _missing(measured, study, plan_of_cell, runs, had)
            if missing == 0:
                continue
            told = estimate_candidates(measured, row, column.model, candidates=missing)
            cells.append(building_first(told, measured, row) if first else told)
            first = False
    if not cells:
        return Estimate(0, "candidate", 0.0, 0.0, 0.0)
    whole = added(cells)
    building = [one.building for one in cells]
    return replace(whole, building=None if None in building else sum(one or 0.0 for one in building))


def seconds_left(session: Path, name: str, at_once: int) -> float | None:
    """Return the seconds that a study of a session will still take, by what former work took; None where that is not known.

    Args:
        session: The session file.
        name: Name of the study in it.
        at_once: Trials that the engine runs side by side.

    Raises:
        WorkbenchError: The session cannot be read, or the study names what is gone.
    """
    with SessionReader(session, surveyed=False) as reader:
        study = declared(reader, name)
    told = estimate_study(measure(session, session), session, study, at_once)
    return None if told.building is None else told.seconds


def _plans(study: Study) -> list[tuple[Column, RegenerationPlan]]:
    """Return the plan of each column that can be executed, on the first row: what it is of others differs by the source alone."""
    plans = []
    for column in study.columns:
        if not column_problem(study, column):
            with contextlib.suppress(WorkbenchError):  # its cells will say why
                plans.append((column, resolved(regeneration_plan(study, study.rows[0], column))))
    return plans


def _missing(
    measured: Measured, study: Study, plan: RegenerationPlan, runs: Sequence[RunRow], had: Mapping[_Group, int]
) -> int | None:
    """Return how many candidates a cell lacks, None where nobody knows yet how many tasks there are."""
    ask = plan.asks[0]
    tasks = known_tasks(measured, plan.source, ask.limit)
    if tasks is None or ask.tasks:
        return None
    run = next((run for run in runs if is_same_work(run, plan)), None)
    counted = had.get((run.id, ask.evaluator, ask.prompt, ask.context), 0) if run is not None else 0
    return max(0, tasks * study.samples - counted)


def _had(session: Path, study: Study) -> tuple[list[RunRow], dict[_Group, int]]:
    """Return the runs of a session, and how many of a cell's samples each has by evaluator, prompt and context."""
    if not session.exists():
        return [], {}
    with SessionReader(session, surveyed=False) as reader:
        return reader.runs(), {(run, *group): int(n) for run, *group, n in reader.query(_HAD, (study.samples,))}
