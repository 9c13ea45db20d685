"""The data that sessions hold for a study: the trials of each cell, or its tasks with their counts.

Nothing is computed here. For candidates, only the session's stored counts (``verdict_counts``) are read, and the number
of answers cut at the token limit. The ``conditions`` of each cell are read as well: see :mod:`.conditions`.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from workbench.plans.task_names import picked, readable_id
from workbench.results.check_summary import check_summaries
from workbench.results.page_scores import PageScore, measured_pages, page_key, page_scores
from workbench.results.scores import scores_of, totals_of
from workbench.results.spread import Total
from workbench.results.studies import Counts, GroupCounts, group_counts, made_under, step_settings
from workbench.results.tasks import task_names, task_states
from workbench.results.trials import trials_named, trials_on
from workbench.session.groups import AGENT_LIMITS, settings_of
from workbench.session.judges import OFFLINE, RULE, is_offline, recorded_as
from workbench.session.reader import SessionReader
from workbench.session.rows import RunRow, ScoreRow, StudyCellRow, TrialRow
from workbench.studies.declaration import USE, Study, StudyColumn

RUBRIC = "aeo-bench"
"""The rubric for trials of a study that names no rubric."""
Group = tuple[str, str, str]
"""Evaluator, prompt and context of a cell's candidates."""
ARCHIVED = "its run is archived"
"""Reason for an empty cell although the session has its run."""


class TaskTally(NamedTuple):
    """One task in one cell.

    Of its ``samples``, ``waiting`` have no verdict, ``counted`` count and ``passed`` passed; ``doubtful`` and
    ``repaired`` are numbers of passes. ``cut`` is the number of counted samples that were cut at the token limit, and
    ``cut_passed`` the number of these that passed.
    """

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
    doubtful: int = 0
    repaired: int = 0
    cut: int = 0
    cut_passed: int = 0

    @property
    def name(self) -> str:
        """The task's readable id, which also identifies the same function under another doc system."""
        return readable_id(self.file, self.function, self.occurrence)


@dataclass(frozen=True, slots=True)
class TrialTally:
    """One trial in one cell, with its scorecards and totals by rubric and judge.

    ``checks`` has the results of its README check by measure, as (good, judged, all): working blocks out of executed
    ones (``works``), true claims out of decidable ones (``claims``), and answers of a reader that pass (``use``).
    ``use`` is the README's use@1 in the run ``use_run``, or None with a ``use_problem``, which no resume can solve if
    ``use_ended``. ``cut`` says whether an answer was cut at the
    token limit.
    """

    trial: str
    repeat: int
    state: str
    error: str
    steps: int
    tokens: int
    cost_usd: float | None
    seconds: float
    scores: Mapping[tuple[str, str], ScoreRow] = field(default_factory=dict)
    checks: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    cut: bool = False
    readme: bool = True
    totals: Mapping[tuple[str, str], Total] = field(default_factory=dict)
    use: float | None = None
    use_problem: str = ""
    use_ended: bool = False
    use_run: str = ""


@dataclass(frozen=True, slots=True)
class CellWork:
    """The data of a cell, from the study's own session or another one.

    Attributes:
        problem: Why the cell could not be planned, or why its run ended.
        planned: Expected number of trials or candidates, or None if it is not known yet.
        counts: Each task with its numbers of samples, as in :class:`TaskTally`; see :attr:`tasks`.
        settings: Sampling settings of its candidates; together with :attr:`group` they identify the candidates.
        conditions: Conditions under which the cell was made, by name, as far as they are known.
        left_out: Description of further data in the session that no figure includes, because it was made under other
            conditions.
    """

    row: str
    column: StudyColumn
    run: str = ""
    session: str = ""
    run_state: str = ""
    problem: str = ""
    planned: int | None = None
    counts: Counts = ()
    trials: tuple[TrialTally, ...] = ()
    group: Group = ("", "", "")
    tokens: int = 0
    cost_usd: float | None = None
    seconds: float = 0.0
    settings: str = ""
    conditions: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    @property
    def tasks(self) -> tuple[TaskTally, ...]:
        return tuple(TaskTally(*info, *numbers) for info, *numbers in self.counts)


