"""Trials of a study: those of its cells, and those that other sessions have of its cases."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from workbench.results.scores import totals_of
from workbench.rubric.totals import Total
from workbench.rubric.works import works_by_trial
from workbench.session.groups import settings_of
from workbench.session.reader import SessionReader
from workbench.session.rows import ScoreRow, StudyCellRow
from workbench.session.schema import PUT_AWAY_RUNS
from workbench.studies.declaration import Column, Study
from workbench.studies.reading import PUT_AWAY, CellWork, TrialTally, loudest, run_states

_TRIALS = f"""
SELECT id, run_id, case_id, agent, model, repeat, state, coalesce(error, ''), steps, prompt_tokens + completion_tokens, cost_usd,
       coalesce(seconds, 0), readme_blob IS NOT NULL, content, coalesce(snapshot, '') FROM trials
WHERE parent = '' AND run_id NOT IN {PUT_AWAY_RUNS} AND
"""
"""Forks and trials of runs that were put away are in no figure."""
_ASKED = """
SELECT trial_id, steps.settings, max(coalesce(finish_reason = 'length', 0))
FROM steps LEFT JOIN calls ON calls.id = call_id WHERE trial_id IN (SELECT value FROM json_each(?)) GROUP BY 1, 2
"""
_LIMITS = {"max_steps": "limit of steps", "read_limit": "characters read at once"}
"""Of the plan of a run: what an agent may do, and what that is called."""


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
    every = json.dumps(list(dict.fromkeys(trial for trials in meant.values() for trial in trials)))
    rows = {row[0]: row for row in reader.query(f"{_TRIALS} id IN (SELECT value FROM json_each(?))", (every,))}
    known = _known(reader, every)
    states = run_states(reader, {row[1] for row in rows.values()} | {one.run_id for one in pointed if one.run_id})
    away = {run.id for run in reader.every_run() if run.deleted_at is not None}
    columns = {column.name: column for column in study.columns}
    cells = {}
    for one in pointed:
        if one.column_name not in columns:
            continue
        found = [rows[trial] for trial in meant[one.row_name, one.column_name] if trial in rows]
        own = one.run_id if one.run_id and one.run_id not in away else ""
        runs = list(dict.fromkeys(row[1] for row in found)) or ([own] if own else [])
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


def _known(reader: SessionReader, trials: str) -> _Known:
    """Return what is known of trials, given as a JSON list of their ids."""
    scores: dict[str, dict[tuple[str, str], ScoreRow]] = {}
    totals: dict[str, dict[tuple[str, str], Total]] = {}
    rows = reader.rows(ScoreRow, "scorecards", "WHERE trial_id IN (SELECT value FROM json_each(?))", (trials,))
    known = totals_of(reader, rows)
    for row in rows:
        scores.setdefault(row.trial_id, {})[row.rubric, row.judge] = row
        totals.setdefault(row.trial_id, {})[row.rubric, row.judge] = known[row.trial_id, row.rubric, row.judge]
    checks = {
        trial: {"works": (found.works, found.run, found.blocks), "claims": (found.true, found.said, found.claims)}
        for trial, found in works_by_trial(reader).items()
    }
    asked: dict[str, tuple[set[str], bool]] = {}
    for trial, settings, cut in reader.query(_ASKED, (trials,)):
        ways, before = asked.get(trial, (set(), False))
        asked[trial] = ways | {settings}, before or bool(cut)
    return _Known(scores, totals, checks, asked, {run.id: settings_of(run.config) for run in reader.every_run()})


def _trial_cell(
    row: str, column: Column, found: Sequence[Any], known: _Known, *, planned: int, run: str, run_state: str, problem: str,
    session: str = "",
) -> CellWork:  # fmt: skip
    trials = tuple(
        TrialTally(
            one[0],
            one[5],
            one[6],
            one[7],
            one[8],
            one[9],
            one[10],
            one[11],
            scores=known.scores.get(one[0], {}),
            checks=known.checks.get(one[0], {}),
            cut=known.asked.get(one[0], (set(), False))[1],
            readme=bool(one[12]),
            totals=known.totals.get(one[0], {}),
        )
        for one in sorted(found, key=lambda one: (one[5], one[0]))
    )
    costs = [one.cost_usd for one in trials if one.cost_usd is not None]
    failed = next((one.error for one in trials if one.state == "failed" and one.error), "")
    return CellWork(
        row, column, run, session, run_state, problem or failed, planned, trials=trials,
        tokens=sum(one.tokens for one in trials), cost_usd=sum(costs) if costs else None,
        seconds=sum(one.seconds for one in trials), conditions=_conditions(found, known),
    )  # fmt: skip


def _conditions(found: Sequence[Any], known: _Known) -> dict[str, str]:
    """Return under what trials were made; where they differ among themselves a condition has all of their values."""
    values: dict[str, set[str]] = {}
    for trial, run, *_, content, snapshot in found:
        plan = known.plans.get(run, {})
        mine = {name: plan.get(key) or None for key, name in _LIMITS.items()}
        mine |= {"content of the case": content, "snapshot": snapshot}
        for settings in known.asked.get(trial, (set(), False))[0]:
            mine |= {name.replace("_", " "): value for name, value in settings_of(settings).items()}
        for name, value in mine.items():
            if value not in (None, ""):
                values.setdefault(name, set()).add(str(value))
    return {name: "; ".join(sorted(mine)) for name, mine in values.items()}


def trials_of_others(reader: SessionReader, study: Study, source: str, _: object) -> list[CellWork]:
    """Return what another session has of the cases of a study, as cells of further columns."""
    rows = reader.query(
        f"{_TRIALS} case_id IN (SELECT value FROM json_each(?))",
        (json.dumps(study.rows),),
    )
    known = _known(reader, json.dumps([row[0] for row in rows]))
    cells: dict[tuple[str, Column], list[Any]] = {}
    for row in rows:
        cells.setdefault((row[2], Column(row[3], row[4], source)), []).append(row)
    return [
        _trial_cell(case, column, found, known, planned=len(found), run=found[0][1], run_state="done", problem="",
                    session=str(reader.path))
        for (case, column), found in cells.items()
    ]  # fmt: skip
