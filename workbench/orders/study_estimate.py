"""What a study will take before it starts, by measured rates; what the session has is left out."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench.agents.names import is_remote
from workbench.base.errors import WorkbenchError
from workbench.models.names import keys_unneeded
from workbench.orders.docs_estimate import documentation
from workbench.orders.estimate import Estimate, added, building_first, estimate_candidates, estimate_trials, known_tasks
from workbench.orders.measured import Measured, measure
from workbench.orders.orders import is_same_work
from workbench.orders.regenerate import absolute_source, resolved
from workbench.orders.run import meant_trials, ordered_case
from workbench.orders.study import document_plan, regeneration_plan
from workbench.plans.plan import RegenerationPlan
from workbench.regeneration.builds import most_tasks
from workbench.session import SessionReader
from workbench.session.rows import RunRow
from workbench.studies.checking import column_problem
from workbench.studies.declaration import AGENTS, Study
from workbench.studies.following import declared

_Group = tuple[str, str, str, str]
"""Run, evaluator, prompt and context."""

_HAD = """
SELECT tasks.run_id, counts.evaluator, counts.prompt, counts.context, total(min(counts.counted, ?))
FROM tasks JOIN verdict_counts AS counts ON counts.task_id = tasks.id WHERE tasks.state = 'ready' GROUP BY 1, 2, 3, 4
"""
_DOCUMENTED = "SELECT DISTINCT run_id FROM stages WHERE name = 'documentation' AND state = 'done'"


@dataclass(frozen=True, slots=True)
class _There:
    """What a session has: its runs, a study's counted samples by group, and the runs whose source is documented."""

    runs: Sequence[RunRow] = ()
    counted: Mapping[_Group, int] = field(default_factory=dict)
    documented: frozenset[str] = frozenset()

    def run_of(self, plan: RegenerationPlan) -> str:
        """Return the run that is the same work as a plan, "" for none."""
        return next((run.id for run in self.runs if is_same_work(run, plan)), "")


def estimate_study(measured: Measured, session: Path, study: Study, at_once: int) -> Estimate:
    """Return what will be executed of a study and what it will take, one cell after the other.

    Where tasks are not built yet and the study takes some of each source only, that many are an upper bound. What the
    ``session``, which may not be there yet, has is not counted; ``at_once`` trials run side by side.
    """
    if study.kind == AGENTS:
        found, lacking = [], []
        ordered = [ordered_case(row) for row in study.rows]
        for column in study.columns:
            try:
                with keys_unneeded():
                    asked, trials = meant_trials(session, document_plan(study, column), ordered)
            except WorkbenchError:
                if is_remote(column.system):
                    continue  # its cells will say why
                raise
            # What was begun and did not come to its end is taken up again.
            if cases := [one.case for one in trials if one.state != "done"]:
                lacking.append(column.name)
                found.append(
                    estimate_trials(
                        measured, cases, asked.agent, asked.model, asked.asked_judges, repeats=1, at_once=at_once
                    )
                )
        return _all(found, lacking) if found else Estimate(0, "trial", 0.0, 0.0, 0.0)
    plans = []
    for column in study.columns:
        if not column_problem(study, column):
            with contextlib.suppress(WorkbenchError), keys_unneeded():  # its cells will say why
                plans.append((column, resolved(regeneration_plan(study, study.rows[0], column))))
    planned = {column for column, _ in plans}
    left_out = tuple(dict.fromkeys(column.name for column in study.columns if column not in planned))
    there = _there(session, study.samples)
    cells, names, orders = [], [], []
    for row in study.rows:
        source, first = absolute_source(row), True
        for column, plan in plans:
            # What a plan is of other rows differs by the source alone.
            plan_of_cell, ask = replace(plan, source=source), plan.asks[0]
            run = there.run_of(plan_of_cell)
            tasks = None if ask.tasks else known_tasks(measured, source, ask.limit)
            counted = there.counted.get((run, ask.evaluator, ask.prompt, ask.context), 0)
            missing = None if tasks is None else max(0, tasks * study.samples - counted)
            if missing == 0:
                continue
            bound = most_tasks(source, ask.limit) if missing is None and not ask.tasks else None
            most = (bound or 0) * study.samples
            told = estimate_candidates(measured, row, column.model, candidates=missing or most or None)
            told = replace(told, up_to=missing is None and most > 0)
            cells.append(building_first(told, measured, row) if first else told)
            first = False
            names.append(f"{row} × {column.name}")
            orders.append((plan_of_cell, run in there.documented))
    if not cells:
        return Estimate(0, "candidate", 0.0, 0.0, 0.0, left_out=left_out)
    return replace(_all(cells, names), documentation=documentation(measured, orders), left_out=left_out)


def _all(found: Sequence[Estimate], names: Sequence[str]) -> Estimate:
    """Return all of some estimates; where the time of some is not known, that of the others, which says so."""
    whole = added(found)
    timed = [one.seconds for one in found if one.seconds is not None]
    if whole.count is None or whole.seconds is not None or not timed:
        return whole
    without = tuple(name for name, one in zip(names, found, strict=True) if one.seconds is None)
    return replace(whole, seconds=sum(timed), without=without)


def seconds_left(session: Path, name: str, at_once: int) -> float | None:
    """Return the seconds that a study of a session will still take, by what former work took; None where that is not known."""
    with SessionReader(session, surveyed=False) as reader:
        study = declared(reader, name)
    told = estimate_study(measure(session, session), session, study, at_once)
    docs = told.documentation
    if (
        told.building is None
        or told.seconds is None
        or told.without
        or (docs and (docs.unknown or docs.seconds is None))
    ):
        return None
    return told.seconds + (docs.seconds or 0.0 if docs else 0.0)


def _there(session: Path, samples: int) -> _There:
    if not session.exists():
        return _There()
    with SessionReader(session, surveyed=False) as reader:
        counted = {(run, *group): int(n) for run, *group, n in reader.query(_HAD, (samples,))}
        documented = frozenset(str(run) for (run,) in reader.query(_DOCUMENTED))
        return _There(reader.runs(), counted, documented)
