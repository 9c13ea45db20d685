"""The results of a study: the one place that computes the figures of its cells, rows and columns.

Trials are measured by a rubric and judge in points out of 100, candidates by pass@k
(:mod:`workbench.regeneration.passk`), both with the intervals of :mod:`workbench.statistics`. The mean of a column is
unweighted over its rows, as in the paper. Each figure includes the number of its items and what is missing, with
reasons. Comparisons are restricted to the same conditions (:mod:`.conditions`) and to common items (:class:`Common`).
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from workbench.base.text import shortened
from workbench.results.studies import TaskFacts, task_facts
from workbench.session.reader import SessionReader
from workbench.studies.cell_work import CellWork, scale_of
from workbench.studies.cells import (
    CREDITED,
    CUT,
    DOUBTFUL,
    FORMATTED,
    REPAIRED,
    UNSCORED,
    Mean,
    StudyCell,
    cell_of,
    documented_share,
    nonzero,
    over_rows,
    pass_at,
    pass_of,
)
from workbench.studies.conditions import apart, classes, differing, has_work, mixed_words
from workbench.studies.declaration import AGENTS, InJson, Study, StudyColumn, column_titles, in_points, row_titles

_DOUBTS = (DOUBTFUL, REPAIRED, CUT, CREDITED, FORMATTED)
_TITLE = 60
"""Maximum number of characters of a column's title within a sentence."""


@dataclass(frozen=True, slots=True)
class ColumnSummary(InJson):
    """A column over the rows in which it has results.

    ``means`` are unweighted over those rows, and ``apart`` lists the conditions that make the column incomparable with
    the others.
    """

    JSON = "column title means documented done planned tokens cost_usd:cost seconds doubts apart:not_comparable column.mark?:source"

    column: StudyColumn
    title: str
    means: Mapping[str, Mean]
    documented: float | None
    done: int
    planned: int | None
    tokens: int
    cost_usd: float | None
    seconds: float
    doubts: Mapping[str, int] = field(default_factory=dict)
    apart: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Common(InJson):
    """The items with a value in all columns by a measure, out of the items ``of`` any column, and the means over them.

    Means are unweighted over rows. Columns that are apart or without results are excluded.
    """

    items: int
    of: int
    means: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RowSummary:
    """A row, or a ``part`` of one in a ``group``, such as the tasks of a file, with its cells by column name.

    By measure, ``best`` contains the best comparable columns (several if tied), and ``spread`` the range of the
    comparable columns.
    """

    row: str
    title: str
    cells: Mapping[str, StudyCell]
    best: Mapping[str, tuple[str, ...]]
    spread: Mapping[str, float | None]
    part: str = ""
    group: str = ""


