"""What a session has of a study: for each cell its trials, or its tasks with their counts; of other sessions likewise.

Nothing is computed here. Of candidates only the counts are read that the session keeps (``verdict_counts``), never rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from workbench.rubric.works import works_by_trial
from workbench.session.groups import settings_of
from workbench.session.judges import OFFLINE, RULE, is_offline, recorded_as
from workbench.session.reader import SessionReader
from workbench.session.rows import RunRow, StudyCellRow
from workbench.session.schema import PUT_AWAY_RUNS
from workbench.session.task_names import picked, readable_id
from workbench.session.verdict_counts import COUNTS_OF_CANDIDATES
from workbench.studies.declaration import Column, Study

RUBRIC = "aeo-bench"
"""By what trials are measured where a study names no rubric."""
Group = tuple[str, str, str]
"""Evaluator, prompt and context of a cell's candidates."""


class TaskInfo(NamedTuple):
    """A task as it stands under every evaluator of its run; a tuple, because there are thousands."""

    task: str
    file: str
    function: str
    occurrence: int
    tests: int
    documented: int


class TaskTally(NamedTuple):
    """One task under one cell: of ``samples`` candidates ``waiting`` have no verdict, ``counted`` count, ``passed`` passed."""

    task: str
    file: str
    function: str
    occurrence: int
    tests: int
    documented: int
    samples: int
    waiting: int
    counted: int
    passed: int

    @property
    def name(self) -> str:
        """Its readable id, by which the same function under another doc system is found."""
        return readable_id(self.file, self.function, self.occurrence)


