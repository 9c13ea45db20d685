"""Estimate a study, excluding the cells that the session already contains."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench.agents.names import is_remote
from workbench.base.errors import WorkbenchError
from workbench.models.names import keys_unneeded
from workbench.orders.docs_estimate import documentation
from workbench.orders.estimate import (
    WorkEstimate,
    added,
    estimate_candidates,
    estimate_trials,
    task_count,
    with_build_time,
)
from workbench.orders.measured import MeasuredRates, measure, most_tasks
from workbench.orders.ordered_asks import is_same_work
from workbench.orders.regenerate import absolute_source, resolved
from workbench.orders.run import RequestedTrial, ordered_case, requested_trials
from workbench.orders.study import document_plan, regeneration_plan, unmeasured, usage_plan
from workbench.orders.usage import READERS, reader_ask
from workbench.plans.plan import RegenerationPlan
from workbench.results.page_scores import page_key
from workbench.session import SessionReader
from workbench.session.rows import RunRow
from workbench.studies.checking import column_problem
from workbench.studies.declaration import AGENTS, Study
from workbench.studies.study_reader import declared

_Group = tuple[str, str, str, str]
"""Run, evaluator, prompt and context."""

_HAD = """
SELECT tasks.run_id, counts.evaluator, counts.prompt, counts.context, total(min(counts.counted, ?))
FROM tasks JOIN verdict_counts AS counts ON counts.task_id = tasks.id WHERE tasks.state = 'ready' GROUP BY 1, 2, 3, 4
"""
_DOCUMENTED = "SELECT DISTINCT run_id FROM stages WHERE name = 'documentation' AND state = 'done'"


@dataclass(frozen=True, slots=True)
class _Recorded:
    """The runs of a session, the number of counted samples per group, and the runs with complete documentation."""

    runs: Sequence[RunRow] = ()
    counted: Mapping[_Group, int] = field(default_factory=dict)
    documented: frozenset[str] = frozenset()

    def run_of(self, plan: RegenerationPlan) -> str:
        """Return the run that a plan extends, or "" if there is none."""
        return next((run.id for run in self.runs if is_same_work(run, plan)), "")


def estimate_study(measured: MeasuredRates, session: Path, study: Study, at_once: int) -> WorkEstimate:
    """Estimate the missing cells of a study, executed one after another.

    If tasks are not built yet, the limit on the number of tasks is an upper bound. ``session`` need not exist yet;
    ``at_once`` trials run concurrently.
    """
    if study.kind == AGENTS:
        found, lacking, requested = [], [], list[RequestedTrial]()
        ordered = [ordered_case(row) for row in study.rows]
        for column in study.columns:
            try:
                with keys_unneeded():
                    asked, trials = requested_trials(session, document_plan(study, column), ordered)
            except WorkbenchError:
                if is_remote(column.system):
                    continue  # the cells of the column will explain why
                raise
            requested += trials
            # Unfinished trials will be resumed.
            if cases := [one.case for one in trials if one.state != "done"]:
                lacking.append(column.name)
                found.append(
                    estimate_trials(
                        measured, cases, asked.agent, asked.model, asked.asked_judges, repeats=1, at_once=at_once
                    )
                )
        whole = _all(found, lacking) if found else WorkEstimate(0, "trial", 0.0, 0.0, 0.0)
        return replace(whole, use=_estimate_use(measured, session, study, requested)) if study.settings.use else whole
    plans = []
    for column in study.columns:
        if not column_problem(study, column):
            with contextlib.suppress(WorkbenchError), keys_unneeded():  # the cells of the column will explain why
                plans.append((column, resolved(regeneration_plan(study, study.rows[0], column))))
    planned = {column for column, _ in plans}
    left_out = tuple(dict.fromkeys(column.name for column in study.columns if column not in planned))
    recorded = _recorded(session, study.samples)
    cells, names, orders = [], [], []
    for row in study.rows:
        source, first = absolute_source(row), True
        for column, plan in plans:
            # The plans of a column differ only in their sources.
            plan_of_cell, ask = replace(plan, source=source), plan.asks[0]
            run = recorded.run_of(plan_of_cell)
            tasks = None if ask.tasks else task_count(measured, source, ask.limit)
            counted = recorded.counted.get((run, ask.evaluator, ask.prompt, ask.context), 0)
            missing = None if tasks is None else max(0, tasks * study.samples - counted)
            if missing == 0:
                continue
            bound = most_tasks(source, ask.limit) if missing is None and not ask.tasks else None
            most = (bound or 0) * study.samples
            estimate = estimate_candidates(measured, row, column.model, candidates=missing or most or None)
            estimate = replace(estimate, up_to=missing is None and most > 0)
            cells.append(with_build_time(estimate, measured, row) if first else estimate)
            first = False
            names.append(f"{row} × {column.name}")
            orders.append((plan_of_cell, run in recorded.documented))
    if not cells:
        return WorkEstimate(0, "candidate", 0.0, 0.0, 0.0, left_out=left_out)
    return replace(_all(cells, names), documentation=documentation(measured, orders), left_out=left_out)


def _estimate_use(
    measured: MeasuredRates, session: Path, study: Study, trials: Sequence[RequestedTrial]
) -> WorkEstimate:
    """Estimate a reader's answers about READMEs that it has not seen; each missing trial is expected to write one."""
    with keys_unneeded():
        ask = reader_ask(usage_plan(study))
    pages = Counter(one.case for one in trials if one.state != "done")
    tasks: dict[str, int] = {}
    if session.exists():
        with SessionReader(session, surveyed=False) as reader:
            done = [one.identity for one in trials if one.state == "done"]
            pages.update({case: len(found) for case, found in unmeasured(reader, study, done).items()})
            for run in reader.runs():
                if run.kind == "usage" and (built := sum(task.state != "excluded" for task in reader.tasks(run.id))):
                    tasks[page_key(str(run.plan.get("source")), "")[0]] = built
    known = {case: tasks.get(page_key(case, "")[0]) for case in pages}
    estimate = added(
        estimate_candidates(
            measured, case, ask.evaluator, candidates=each * count * ask.samples if (each := known[case]) else None
        )
        for case, count in pages.items()
    )
    estimate = replace(estimate, noun="answer")
    return replace(estimate, requests=0.0) if ask.evaluator in READERS else estimate


