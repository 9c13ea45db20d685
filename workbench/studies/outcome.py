"""What came of a study: the one place where the figures of its cells, rows and columns are computed.

Trials are measured by a rubric and judge in points of 100, candidates by pass@k (:mod:`workbench.regeneration.passk`), both
with the intervals of :mod:`workbench.statistics`. A column's mean is unweighted over the rows that it has, as in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from workbench.regeneration.passk import pass_at_k
from workbench.statistics.clusters import Clusters, Value, clusters_of
from workbench.statistics.intervals import Interval, share_interval_of
from workbench.studies.declaration import AGENTS, Column, Study, column_titles, in_points
from workbench.studies.reading import CellWork, Counts, StudyWork, TaskTally, TrialTally

POINTS = 100.0
"""Points of a trial are of so many, whatever its rubric's sum is."""
UNITS = {"repository": "case", "file": "case", "task": "trial"}
"""What clusters of trials are, where those of tasks are repositories, files and tasks."""
STATES = ("done", "running", "queued", "interrupted", "failed", "cancelled", "missing")

_pass_at = lru_cache(maxsize=100_000)(pass_at_k)


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with its interval, in points of 100 (``score``, ``works``, ``claims``) or as a share (``pass@k``).

    Attributes:
        value: None without an item that is defined.
        interval: Its bounds, None where too few units carry any; ``interval.words`` says by which rule or why not.
        items: Trials or tasks in it.
        undefined: Trials without a score, or tasks with fewer than k counted samples; they are not in it.
        rows: Rows in it.
    """

    value: float | None
    interval: Interval
    items: int
    undefined: int = 0
    rows: int = 1

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "value": self.value,
            "low": self.interval.low,
            "high": self.interval.high,
            "interval": self.interval.words,
            "items": self.items,
            "undefined": self.undefined,
            "rows": self.rows,
        }


@dataclass(frozen=True, slots=True)
class Cell:
    """One row under one column.

    Attributes:
        work: What there is of it: its run, its trials or tasks.
        state: One of :data:`STATES`; ``missing`` where nothing was planned.
        done: Trials that ended with a score, or candidates with a verdict of theirs.
        planned: Of how many, None where that is not known yet.
        means: By measure.
        documented: Share of its tasks whose function has a docstring, None without tasks.
    """

    work: CellWork
    state: str
    done: int
    planned: int | None
    means: Mapping[str, Mean]
    documented: float | None = None

    @property
    def row(self) -> str:
        """Its row."""
        return self.work.row

    @property
    def column(self) -> Column:
        """Its column."""
        return self.work.column

    @property
    def problem(self) -> str:
        """Why it does not go on, "" for nothing."""
        return self.work.problem if self.state != "done" else ""

    @property
    def run(self) -> str:
        """The run that has it, "" for none."""
        return self.work.run

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "row": self.row,
            "column": self.column.name,
            "state": self.state,
            "done": self.done,
            "planned": self.planned,
            "means": {name: mean.to_json() for name, mean in self.means.items()},
            "documented": self.documented,
            "tokens": self.work.tokens,
            "cost": self.work.cost_usd,
            "seconds": self.work.seconds,
            "run": self.run or None,
            "problem": self.problem or None,
        }


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """A column over the rows that it has results of.

    Attributes:
        column: The column.
        title: What tells it from the others, shortly.
        means: By measure: unweighted over rows; the interval is over rows, over files or trials where there is one.
        documented: Share of its tasks with a docstring, None for agents.
        done: Sum over its cells.
        planned: Sum over its cells, None where one is not known.
        tokens: Sum over its cells.
        cost_usd: Sum over its cells, None where no price is known.
        seconds: Sum over its cells.
    """

    column: Column
    title: str
    means: Mapping[str, Mean]
    documented: float | None
    done: int
    planned: int | None
    tokens: int
    cost_usd: float | None
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "column": self.column.name,
            "title": self.title,
            "source": self.column.mark or None,
            "means": {name: mean.to_json() for name, mean in self.means.items()},
            "documented": self.documented,
            "done": self.done,
            "planned": self.planned,
            "tokens": self.tokens,
            "cost": self.cost_usd,
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True)
class RowSummary:
    """A row over all columns: the best of them (several where equal) and how far they are apart, by measure."""

    row: str
    best: Mapping[str, tuple[str, ...]]
    spread: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class StudyOutcome:
    """What came of a study.

    Attributes:
        study: Its declaration.
        columns: Its columns in order, those of others last.
        rows: Its rows in order.
        cells: By row and column name; a cell that nothing is known of is ``missing``.
        by_column: A summary of each column, in their order.
        by_row: A summary of each row, in their order.
        scale: Rubric and judge by which trials are measured.
        problems: What could not be read of others, and why the study does not go on.
    """

    study: Study
    columns: tuple[Column, ...]
    rows: tuple[str, ...]
    cells: Mapping[tuple[str, str], Cell]
    by_column: tuple[ColumnSummary, ...]
    by_row: tuple[RowSummary, ...]
    scale: tuple[str, str]
    problems: tuple[str, ...]

    @classmethod
    def of(cls, work: StudyWork, before: StudyOutcome | None = None) -> StudyOutcome:
        """Compute the figures of what was read; those of cells that are as they were before are taken over."""
        study = work.study
        same = before if before is not None and (before.study, before.scale) == (study, work.scale) else None
        cells: dict[tuple[str, str], Cell] = {}
        for row in study.rows:
            for column in work.columns:
                key = (row, column.name)
                one = work.cells.get(key) or CellWork(row, column)
                known = same.cells.get(key) if same is not None else None
                cells[key] = known if known is not None and known.work is one else cell_of(one, study, work.scale)
        titles = column_titles(work.columns)
        by_column = tuple(
            _column(column, title, [cells[row, column.name] for row in study.rows], study, work.scale)
            for column, title in zip(work.columns, titles, strict=True)
        )
        by_row = tuple(
            _row(row, [cells[row, column.name] for column in work.columns], study.measures) for row in study.rows
        )
        problems = (*work.problems, *([work.problem] if work.problem else ()))
        return cls(study, work.columns, study.rows, cells, by_column, by_row, work.scale, problems)

    def cell(self, row: str, column: Column | str) -> Cell:
        """Return a cell; raises KeyError where there is no such row or column."""
        return self.cells[row, column if isinstance(column, str) else column.name]

    def column(self, name: str) -> Column:
        """Return the column of a name or title.

        Raises:
            KeyError: There is none.
        """
        for one in self.by_column:
            if name in (one.column.name, one.title):
                return one.column
        raise KeyError(name)

    @property
    def done(self) -> int:
        """Trials with a score, or candidates with a verdict, of what the study executes."""
        return sum(cell.done for cell in self.cells.values() if not cell.column.source)

    @property
    def planned(self) -> int | None:
        """Of how many, None where that is not known yet."""
        return _sum(cell.planned for cell in self.cells.values() if not cell.column.source)

    @property
    def cost_usd(self) -> float | None:
        """What it cost, None where no price is known."""
        costs = [
            cell.work.cost_usd
            for cell in self.cells.values()
            if cell.work.cost_usd is not None and not cell.column.source
        ]
        return round(math.fsum(costs), 9) if costs else None

    @property
    def finished(self) -> bool:
        """Whether all that the study executes is done."""
        return all(cell.state == "done" for cell in self.cells.values() if not cell.column.source)

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as JSON values."""
        return {
            "study": self.study.name,
            "kind": self.study.kind,
            "measures": list(self.study.measures),
            "scale": list(self.scale) if self.study.kind == AGENTS else None,
            "done": self.done,
            "planned": self.planned,
            "cost": self.cost_usd,
            "rows": list(self.rows),
            "columns": [one.to_json() for one in self.by_column],
            "cells": [cell.to_json() for cell in self.cells.values()],
            "problems": list(self.problems),
        }