@dataclass(frozen=True, slots=True)
class TrialTally:
    """One trial under one cell.

    ``scores`` has its points by rubric and judge: (total, out of, four tiers). ``checks`` has what its check says by measure:
    blocks that work of those that were run (``works``), claims that are true of those that can be said (``claims``).
    """

    trial: str
    repeat: int
    state: str
    error: str
    steps: int
    tokens: int
    cost_usd: float | None
    seconds: float
    scores: Mapping[tuple[str, str], tuple[float | None, float, tuple[float | None, ...]]] = field(default_factory=dict)
    checks: Mapping[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CellWork:
    """What there is of a cell.

    Attributes:
        row: Its row.
        column: Its column.
        run: The run that has it, "" while there is none.
        session: The session file that has it, "" for the study's own.
        run_state: State of that run, "" without one.
        problem: Why it could not be planned, or why its run ended, "" for nothing.
        planned: Trials or candidates that it will have, None where that is not known yet.
        counts: Of each task what it is, its samples, and how many of them wait, count and passed; see :attr:`tasks`.
        trials: Its trials.
        group: Evaluator, prompt and context of its candidates.
        tokens: Of all its requests.
        cost_usd: Of all its requests, None where no price is known.
        seconds: Of its trials, or of asking for and testing its candidates.
        settings: How its candidates were sampled; with :attr:`group` it says which candidates these are.
    """

    row: str
    column: Column
    run: str = ""
    session: str = ""
    run_state: str = ""
    problem: str = ""
    planned: int | None = None
    counts: tuple[tuple[TaskInfo, int, int, int, int], ...] = ()
    trials: tuple[TrialTally, ...] = ()
    group: Group = ("", "", "")
    tokens: int = 0
    cost_usd: float | None = None
    seconds: float = 0.0
    settings: str = ""

    @property
    def tasks(self) -> tuple[TaskTally, ...]:
        """Its tasks with their counts."""
        return tuple(TaskTally(*info, *numbers) for info, *numbers in self.counts)


@dataclass(frozen=True, slots=True)
class StudyWork:
    """All that there is of a study: the cells in the order of rows and columns, and what could not be read of others."""

    study: Study
    columns: tuple[Column, ...]
    cells: Mapping[tuple[str, str], CellWork]
    scale: tuple[str, str] = ("", "")
    problems: tuple[str, ...] = ()
    problem: str = ""


def scale_of(study: Study, cells: Iterable[CellWork]) -> tuple[str, str]:
    """Return by which rubric and judge trials are measured: those that the study names first, as far as there are such scores."""
    wanted = (
        (study.settings.rubrics or (RUBRIC,))[0],
        recorded_as((study.settings.judges or (OFFLINE,))[0]),
    )
    counts: dict[tuple[str, str], int] = {}
    for cell in cells:
        for trial in cell.trials:
            for scale in trial.scores:
                counts[scale] = counts.get(scale, 0) + 1
    if wanted in counts or not counts:
        return wanted
    return max(
        counts,
        key=lambda one: (
            one[0] == wanted[0],
            is_offline(one[1]) == is_offline(wanted[1]),
            one[1] == RULE,
            counts[one],
            one,
        ),
    )


# -- trials

_TRIALS = """
SELECT id, run_id, case_id, agent, model, repeat, state, coalesce(error, ''), steps, prompt_tokens + completion_tokens, cost_usd,
       coalesce(seconds, 0) FROM trials
"""
_SCORES = "SELECT trial_id, rubric, judge, total, out_of, tier1, tier2, tier3, tier4 FROM scorecards WHERE trial_id IN (SELECT value FROM json_each(?))"


def trial_cells(
    reader: SessionReader, study: Study, pointed: Sequence[StudyCellRow]
) -> dict[tuple[str, str], CellWork]:
    """Return the cells of a study of agents, by row and column name."""
    meant = {(one.row_name, one.column_name): _trials_meant(one) for one in pointed}
    every = json.dumps(list(dict.fromkeys(trial for trials in meant.values() for trial in trials)))
    rows = {row[0]: row for row in reader.query(f"{_TRIALS} WHERE id IN (SELECT value FROM json_each(?))", (every,))}
    scores, checks = _scores(reader, every), _checks(reader)
    states = _run_states(reader, {row[1] for row in rows.values()} | {one.run_id for one in pointed if one.run_id})
    columns = {column.name: column for column in study.columns}
    cells = {}
    for one in pointed:
        if one.column_name not in columns:
            continue
        found = [rows[trial] for trial in meant[one.row_name, one.column_name] if trial in rows]
        runs = list(dict.fromkeys(row[1] for row in found)) or ([one.run_id] if one.run_id else [])
        told = [states.get(run, ("", "")) for run in runs]
        cells[one.row_name, one.column_name] = _trial_cell(
            one.row_name,
            columns[one.column_name],
            found,
            scores,
            checks,
            planned=max(study.repeats, len(found)),
            run=one.run_id or (runs[0] if runs else ""),
            run_state=_loudest(state for state, _ in told),
            problem=one.problem or next((error for _, error in told if error), ""),
        )
    return cells


def _trials_meant(cell: StudyCellRow) -> list[str]:
    found = settings_of(cell.pointer).get("trials")
    return [str(one) for one in found] if isinstance(found, list) else []


def _scores(reader: SessionReader, trials: str) -> dict[str, dict[tuple[str, str], Any]]:
    found: dict[str, dict[tuple[str, str], Any]] = {}
    for trial, rubric, judge, total, out_of, *tiers in reader.query(_SCORES, (trials,)):
        found.setdefault(trial, {})[rubric, judge] = (total, out_of, tuple(tiers))
    return found


def _checks(reader: SessionReader) -> dict[str, dict[str, tuple[int, int]]]:
    """Return what the check of each README that counts says, by trial and measure."""
    return {
        trial: {"works": (found.works, found.run), "claims": (found.true, found.said)}
        for trial, found in works_by_trial(reader).items()
    }


def _trial_cell(
    row: str, column: Column, found: Sequence[Any], scores: Mapping[str, Any], checks: Mapping[str, Any], *, planned: int, run: str, run_state: str,
    problem: str, session: str = "",
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
            scores.get(one[0], {}),
            checks.get(one[0], {}),
        )
        for one in sorted(found, key=lambda one: (one[5], one[0]))
    )
    costs = [one.cost_usd for one in trials if one.cost_usd is not None]
    failed = next((one.error for one in trials if one.state == "failed" and one.error), "")
    return CellWork(
        row, column, run, session, run_state, problem or failed, planned, trials=trials,
        tokens=sum(one.tokens for one in trials), cost_usd=sum(costs) if costs else None,
        seconds=sum(one.seconds for one in trials),
    )  # fmt: skip