@dataclass(frozen=True)
class StudyOutcome:
    """The results of a study; ``scale`` is the rubric and judge that measure its trials.

    Cells are keyed by row and column name. ``common`` omits measures by which all columns have the same items.
    """

    study: Study
    columns: tuple[StudyColumn, ...]
    rows: tuple[str, ...]
    cells: Mapping[tuple[str, str], StudyCell]
    by_column: tuple[ColumnSummary, ...]
    by_row: tuple[RowSummary, ...]
    scale: tuple[str, str]
    problems: tuple[str, ...]
    common: Mapping[str, Common] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        study: Study,
        columns: Sequence[StudyColumn],
        works: Mapping[tuple[str, str], CellWork],
        problems: Sequence[str] = (),
        before: StudyOutcome | None = None,
    ) -> StudyOutcome:
        """Compute the figures of a study; the figures of unchanged cells are reused."""
        scale = scale_of(study, works.values())
        same = before.cells if before is not None and (before.study, before.scale) == (study, scale) else {}
        cells: dict[tuple[str, str], StudyCell] = {}
        for row, column in itertools.product(study.rows, columns):
            key = (row, column.name)
            one, known = works.get(key) or CellWork(row, column), same.get(key)
            cells[key] = known if known is not None and known.work is one else cell_of(one, study, scale)
        titles = column_titles(columns)
        works = {key: cell.work for key, cell in cells.items()}
        of_all = {one.name for one in _main(works, study.rows, columns)}
        first = next((one for one in columns if one.name in of_all), None)
        by_column = tuple(
            replace(
                _column(column, title, [cells[row, column.name] for row in study.rows], study, scale),
                apart=() if first is None or column.name in of_all else apart(works, study.rows, first, column),
            )
            for column, title in zip(columns, titles, strict=True)
        )
        by_row = tuple(
            row_summary(row, title, {one.name: cells[row, one.name] for one in columns}, study.measures)
            for row, title in zip(study.rows, row_titles(study.rows), strict=True)
        )
        notes = (*problems, *_without_figures(by_column, study))
        common = {
            measure: found
            for measure in study.measures
            if (found := _common(cells, study.rows, [one.column for one in by_column if not one.apart], measure))
        }
        return cls(study, tuple(columns), study.rows, cells, by_column, by_row, scale, notes, common)

    @cached_property
    def works(self) -> Mapping[tuple[str, str], CellWork]:
        return {key: cell.work for key, cell in self.cells.items()}

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Notes on columns that are not compared, and on cells with excluded results or mixed conditions."""
        titles = {one.column.name: shortened(one.title, _TITLE) for one in self.by_column}
        compared = next((titles[one.column.name] for one in self.by_column if not one.apart), "")
        notes = [
            f"{titles[one.column.name]} is not compared with {compared}, because its conditions differ: "
            f"{'; '.join(one.apart)}."
            for one in self.by_column
            if one.apart
        ]
        notes += [
            f"{sentence[:-1]}, so it is not compared at all."
            for sentence in _without_figures(self.by_column, self.study, own=True)
        ]
        for column in self.columns:
            cells = [self.cells[row, column.name] for row in self.rows]
            notes += [
                f"{titles[column.name]}, {cell.row}: {', '.join(cell.work.left_out)} are left out."
                for cell in cells
                if cell.work.left_out
            ]
            if mixed := mixed_words([cell.work for cell in cells]):
                notes.append(
                    f"{titles[column.name]} does not have the same conditions in all rows: {'; '.join(mixed)}."
                )
        return tuple(notes)

    def summary(self, column: StudyColumn) -> ColumnSummary:
        return next(one for one in self.by_column if one.column.name == column.name)

    def cell(self, row: str, column: StudyColumn | str) -> StudyCell:
        return self.cells[row, column if isinstance(column, str) else column.name]

    @cached_property
    def own(self) -> list[StudyCell]:
        """The cells that the study runs itself."""
        return [cell for cell in self.cells.values() if not cell.column.source]

    @property
    def done(self) -> int:
        return sum(cell.done for cell in self.own)

    @property
    def planned(self) -> int | None:
        return _sum(cell.planned for cell in self.own)

    @property
    def progress(self) -> str:
        """Progress as finished and planned items: ``11 of 12 trials``."""
        planned = "?" if self.planned is None else f"{self.planned:,}"
        return f"{self.done:,} of {planned} {'trials' if self.study.kind == AGENTS else 'candidates'}"

    @property
    def cost_usd(self) -> float | None:
        return _cost(self.own)

    @property
    def finished(self) -> bool:
        return all(cell.state == "done" for cell in self.own)

    def to_json(self) -> dict[str, Any]:
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
            "common": {measure: one.to_json() for measure, one in self.common.items()},
            "cells": [cell.to_json() for cell in self.cells.values()],
            "problems": list(self.problems),
            "notes": list(self.notes),
        }


def _column(
    column: StudyColumn, title: str, cells: Sequence[StudyCell], study: Study, scale: tuple[str, str]
) -> ColumnSummary:
    tasks = tuple(one for cell in cells for one in cell.work.counts)
    return ColumnSummary(
        column,
        title,
        {measure: over_rows(measure, cells, scale) for measure in study.measures},
        documented_share(tasks),
        sum(cell.done for cell in cells),
        _sum(cell.planned for cell in cells),
        sum(cell.work.tokens for cell in cells),
        _cost(cells),
        sum(cell.work.seconds for cell in cells),
        nonzero({name: sum(cell.doubts.get(name, 0) for cell in cells) for name in _DOUBTS}),
    )


def _cost(cells: Iterable[StudyCell]) -> float | None:
    costs = [cell.work.cost_usd for cell in cells if cell.work.cost_usd is not None]
    return round(math.fsum(costs), 9) if costs else None


def _without_figures(columns: Iterable[ColumnSummary], study: Study, *, own: bool = False) -> Iterable[str]:
    """Yield why imported columns (with ``own``: its unscored columns) have no value of its first measure."""
    for one in columns:
        mean = one.means[study.measures[0]]
        is_missing = mean.missing and (not own or any(missing.kind == UNSCORED for missing in mean.missing))
        if bool(one.column.source) != own and not mean.items and is_missing:
            yield f"{shortened(one.title, _TITLE)} has no {study.measures[0]}: {'; '.join(missing.words for missing in mean.missing)}."


def _main(
    works: Mapping[tuple[str, str], CellWork], rows: Sequence[str], columns: Sequence[StudyColumn]
) -> list[StudyColumn]:
    """Return the columns to compare.

    These are the first column with results, those made under the same conditions, and those without results.
    """
    having = [one for one in columns if any(has_work(works[row, one.name]) for row in rows)]
    without = [one for one in columns if one not in having]
    return [*(classes(works, rows, having)[0] if having else ()), *without]


def _common(
    cells: Mapping[tuple[str, str], StudyCell], rows: Sequence[str], columns: Sequence[StudyColumn], measure: str
) -> Common | None:
    """Return the common items of columns by a measure, or None if all columns with results have the same items."""
    having = [one.name for one in columns if any(cells[row, one.name].means[measure].items for row in rows)]
    sums: dict[str, list[float]] = {name: [] for name in having}
    items = of = 0
    even = True
    for row in rows:
        values = {name: _values(cells[row, name], measure) for name in having}
        if not values:
            return None
        every = set[object]().union(*values.values())
        common = set(next(iter(values.values()))).intersection(*values.values())
        first = cells[row, having[0]].work
        if any(differing(first, cells[row, name].work) for name in having[1:]):
            common = set()
        even = even and len(common) == len(every)
        items, of = items + len(common), of + len(every)
        for name, mine in values.items():
            if common:
                sums[name].append(math.fsum(mine[key] for key in common) / len(common))
    if even or len(having) < 2:
        return None
    return Common(items, of, {name: math.fsum(mine) / len(mine) for name, mine in sums.items() if mine})


def _values(cell: StudyCell, measure: str) -> dict[object, float]:
    """Return the values of a cell's items for a comparison: the mean of a case, or the tasks of a repository."""
    if in_points(measure):
        value = cell.means[measure].value
        return {} if value is None else {"": value}
    k = int(measure.removeprefix("pass@"))
    found = ((one[0][1:4], pass_at(one[3], one[4], k)) for one in cell.work.counts)
    return {key: value for key, value in found if value is not None}