def score_of(trial: TrialTally, scale: tuple[str, str]) -> float | None:
    """Return the points of 100 of a trial, None where it has none by that rubric and judge."""
    found = trial.scores.get(scale)
    if trial.state != "done" or found is None or found[0] is None or not found[1]:
        return None
    return POINTS * found[0] / found[1]


def value_of(trial: TrialTally, measure: str, scale: tuple[str, str]) -> float | None:
    """Return what a trial has by a measure of agents, in points of 100; None where it has none.

    ``works`` and ``claims`` are shares of its check, in points of 100: of blocks that were run, and of claims that can be said.
    """
    if measure == "score":
        return score_of(trial, scale)
    good, of = trial.checks.get(measure, (0, 0))
    return POINTS * good / of if of else None


def pass_of(task: TaskTally, k: int) -> float | None:
    """Return pass@k of a task, None where it has fewer than k counted samples."""
    return _pass_at(task.counted, task.passed, k)


def as_trials(interval: Interval) -> Interval:
    """Return an interval over clusters of trials with their units called what they are."""
    return replace(interval, unit=UNITS.get(interval.unit, interval.unit))


def cell_of(work: CellWork, study: Study, scale: tuple[str, str]) -> Cell:
    """Return the figures of a cell, or of a part of one."""
    if study.kind == AGENTS:
        scores = [score_of(trial, scale) for trial in work.trials]
        done = sum(one is not None for one in scores)
        means = {measure: _of_trials(work, measure, scale) for measure in study.measures}
        return Cell(work, _state(work, done), done, work.planned, means)
    # Our own errors are no samples: a resume tests them again.
    done = sum(one[3] for one in work.counts)
    if work.planned is not None:
        done = min(done, work.planned)
    means = {f"pass@{k}": _pass(work.counts, k) for k in study.k}
    documented = _documented(work.counts)
    return Cell(work, _state(work, done), done, work.planned, means, documented)


