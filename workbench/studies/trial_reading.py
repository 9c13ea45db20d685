"""Trials of a study: those of its cells, and those that other sessions have of its cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from workbench.results.scores import scores_of, totals_of
from workbench.results.studies import step_settings
from workbench.results.trials import trials_named, trials_on
from workbench.rubric.spread import Total
from workbench.rubric.works import works_by_trial
from workbench.session.groups import AGENT_LIMITS, settings_of
from workbench.session.reader import SessionReader
from workbench.session.rows import ScoreRow, StudyCellRow, TrialRow
from workbench.studies.declaration import Column, Study
from workbench.studies.reading import PUT_AWAY, CellWork, TrialTally, loudest, run_states


class _Known(NamedTuple):
    """What is known of trials, by trial: scorecards, checks, how models were asked, what their runs were planned with."""

    scores: Mapping[str, Mapping[tuple[str, str], ScoreRow]]
    totals: Mapping[str, Mapping[tuple[str, str], Total]]
    checks: Mapping[str, Mapping[str, tuple[int, int, int]]]
    asked: Mapping[str, tuple[set[str], bool]]
    plans: Mapping[str, Mapping[str, Any]]


def trial_cells(
    reader: SessionReader, study: Study, pointed: Sequence[StudyCellRow]
) -> dict[tuple[str, str], CellWork]:
    """Return the cells of a study of agents, by row and column name."""
    meant = {(one.row_name, one.column_name): _trials_meant(one) for one in pointed}
    every = list(dict.fromkeys(trial for trials in meant.values() for trial in trials))
    rows = {row.id: row for row in trials_named(reader, every)}
    known = _known(reader, every)
    states = run_states(reader, {row.run_id for row in rows.values()} | {one.run_id for one in pointed if one.run_id})
    away = {run.id for run in reader.every_run() if run.deleted_at is not None}
    columns = {column.name: column for column in study.columns}
    cells = {}
    for one in pointed:
        if one.column_name not in columns:
            continue
        found = [rows[trial] for trial in meant[one.row_name, one.column_name] if trial in rows]
        own = one.run_id if one.run_id and one.run_id not in away else ""
        runs = list(dict.fromkeys(row.run_id for row in found)) or ([own] if own else [])
        told = [states.get(run, ("", "")) for run in runs]
        cells[one.row_name, one.column_name] = _trial_cell(
            one.row_name,
            columns[one.column_name],
            found,
            known,
            planned=max(study.repeats, len(found)),
            run=own or (runs[0] if runs else ""),
            run_state=loudest(state for state, _ in told),
            problem=one.problem
            or next((error for _, error in told if error), "")
            or (PUT_AWAY if len(found) < len(meant[one.row_name, one.column_name]) else ""),
        )
    return cells


def _trials_meant(cell: StudyCellRow) -> list[str]:
    found = settings_of(cell.pointer).get("trials")
    return list(dict.fromkeys(map(str, found))) if isinstance(found, list) else []


def _known(reader: SessionReader, trials: Sequence[str]) -> _Known:
    scores: dict[str, dict[tuple[str, str], ScoreRow]] = {}
    totals: dict[str, dict[tuple[str, str], Total]] = {}
    rows = scores_of(reader, trials)
    known = totals_of(reader, rows)
    for row in rows:
        scores.setdefault(row.trial_id, {})[row.rubric, row.judge] = row
        totals.setdefault(row.trial_id, {})[row.rubric, row.judge] = known[row.trial_id, row.rubric, row.judge]
    checks = {
        trial: {"works": (found.works, found.run, found.blocks), "claims": (found.true, found.said, found.claims)}
        for trial, found in works_by_trial(reader).items()
    }
    asked: dict[str, tuple[set[str], bool]] = {}
    for trial, settings, cut in step_settings(reader, trials):
        ways, before = asked.get(trial, (set(), False))
        asked[trial] = ways | {settings}, before or cut
    return _Known(scores, totals, checks, asked, {run.id: run.plan for run in reader.every_run()})


def _trial_cell(
    row: str, column: Column, found: Sequence[TrialRow], known: _Known, *, planned: int, run: str, run_state: str, problem: str,
    session: str = "",
) -> CellWork:  # fmt: skip
    trials = tuple(
        TrialTally(
            one.id,
            one.repeat,
            one.state,
            one.error or "",
            one.steps,
            one.prompt_tokens + one.completion_tokens,
            one.cost_usd,
            one.seconds or 0.0,
            scores=known.scores.get(one.id, {}),
            checks=known.checks.get(one.id, {}),
            cut=known.asked.get(one.id, (set(), False))[1],
            readme=one.readme_blob is not None,
            totals=known.totals.get(one.id, {}),
        )
        for one in sorted(found, key=lambda one: (one.repeat, one.id))
    )
    costs = [one.cost_usd for one in trials if one.cost_usd is not None]
    failed = next((one.error for one in trials if one.state == "failed" and one.error), "")
    return CellWork(
        row, column, run, session, run_state, problem or failed, planned, trials=trials,
        tokens=sum(one.tokens for one in trials), cost_usd=sum(costs) if costs else None,
        seconds=sum(one.seconds for one in trials), conditions=_conditions(found, known),
    )  # fmt: skip


def _conditions(found: Sequence[TrialRow], known: _Known) -> dict[str, str]:
    """Return under what trials were made; where they differ among themselves a condition has all of their values."""
    values: dict[str, set[str]] = {}
    for trial in found:
        plan = known.plans.get(trial.run_id, {})
        mine = {name: plan.get(key) or None for key, name in AGENT_LIMITS.items()}
        mine |= {"content of the case": trial.content, "snapshot": trial.snapshot}
        for settings in known.asked.get(trial.id, (set(), False))[0]:
            mine |= {name.replace("_", " "): value for name, value in settings_of(settings).items()}
        for name, value in mine.items():
            if value not in (None, ""):
                values.setdefault(name, set()).add(str(value))
    return {name: "; ".join(sorted(mine)) for name, mine in values.items()}


def trials_of_others(reader: SessionReader, study: Study, source: str, _: object) -> list[CellWork]:
    """Return what another session has of the cases of a study, as cells of further columns."""
    rows = trials_on(reader, study.rows)
    known = _known(reader, [row.id for row in rows])
    cells: dict[tuple[str, Column], list[TrialRow]] = {}
    for row in rows:
        cells.setdefault((row.case_id, Column(row.agent, row.model, source)), []).append(row)
    return [
        _trial_cell(case, column, found, known, planned=len(found), run=found[0].run_id, run_state="done", problem="",
                    session=str(reader.path))
        for (case, column), found in cells.items()
    ]  # fmt: skip