def _all(found: Sequence[WorkEstimate], names: Sequence[str]) -> WorkEstimate:
    """Add estimates; if some have no time, the sum has the time of the others and lists the columns without one."""
    whole = added(found)
    timed = [one.seconds for one in found if one.seconds is not None]
    if whole.count is None or whole.seconds is not None or not timed:
        return whole
    without = tuple(name for name, one in zip(names, found, strict=True) if one.seconds is None)
    return replace(whole, seconds=sum(timed), without=without)


def seconds_left(session: Path, name: str, at_once: int) -> float | None:
    """Return the estimated remaining seconds of a study, or None if unknown."""
    with SessionReader(session, surveyed=False) as reader:
        study = declared(reader, name)
    estimate = estimate_study(measure(session, session), session, study, at_once)
    docs = estimate.documentation
    if (
        estimate.building is None
        or estimate.seconds is None
        or estimate.without
        or (docs and (docs.unknown or docs.seconds is None))
    ):
        return None
    return estimate.seconds + (docs.seconds or 0.0 if docs else 0.0)


def _recorded(session: Path, samples: int) -> _Recorded:
    if not session.exists():
        return _Recorded()
    with SessionReader(session, surveyed=False) as reader:
        counted = {(run, *group): int(n) for run, *group, n in reader.query(_HAD, (samples,))}
        documented = frozenset(str(run) for (run,) in reader.query(_DOCUMENTED))
        return _Recorded(reader.runs(), counted, documented)