def _of_trials(work: CellWork, measure: str, scale: tuple[str, str]) -> Mean:
    values = [value_of(trial, measure, scale) for trial in work.trials]
    known = [one for one in values if one is not None]
    return _points([Value(work.row, "", one) for one in known], len(values) - len(known))


def _state(work: CellWork, done: int) -> str:
    if work.planned is not None and done >= work.planned > 0:
        return "done"
    if work.problem and work.run_state not in ("running", "queued"):
        return "failed"
    if work.run_state == "done":
        # Every trial has come to its end, but some have no score, or no task is left.
        return "failed"
    return work.run_state or "missing"


def _points(values: Sequence[Value], undefined: int, rows: int = 1) -> Mean:
    shares = clusters_of(replace(one, value=one.value / POINTS) for one in values)
    interval = as_trials(share_interval_of(shares))
    if interval.low is not None and interval.high is not None:
        interval = replace(interval, low=POINTS * interval.low, high=POINTS * interval.high)
    return Mean(clusters_of(values).mean if values else None, interval, len(values), undefined, rows)


def _documented(counts: Counts) -> float | None:
    return sum(one[0].documented for one in counts) / len(counts) if counts else None


def _by_file(counts: Counts, k: int) -> tuple[dict[str, list[float]], int]:
    files: dict[str, list[float]] = {}
    undefined = 0
    for info, _, _, counted, passed in counts:
        value = _pass_at(counted, passed, k)
        if value is None:
            undefined += 1
        else:
            files.setdefault(info.file, []).append(value)
    return files, undefined


def _pass(tasks: Counts, k: int) -> Mean:
    """Return the mean over the tasks of one repository."""
    files, undefined = _by_file(tasks, k)
    count = len(tasks) - undefined
    if len(files) > 1:
        pairs = sorted((math.fsum(values), float(len(values))) for values in files.values())
        clusters = Clusters("file", tuple(one for one, _ in pairs), tuple(size for _, size in pairs), count)
    else:
        clusters = clusters_of(Value("", file, value) for file, values in files.items() for value in values)
    return Mean(clusters.mean if count else None, share_interval_of(clusters), count, undefined)


def _column(column: Column, title: str, cells: Sequence[Cell], study: Study, scale: tuple[str, str]) -> ColumnSummary:
    costs = [cell.work.cost_usd for cell in cells if cell.work.cost_usd is not None]
    tasks = tuple(one for cell in cells for one in cell.work.counts)
    return ColumnSummary(
        column,
        title,
        {measure: over_rows(measure, cells, scale) for measure in study.measures},
        _documented(tasks),
        sum(cell.done for cell in cells),
        _sum(cell.planned for cell in cells),
        sum(cell.work.tokens for cell in cells),
        round(math.fsum(costs), 9) if costs else None,
        sum(cell.work.seconds for cell in cells),
    )


def over_rows(measure: str, cells: Sequence[Cell], scale: tuple[str, str]) -> Mean:
    """Return the unweighted mean of cells of one column over the rows that they are of."""
    having = [cell for cell in cells if cell.means[measure].value is not None]
    undefined = sum(cell.means[measure].undefined for cell in cells)
    if in_points(measure):
        values = [
            Value(cell.row, "", value)
            for cell in having
            for trial in cell.work.trials
            if (value := value_of(trial, measure, scale)) is not None
        ]
        return _points(values, undefined, len(having))
    if len(having) == 1:
        return replace(having[0].means[measure], undefined=undefined)
    items = sum(cell.means[measure].items for cell in having)
    means = sorted(cell.means[measure].value or 0.0 for cell in having)
    clusters = Clusters("repository" if means else "", tuple(means), (1.0,) * len(means), items)
    return Mean(clusters.mean if means else None, share_interval_of(clusters), items, undefined, len(having))


def _row(row: str, cells: Sequence[Cell], measures: Sequence[str]) -> RowSummary:
    best: dict[str, tuple[str, ...]] = {}
    spread: dict[str, float | None] = {}
    for measure in measures:
        values = {cell.column.name: value for cell in cells if (value := cell.means[measure].value) is not None}
        top = max(values.values(), default=None)
        best[measure] = tuple(name for name, value in values.items() if top is not None and top - value < 1e-9)
        spread[measure] = max(values.values()) - min(values.values()) if len(values) > 1 else None
    return RowSummary(row, best, spread)


def _sum(counts: Iterable[int | None]) -> int | None:
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total