def scale_of(study: Study, cells: Iterable[CellWork]) -> tuple[str, str]:
    """Return the rubric and judge that measure trials.

    These are the first rubric and judge that the study names or, if it names none, those that scored most of its own
    trials. The offline judge's previous rule is used if no trial is scored by the current one.
    """
    found = Counter(scale for cell in cells if not cell.session for trial in cell.trials for scale in trial.scores)
    found = found or Counter(scale for cell in cells for trial in cell.trials for scale in trial.scores)
    rubrics, judges = study.settings.rubrics[:1], study.settings.judges[:1]
    wanted = (rubrics or (RUBRIC,))[0], recorded_as((judges or (OFFLINE,))[0])
    possible = [
        one
        for one in found
        if (not rubrics or one[0] == wanted[0])
        and (not judges or one[1] == wanted[1] or (is_offline(one[1]) and is_offline(wanted[1])))
    ]
    return max(
        possible,
        key=lambda one: (
            one[0] == wanted[0],
            one[1] == wanted[1],
            is_offline(one[1]) == is_offline(wanted[1]),
            one[1] == RULE,
            found[one],
            one,
        ),
        default=wanted,
    )


# -- tasks


def task_cells(reader: SessionReader, study: Study, pointed: Sequence[StudyCellRow]) -> dict[tuple[str, str], CellWork]:
    """Return the cells of a study of docs, by row and column name."""
    away = {run.id for run in reader.all_runs() if run.archived_at is not None}
    runs = sorted({one.run_id for one in pointed if one.run_id} - away)
    states = run_states(reader, runs)
    tallies = group_counts(reader, runs)
    made = made_under(reader, runs)
    chosen = {run: _chosen_tasks(reader, run, study) for run in runs}
    columns = {column.name: column for column in study.columns}
    cells = {}
    for one in pointed:
        if one.column_name not in columns:
            continue
        pointer = settings_of(one.pointer)
        group = tuple(str(pointer.get(name) or "") for name in ("evaluator", "prompt", "context"))
        run = one.run_id if one.run_id and one.run_id not in away else ""
        state, error = states.get(run, ("", ""))
        groups = sorted(tallies.get((run, *group), ()), key=_most, reverse=True)
        cell = CellWork(
            one.row_name,
            columns[one.column_name],
            run,
            run_state=state,
            problem=one.problem or error or (ARCHIVED if one.run_id in away else ""),
            group=group,  # type: ignore[arg-type]
            left_out=tuple(_other_words(other, groups[0]) for other in groups[1:]),
        )
        only = chosen.get(run, (frozenset(), 0))
        cells[one.row_name, one.column_name] = _task_cell(cell, groups[:1], only, study.samples, made.get(run, {}))
    return cells


def _most(group: GroupCounts) -> tuple[int, int, str]:
    return len(group.counts), group.samples, group.settings


def _other_words(other: GroupCounts, than: GroupCounts) -> str:
    mine, theirs = settings_of(than.settings), settings_of(other.settings)
    how = ", ".join(
        f"{name.replace('_', ' ')} {theirs.get(name, 'not set')}"
        for name in sorted({*mine, *theirs})
        if mine.get(name) != theirs.get(name)
    )
    return f"{other.samples:,} samples with {how or 'other settings'}"


def _task_cell(
    cell: CellWork,
    groups: Sequence[GroupCounts],
    chosen: tuple[frozenset[str] | None, int | None],
    samples: int,
    made: Mapping[str, str],
) -> CellWork:
    only, tasks = chosen
    planned = None if tasks is None else tasks * samples
    if not groups:
        return replace(cell, planned=planned)
    group = groups[0]
    counts = group.counts if only is None else tuple(one for one in group.counts if one[0].task in only)
    usual = Counter(one[1] for one in counts).most_common(1)
    each = usual[0][0] if usual else 0
    conditions = {
        **made,
        "prompt": cell.group[1],
        "context": cell.group[2],
        **{
            name.replace("_", " "): str(value)
            for name, value in settings_of(group.settings).items()
            if value is not None
        },
        "samples a task": str(each if cell.session else max(each, samples)),
    }
    return replace(
        cell,
        planned=sum(one[1] for one in counts) if cell.session else planned,
        counts=counts,
        tokens=group.tokens,
        cost_usd=round(group.cost_usd, 9) if group.priced else None,
        seconds=group.seconds,
        settings=group.settings,
        conditions={name: value for name, value in conditions.items() if value},
    )


def _chosen_tasks(reader: SessionReader, run: str, study: Study) -> tuple[frozenset[str] | None, int | None]:
    """Return the tasks of a run that a study uses (None for all), and their number (None before there are any)."""
    patterns, limit = study.settings.tasks, study.limits.tasks
    if not patterns and not limit:
        states = task_states(reader, run)
        return None, states["ready"] if states else None
    tasks = task_names(reader, run)
    named = [(readable_id(task.path, task.function, task.occurrence), task.id, task) for task in tasks]
    ready = frozenset(task.id for task in picked(patterns, limit, named) if task.state == "ready")
    return ready, len(ready) if tasks else None