def trials_of_others(reader: SessionReader, study: Study, source: str, _: object) -> list[CellWork]:
    """Return what another session has of the cases of a study, as cells of further columns."""
    rows = reader.query(
        f"{_TRIALS} WHERE parent = '' AND case_id IN (SELECT value FROM json_each(?)) AND run_id NOT IN {PUT_AWAY_RUNS}",
        (json.dumps(study.rows),),
    )
    every = json.dumps([row[0] for row in rows])
    scores, checks = _scores(reader, every), _checks(reader)
    cells: dict[tuple[str, Column], list[Any]] = {}
    for row in rows:
        cells.setdefault((row[2], Column(row[3], row[4], source)), []).append(row)
    return [
        _trial_cell(case, column, found, scores, checks, planned=len(found), run=found[0][1], run_state="done", problem="",
                    session=str(reader.path))
        for (case, column), found in cells.items()
    ]  # fmt: skip


# -- tasks

_INFO = """
SELECT rowid, id, path, qualified_name, occurrence, test_count, docstring_blob IS NOT NULL FROM tasks
WHERE run_id IN (SELECT value FROM json_each(?)) AND state = 'ready'
"""
# One row for each group, its tasks in one text: what is turned into Python's objects is what takes time.
_TALLIES = """
SELECT tasks.run_id, counts.evaluator, counts.prompt, counts.context, counts.settings,
       json_group_array(json_array(tasks.rowid, counts.samples, counts.waiting, counts.counted, counts.passed)),
       sum(counts.tokens), sum(counts.priced), sum(counts.cost_usd), sum(counts.seconds)
FROM tasks JOIN {} AS counts ON counts.task_id = tasks.id
WHERE tasks.run_id IN (SELECT value FROM json_each(?)) AND tasks.state = 'ready' AND counts.control = 0 AND counts.samples > 0
GROUP BY 1, 2, 3, 4, 5
"""
Counts = tuple[tuple[TaskInfo, int, int, int, int], ...]


class _Group(NamedTuple):
    """Candidates of a run that are alike: its tasks with their counts, and sums."""

    counts: Counts
    tokens: int
    priced: int
    cost_usd: float
    seconds: float
    settings: str


def task_cells(reader: SessionReader, study: Study, pointed: Sequence[StudyCellRow]) -> dict[tuple[str, str], CellWork]:
    """Return cells of a study of docs, by row and column name."""
    runs = sorted({one.run_id for one in pointed if one.run_id})
    tallies = _tallies(reader, runs, "verdict_counts")
    states = _run_states(reader, runs)
    chosen = {run: _chosen_tasks(reader, run, study) for run in runs}
    columns = {column.name: column for column in study.columns}
    cells = {}
    for one in pointed:
        if one.column_name not in columns:
            continue
        pointer = settings_of(one.pointer)
        group = tuple(str(pointer.get(name) or "") for name in ("evaluator", "prompt", "context"))
        state, error = states.get(one.run_id or "", ("", ""))
        cells[one.row_name, one.column_name] = _task_cell(
            CellWork(
                one.row_name,
                columns[one.column_name],
                one.run_id or "",
                run_state=state,
                problem=one.problem or error,
                group=group,  # type: ignore[arg-type]
            ),
            tallies.get((one.run_id or "", *group), ()),
            chosen.get(one.run_id or "", (frozenset(), 0)),
            study.samples,
        )
    return cells


def _tallies(reader: SessionReader, runs: Iterable[str], counts: str) -> dict[tuple[str, ...], list[_Group]]:
    """Return what there is of runs by run, evaluator, prompt and context: a group for each sampling settings."""
    named = json.dumps(sorted(runs))
    infos = {row[0]: TaskInfo._make(row[1:]) for row in reader.query(_INFO, (named,))}
    found: dict[tuple[str, ...], list[_Group]] = {}
    for *key, settings, listed, tokens, priced, cost, seconds in reader.query(_TALLIES.format(counts), (named,)):
        # A task may have come between the two looks: it is there the next time.
        tasks = tuple((infos[row], *numbers) for row, *numbers in json.loads(listed) if row in infos)
        found.setdefault(tuple(key), []).append(_Group(tasks, int(tokens), int(priced), cost, seconds, settings))
    return found


