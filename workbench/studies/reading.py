"""What a session has of a study: for each cell its trials (:mod:`.trial_reading`), or its tasks with their counts.

Nothing is computed here. Of candidates only the counts are read that the session keeps (``verdict_counts``), and which of
their answers the token limit cut. What a cell was made under (``conditions``) is read with it: see :mod:`.conditions`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from workbench.results.studies import Counts, GroupCounts, group_counts, made_under
from workbench.results.tasks import task_names, task_states
from workbench.rubric.spread import Total
from workbench.session.groups import settings_of
from workbench.session.judges import OFFLINE, RULE, is_offline, recorded_as
from workbench.session.reader import SessionReader
from workbench.session.rows import RunRow, ScoreRow, StudyCellRow
from workbench.session.task_names import picked, readable_id
from workbench.studies.declaration import Column, Study

RUBRIC = "aeo-bench"
"""By what trials are measured where a study names no rubric."""
Group = tuple[str, str, str]
"""Evaluator, prompt and context of a cell's candidates."""
PUT_AWAY = "its run is put away"
"""Why a cell has nothing although the session has a run of it."""


class TaskTally(NamedTuple):
    """One task under one cell.

    Of ``samples`` candidates ``waiting`` have no verdict, ``counted`` count and ``passed`` passed; ``doubtful`` and
    ``repaired`` are passes. ``cut`` of those that count were cut at the token limit, ``cut_passed`` of these passed.
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
        """Its readable id, by which the same function under another doc system is found."""
        return readable_id(self.file, self.function, self.occurrence)


@dataclass(frozen=True, slots=True)
class TrialTally:
    """One trial under one cell.

    ``scores`` has its scorecards by rubric and judge. ``checks`` has what its check says by measure, as (good, judged, all):
    blocks that work of those that were run (``works``), claims that are true of those that can be said (``claims``).
    ``cut`` says that an answer of its agent was cut at the token limit, ``readme`` that it handed one in. ``totals`` says of its
    scorecards what of the points the format of its answer gave, and whether tier 3 was credited for missing facts.
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
        counts: Of each task what it is and how many of its samples are what, as in :class:`TaskTally`; see :attr:`tasks`.
        trials: Its trials.
        group: Evaluator, prompt and context of its candidates.
        tokens: Of all its requests.
        cost_usd: Of all its requests, None where no price is known.
        seconds: Of its trials, or of asking for and testing its candidates.
        settings: How its candidates were sampled; with :attr:`group` it says which candidates these are.
        conditions: Under what it was made, by name; what is not known is left out.
        left_out: What the session has of it besides, in words: made otherwise, so in no figure.
    """

    row: str
    column: Column
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
    """Return by which rubric and judge trials are measured: the first that the study names, whatever other scores there are.

    Where it names none it is what most of its own trials are scored by, the usual ones before others. The offline judge's
    former rule counts as that judge where no trial is scored by the one of now.
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
    """Return cells of a study of docs, by row and column name."""
    away = {run.id for run in reader.every_run() if run.deleted_at is not None}
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
            problem=one.problem or error or (PUT_AWAY if one.run_id in away else ""),
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
    cell: CellWork, groups: Sequence[GroupCounts], chosen: tuple[frozenset[str] | None, int | None], samples: int, made: Mapping[str, str]
) -> CellWork:  # fmt: skip
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
    """Return the tasks of a run that a study means, None for all, and how many of them count; None before there are any."""
    patterns, limit = study.settings.tasks, study.limits.tasks
    if not patterns and not limit:
        states = task_states(reader, run)
        return None, states["ready"] if states else None
    tasks = task_names(reader, run)
    named = [(readable_id(task.path, task.function, task.occurrence), task.id, task) for task in tasks]
    ready = frozenset(task.id for task in picked(patterns, limit, named) if task.state == "ready")
    return ready, len(ready) if tasks else None


def snapshots_of(reader: SessionReader, pointed: Sequence[StudyCellRow]) -> dict[str, str]:
    """Return the row of each snapshot that the study's own runs are of."""
    found = {}
    rows = {one.run_id: one.row_name for one in pointed if one.run_id}
    for run in reader.every_run():
        if run.id in rows and (snapshot := run.plan.get("snapshot")):
            found[str(snapshot)] = rows[run.id]
    return found


def tasks_of_others(reader: SessionReader, study: Study, source: str, snapshots: Mapping[str, str]) -> list[CellWork]:
    """Return what another session has of the repositories of a study, found by source or content, as cells of further columns.

    A column may have several cells of a row, each made otherwise; see :func:`workbench.studies.conditions.nearest`.
    """
    rows: dict[str, tuple[str, str]] = {}
    for run in reader.runs():
        plan = run.plan
        row = plan.get("source") if plan.get("source") in study.rows else snapshots.get(str(plan.get("snapshot") or ""))
        if run.kind == "regenerate" and isinstance(row, str):
            rows[run.id] = row, str(plan.get("docs") or "original")
    made = made_under(reader, rows)
    found = []
    for (run_id, evaluator, prompt, context), groups in group_counts(reader, rows, kept=False).items():
        row, docs = rows[run_id]
        only, _ = _chosen_tasks(reader, run_id, study)
        cell = CellWork(
            row, Column(docs, evaluator, source), run_id, str(reader.path), "done", group=(evaluator, prompt, context)
        )
        found += [_task_cell(cell, [one], (only, 0), study.samples, made.get(run_id, {})) for one in groups]
    return found


# -- small things


def run_states(reader: SessionReader, runs: Iterable[str | None]) -> dict[str, tuple[str, str]]:
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


def loudest(states: Iterable[str]) -> str:
    """Return the state that matters most."""
    return min(filter(None, states), key=lambda one: _LOUD.index(one) if one in _LOUD else len(_LOUD), default="")