def snapshots_of(reader: SessionReader, pointed: Sequence[StudyCellRow]) -> dict[str, str]:
    """Return the row of each snapshot in the study's own runs."""
    found = {}
    rows = {one.run_id: one.row_name for one in pointed if one.run_id}
    for run in reader.all_runs():
        if run.id in rows and (snapshot := run.plan.get("snapshot")):
            found[str(snapshot)] = rows[run.id]
    return found


def tasks_of_others(reader: SessionReader, study: Study, source: str, snapshots: Mapping[str, str]) -> list[CellWork]:
    """Return another session's results for a study's repositories, matched by source or content.

    A row and column can have several cells.
    """
    rows: dict[str, tuple[str, str]] = {}
    for run in reader.runs():
        plan = run.plan
        row = plan.get("source") if plan.get("source") in study.rows else snapshots.get(str(plan.get("snapshot") or ""))
        if run.kind == "regenerate" and isinstance(row, str):
            rows[run.id] = row, str(plan.get("docs") or "original")
    made = made_under(reader, rows)
    found = []
    for (run_id, evaluator, prompt, context), groups in group_counts(reader, rows).items():
        row, docs = rows[run_id]
        only, _ = _chosen_tasks(reader, run_id, study)
        cell = CellWork(
            row,
            StudyColumn(docs, evaluator, source),
            run_id,
            str(reader.path),
            "done",
            group=(evaluator, prompt, context),
        )
        found += [_task_cell(cell, [one], (only, 0), study.samples, made.get(run_id, {})) for one in groups]
    return found


# -- trials


class _Made(NamedTuple):
    """A trial with the conditions under which it was made."""

    row: TrialRow
    tally: TrialTally
    conditions: Mapping[str, str]


def trial_cells(
    reader: SessionReader, study: Study, pointed: Sequence[StudyCellRow]
) -> dict[tuple[str, str], CellWork]:
    """Return the cells of a study of agents, by row and column name."""
    meant = {(one.row_name, one.column_name): _trials_meant(one) for one in pointed}
    rows = trials_named(reader, list(dict.fromkeys(itertools.chain.from_iterable(meant.values()))))
    made = _made(reader, rows, study.settings.use)
    runs_of = {one.row.run_id for one in made.values()} | {one.run_id for one in pointed if one.run_id}
    runs_of |= {one.tally.use_run for one in made.values()}
    states = run_states(reader, runs_of)
    away = {run.id for run in reader.all_runs() if run.archived_at is not None}
    columns = {column.name: column for column in study.columns}
    cells = {}
    for one in pointed:
        if one.column_name not in columns:
            continue
        wanted = meant[one.row_name, one.column_name]
        found = [made[trial] for trial in wanted if trial in made]
        own = one.run_id if one.run_id and one.run_id not in away else ""
        runs = list(dict.fromkeys(trial.row.run_id for trial in found)) or ([own] if own else [])
        uses = [one.tally.use_run for one in found if not one.tally.use_ended]
        told = [states.get(run, ("", "")) for run in (*runs, *uses)]
        failed = next((error for _, error in told if error), "")
        cell = CellWork(
            one.row_name,
            columns[one.column_name],
            own or (runs[0] if runs else ""),
            run_state=min(filter(None, (state for state, _ in told)), key=_loudness, default=""),
            problem=one.problem or failed or (ARCHIVED if len(found) < len(wanted) else ""),
            planned=max(study.repeats, len(found)),
        )
        cells[one.row_name, one.column_name] = _trial_cell(cell, found)
    return cells


def _trials_meant(cell: StudyCellRow) -> list[str]:
    found = settings_of(cell.pointer).get("trials")
    return list(dict.fromkeys(map(str, found))) if isinstance(found, list) else []