def row_summary(
    row: str, title: str, cells: Mapping[str, StudyCell], measures: Sequence[str], part: str = "", group: str = ""
) -> RowSummary:
    first = next((one for one in cells.values() if has_work(one.work)), None)
    compared = [one for one in cells.values() if first is None or not differing(first.work, one.work)]
    best: dict[str, tuple[str, ...]] = {}
    spread: dict[str, float | None] = {}
    for measure in measures:
        values = {cell.column.name: value for cell in compared if (value := cell.means[measure].value) is not None}
        top = max(values.values(), default=None)
        best[measure] = tuple(name for name, value in values.items() if top is not None and top - value < 1e-9)
        spread[measure] = max(values.values()) - min(values.values()) if len(values) > 1 else None
    return RowSummary(row, title, cells, best, spread, part, group)


def _sum(counts: Iterable[int | None]) -> int | None:
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total


@dataclass(slots=True)
class FunctionFacts:
    """A function of a row in all columns that have it.

    Facts are keyed by column name, and pass@k by column name and measure.
    """

    row: str
    file: str
    name: str
    tests: int
    facts: dict[str, TaskFacts] = field(default_factory=dict)
    passed: dict[str, dict[str, float | None]] = field(default_factory=dict)

    def first(self, of: str) -> float | None:
        """Return a fact that does not depend on the doc system, from the first column that has it."""
        return next((value for one in self.facts.values() if (value := getattr(one, of)) is not None), None)


def function_facts(reader: SessionReader, outcome: StudyOutcome) -> tuple[FunctionFacts, ...]:
    """Return the functions in a study of docs, row by row."""
    known = _facts(reader, outcome.cells.values())
    found: dict[tuple[str, str, str], FunctionFacts] = {}
    for row in outcome.rows:
        for column in outcome.columns:
            work = outcome.cell(row, column).work
            for task in work.tasks:
                key = (row, task.file, task.name)
                mine = found.setdefault(key, FunctionFacts(*key, task.tests))
                facts = known[work.session].get(task.task, TaskFacts(task.task))
                mine.facts[column.name] = facts._replace(documented=bool(task.documented))
                mine.passed[column.name] = {f"pass@{k}": pass_of(task, k) for k in outcome.study.k}
    return tuple(found.values())


def _facts(reader: SessionReader, cells: Iterable[StudyCell]) -> dict[str, dict[str, TaskFacts]]:
    found: dict[str, dict[str, TaskFacts]] = defaultdict(dict)
    for session, runs in runs_by_session(cells).items():
        with session_of(reader, session) as place:
            found[session] = task_facts(place, runs)
    return found


def runs_by_session(cells: Iterable[StudyCell]) -> Mapping[str, list[str]]:
    """Return the runs of cells by session; "" is the study's own session."""
    found: dict[str, dict[str, None]] = {}
    for cell in cells:
        if cell.run:
            found.setdefault(cell.work.session, {})[cell.run] = None
    return {session: list(runs) for session, runs in found.items()}


@contextmanager
def session_of(reader: SessionReader, session: str) -> Iterator[SessionReader]:
    """Open the session of a cell; "" is the session that is already open."""
    if not session:
        yield reader
        return
    with SessionReader(Path(session), surveyed=False) as other:
        yield other