def _task_cell(
    cell: CellWork, groups: Sequence[_Group], chosen: tuple[frozenset[str] | None, int | None], samples: int
) -> CellWork:
    """Return a cell with its tasks: of candidates that were sampled with different settings, those that are most."""
    only, tasks = chosen
    planned = None if tasks is None else tasks * samples
    if not groups:
        return replace(cell, planned=planned)
    group = max(groups, key=lambda one: len(one.counts))
    counts = group.counts if only is None else tuple(one for one in group.counts if one[0].task in only)
    return replace(
        cell,
        planned=sum(one[1] for one in counts) if cell.session else planned,
        counts=counts,
        tokens=group.tokens,
        cost_usd=round(group.cost_usd, 9) if group.priced else None,
        seconds=group.seconds,
        settings=group.settings,
    )


def _chosen_tasks(reader: SessionReader, run: str, study: Study) -> tuple[frozenset[str] | None, int | None]:
    """Return the tasks of a run that a study means, None for all, and how many of them count; None before there are any."""
    patterns, limit = study.settings.tasks, study.limits.tasks
    if not patterns and not limit:
        counts = reader.query("SELECT count(*), total(state = 'ready') FROM tasks WHERE run_id = ?", (run,))
        return None, int(counts[0][1]) if counts[0][0] else None
    rows = reader.query(
        "SELECT id, path, qualified_name, occurrence, state FROM tasks WHERE run_id = ? ORDER BY position", (run,)
    )
    meant = picked(patterns, limit, [(readable_id(*row[1:4]), row[0], row) for row in rows])
    ready = frozenset(row[0] for row in meant if row[4] == "ready")
    return ready, len(ready) if rows else None


def snapshots_of(reader: SessionReader, pointed: Sequence[StudyCellRow]) -> dict[str, str]:
    """Return the row of each snapshot that the study's own runs are of."""
    found = {}
    rows = {one.run_id: one.row_name for one in pointed if one.run_id}
    for run in reader.every_run():
        if run.id in rows and (snapshot := settings_of(run.config).get("snapshot")):
            found[str(snapshot)] = rows[run.id]
    return found


def tasks_of_others(reader: SessionReader, study: Study, source: str, snapshots: Mapping[str, str]) -> list[CellWork]:
    """Return what another session has of the repositories of a study, found by source or content, as cells of further columns."""
    rows: dict[str, tuple[str, str]] = {}
    for run in reader.runs():
        plan = settings_of(run.config)
        row = plan.get("source") if plan.get("source") in study.rows else snapshots.get(str(plan.get("snapshot") or ""))
        if run.kind == "regenerate" and isinstance(row, str):
            rows[run.id] = row, str(plan.get("docs") or "original")
    found = []
    for (run_id, evaluator, prompt, context), groups in _tallies(reader, rows, COUNTS_OF_CANDIDATES).items():
        row, docs = rows[run_id]
        only, _ = _chosen_tasks(reader, run_id, study)
        cell = CellWork(
            row, Column(docs, evaluator, source), run_id, str(reader.path), "done", group=(evaluator, prompt, context)
        )
        found.append(_task_cell(cell, groups, (only, 0), study.samples))
    # Of several runs or prompts of one column the one with most tasks stands in its cell.
    best: dict[tuple[str, str], CellWork] = {}
    for cell in found:
        key = (cell.row, cell.column.name)
        if key not in best or len(cell.counts) > len(best[key].counts):
            best[key] = cell
    return list(best.values())


# -- small things


def _run_states(reader: SessionReader, runs: Iterable[str | None]) -> dict[str, tuple[str, str]]:
    """Return the state of each run as a person should see it, and its error."""
    wanted = set(runs)
    found = {}
    for run in reader.every_run():
        if run.id in wanted:
            found[run.id] = state_of(reader, run), run.error or ""
    return found


def state_of(reader: SessionReader, run: RunRow) -> str:
    """Return the state of a run as its cells show it: one that no engine has begun yet is ``queued``, its turn in the study comes.

    That a judge failed is seen from the scores themselves, so it is ``done``.
    """
    if run.state == "done" or (run.state == "queued" and run.started_at is None):
        return run.state
    return reader.run_state(run)


_LOUD = ("running", "queued", "interrupted", "failed", "cancelled", "done")


def _loudest(states: Iterable[str]) -> str:
    return min(filter(None, states), key=lambda one: _LOUD.index(one) if one in _LOUD else len(_LOUD), default="")