def _made(reader: SessionReader, rows: Sequence[TrialRow], use: str) -> dict[str, _Made]:
    names = [row.id for row in rows]
    cards = scores_of(reader, names)
    scores: dict[str, dict[tuple[str, str], ScoreRow]] = {}
    totals: dict[str, dict[tuple[str, str], Total]] = {}
    for (trial, *by), total in totals_of(reader, cards).items():
        totals.setdefault(trial, {})[by[0], by[1]] = total
    for card in cards:
        scores.setdefault(card.trial_id, {})[card.rubric, card.judge] = card
    works = check_summaries(reader)
    measured = measured_pages(reader, use) if use else {}
    uses = {
        run.id: page_scores(reader, run).get(use, {}) for run in {run.id: run for run in measured.values()}.values()
    }
    settings_by_trial: dict[str, set[str]] = {}
    cut = set()
    for trial, settings, was_cut in step_settings(reader, names):
        settings_by_trial.setdefault(trial, set()).add(settings)
        cut |= {trial} if was_cut else set()
    plans = {run.id: run.plan for run in reader.all_runs()}
    found = {}
    for row in rows:
        check, page = works.get(row.id), page_key(row.case_id, row.readme_blob)
        run = measured.get(page) if row.readme_blob else None
        tally = TrialTally(
            row.id,
            row.repeat,
            row.state,
            row.error or "",
            row.steps,
            row.prompt_tokens + row.completion_tokens,
            row.cost_usd,
            row.seconds or 0.0,
            scores=scores.get(row.id, {}),
            checks={
                "works": (check.works, check.run, check.blocks),
                "claims": (check.claims_true, check.claims_decided, check.claims),
            }
            if check is not None
            else {},
            cut=row.id in cut,
            readme=row.readme_blob is not None,
            totals=totals.get(row.id, {}),
        )
        if run is not None:
            tally = _with_use(tally, run, uses[run.id].get(page))
        plan = plans.get(row.run_id, {})
        mine = {name: plan.get(key) or None for key, name in AGENT_LIMITS.items()}
        mine |= {"content of the case": row.content, "snapshot": row.snapshot}
        for settings in settings_by_trial.get(row.id, ()):
            mine |= {name.replace("_", " "): value for name, value in settings_of(settings).items()}
        conditions = {name: str(value) for name, value in mine.items() if value not in (None, "")}
        found[row.id] = _Made(row, tally, conditions)
    return found


def _with_use(tally: TrialTally, run: RunRow, score: PageScore | None) -> TrialTally:
    if score is not None and not score.partial:
        checks = {**tally.checks, USE: (score.passed, score.counted, score.samples)}
        return replace(tally, use=score.value, checks=checks, use_run=run.id)
    some = f"{score.counted:,} of {score.samples:,} answers have a verdict" if score is not None else ""
    ended = run.state == "failed" and run.plan.get("permanent_failure") is True
    return replace(tally, use_problem=run.error or some, use_ended=ended, use_run=run.id)


def _trial_cell(cell: CellWork, made: Sequence[_Made]) -> CellWork:
    """Return a cell with its trials; a condition that varies between the trials lists all values."""
    trials = tuple(sorted((one.tally for one in made), key=lambda one: (one.repeat, one.trial)))
    costs = [one.cost_usd for one in trials if one.cost_usd is not None]
    values: dict[str, set[str]] = {}
    for one in made:
        for name, value in one.conditions.items():
            values.setdefault(name, set()).add(value)
    return replace(
        cell,
        problem=cell.problem or next((one.error for one in trials if one.state == "failed" and one.error), ""),
        trials=trials,
        tokens=sum(one.tokens for one in trials),
        cost_usd=sum(costs) if costs else None,
        seconds=sum(one.seconds for one in trials),
        conditions={name: "; ".join(sorted(every)) for name, every in values.items()},
    )


def trials_of_others(reader: SessionReader, study: Study, source: str, _: object) -> list[CellWork]:
    """Return another session's results for the cases of a study, as cells of additional columns."""
    cells: dict[tuple[str, StudyColumn], list[_Made]] = {}
    for one in _made(reader, trials_on(reader, study.rows), study.settings.use).values():
        cells.setdefault((one.row.case_id, StudyColumn(one.row.agent, one.row.model, source)), []).append(one)
    return [
        _trial_cell(CellWork(*key, found[0].row.run_id, str(reader.path), "done", planned=len(found)), found)
        for key, found in cells.items()
    ]


# -- helpers


def run_states(reader: SessionReader, runs: Iterable[str | None]) -> dict[str, tuple[str, str]]:
    wanted = set(runs)
    found = {}
    for run in reader.all_runs():
        if run.id in wanted:
            found[run.id] = state_of(reader, run), run.error or ""
    return found


def state_of(reader: SessionReader, run: RunRow) -> str:
    """Return the state of a run for cells: ``queued`` until an engine starts it, ``done`` even if a judge failed."""
    if run.state == "done" or (run.state == "queued" and run.started_at is None):
        return run.state
    return reader.run_state(run)


_LOUD = ("running", "queued", "interrupted", "failed", "cancelled", "done")


def _loudness(state: str) -> int:
    """Return the rank of a state by importance; the most important one has the lowest rank."""
    return _LOUD.index(state) if state in _LOUD else len(_LOUD)
