"""The rows of a study in groups: repositories by their properties, or tasks by file and properties (strata).

Facts about repositories come from the catalogue and the session's snapshots, facts about tasks from its runs. The mean
of a group is unweighted over its rows, like that of a column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.catalog import load_cases
from workbench.catalog.repositories import published_counts, published_name
from workbench.plans.task_names import readable_id
from workbench.results.studies import task_facts
from workbench.results.trials import trials_named
from workbench.session.reader import SessionReader
from workbench.studies.cells import Mean, StudyCell, cell_of, over_rows
from workbench.studies.declaration import AGENTS
from workbench.studies.outcome import RowSummary, StudyOutcome, row_summary

ORIGINAL = "original"
"""The doc system that determines the length of a function's docs."""
UNKNOWN = "not known"

Key = str
Known = Mapping[str, str | float | None]
"""Known properties of a row or task, by the property to group by; an unknown one is None or ""."""


@dataclass(frozen=True, slots=True)
class RowFacts:
    """Known properties of rows, and of tasks by row and readable id."""

    rows: Mapping[str, Known]
    tasks: Mapping[tuple[str, str], Known]


@dataclass(frozen=True, slots=True)
class RowGroup:
    """A group of similar rows. ``means[column][measure]`` is the mean of a measure in a column."""

    title: str
    parts: tuple[RowSummary, ...]
    means: Mapping[str, Mapping[str, Mean]]


def facts_of(reader: SessionReader, outcome: StudyOutcome) -> RowFacts:
    known = {case.id: case for case in load_cases()[0]}
    counts = published_counts()
    sizes = _sizes(reader, outcome) if outcome.study.kind == AGENTS else {}
    rows = {}
    for row in outcome.rows:
        case, published = known.get(row), published_name(row)
        tasks = max((len(outcome.cell(row, one).work.counts) for one in outcome.columns), default=0)
        rows[row] = {
            "domain": case.domain if case is not None else "",
            "kind": case.kind if case is not None else "of the paper" if published else "own",
            "size": sizes.get(row),
            "number of tasks": tasks or None,
            "popularity": counts[published].stars if published else None,
        }
    return RowFacts(rows, {} if outcome.study.kind == AGENTS else _task_facts(reader, outcome))


def _sizes(reader: SessionReader, outcome: StudyOutcome) -> dict[str, int]:
    row_of = {one.trial: row for (row, _), cell in outcome.cells.items() for one in cell.work.trials}
    trials = trials_named(reader, row_of)
    snapshots = {row_of[trial.id]: trial.snapshot for trial in trials if trial.snapshot is not None}
    return {row: sum(size for _, size in reader.files_of(snapshot)) for row, snapshot in snapshots.items()}


def _task_facts(reader: SessionReader, outcome: StudyOutcome) -> dict[tuple[str, str], Known]:
    runs = sorted({cell.run for cell in outcome.cells.values() if cell.run and not cell.work.session})
    known = task_facts(reader, runs)
    found: dict[tuple[str, str], Known] = {}
    for column in sorted(outcome.columns, key=lambda one: one.system != ORIGINAL):
        for row in outcome.rows:
            for info, *_ in outcome.cell(row, column).work.counts:
                key = (row, readable_id(info.file, info.function, info.occurrence))
                if key not in found and (told := known.get(info.task)) is not None:
                    docs = (told.docs or 0) if column.system == ORIGINAL else None
                    found[key] = dict(zip(_OF_TASKS, (told.lines, told.tests, told.coverage, docs), strict=True))
    return found


# -- available groups


_STEPS: dict[str, tuple[tuple[tuple[float, str], ...], str]] = {
    "size": (((20_000, "up to 20 kB"), (200_000, "20 to 200 kB")), "more than 200 kB"),
    "number of tasks": (((20, "up to 20 tasks"), (60, "21 to 60 tasks")), "more than 60 tasks"),
    "popularity": (((100, "up to 100 stars"),), "more than 100 stars"),
    "function length": (((5, "up to 5 lines"), (15, "6 to 15 lines")), "more than 15 lines"),
    "tests": (((2, "1 or 2 tests"), (9, "3 to 9 tests")), "10 tests or more"),
    "coverage": (((0.799, "less than 80 % covered"), (0.999, "80 to 99 % covered")), "all lines covered"),
    "docs length": (
        ((0, "no docstring"), (100, "docstring up to 100 characters"), (400, "docstring of 101 to 400 characters")),
        "docstring of more than 400 characters",
    ),
}
"""Steps of numeric properties: labels with their upper bounds, and the label above the last bound."""
_OF_TASKS = ("function length", "tests", "coverage", "docs length")
FILE = "file"


def _key(by: str, value: str | float | None) -> Key:
    if isinstance(value, str) or value is None:
        return value or UNKNOWN
    bounds, above = _STEPS[by]
    return next((name for bound, name in bounds if value <= bound), above)


def groupings(outcome: StudyOutcome, facts: RowFacts) -> tuple[str, ...]:
    """Return the properties that divide the rows or tasks of a study into more than one group."""
    every = ((by, of.values()) for of in (facts.rows, facts.tasks) for by in next(iter(of.values()), {}))
    found = [by for by, known in every if len({_key(by, one[by]) for one in known}) > 1]
    return (FILE, *found) if facts.tasks else tuple(found)


def grouped(outcome: StudyOutcome, by: str, facts: RowFacts) -> tuple[RowGroup, ...]:
    """Return the groups of a study in natural order: steps ascending, names alphabetically, unknown last."""
    if by == FILE:
        return tuple(_of_files(outcome, one) for one in outcome.by_row)
    members: dict[Key, list[RowSummary]] = {}
    for one in outcome.by_row:
        if by not in _OF_TASKS:
            key = _key(by, facts.rows[one.row][by])
            members.setdefault(key, []).append(replace(one, group=key))
            continue

        def key_of(file: str, name: str, row: str = one.row) -> Key:
            return _key(by, facts.tasks.get((row, name), {}).get(by))

        for key, cells in _divided(outcome, one.row, key_of).items():
            members.setdefault(key, []).append(_part(one.title, one.row, key, key, cells, outcome))
    bounds, above = _STEPS.get(by, ((), ""))
    steps = {name: number for number, name in enumerate([*(name for _, name in bounds), above])}
    keys = sorted(members, key=lambda key: (key == UNKNOWN, steps.get(key, -1), key))
    return tuple(_group(outcome, key, members[key]) for key in keys)


def _of_files(outcome: StudyOutcome, one: RowSummary) -> RowGroup:
    files = _divided(outcome, one.row, lambda file, name: file)
    parts = [_part(file, one.row, file, one.title, cells, outcome) for file, cells in sorted(files.items())]
    return RowGroup(one.title, tuple(parts), {name: cell.means for name, cell in one.cells.items()})


def _divided(outcome: StudyOutcome, row: str, key_of: Callable[[str, str], Key]) -> dict[Key, dict[str, StudyCell]]:
    found: dict[Key, dict[str, StudyCell]] = {}
    samples = outcome.study.samples
    for column in outcome.columns:
        work = outcome.cell(row, column).work
        counts: dict[Key, list[object]] = {}
        for one in work.counts:
            info = one[0]
            counts.setdefault(key_of(info.file, readable_id(info.file, info.function, info.occurrence)), []).append(one)
        for key, mine in counts.items():
            planned = len(mine) * samples if not work.session else work.planned
            part = replace(work, counts=tuple(mine), planned=planned)  # type: ignore[arg-type]
            found.setdefault(key, {})[column.name] = cell_of(part, outcome.study, outcome.scale)
    return found


def _part(
    title: str, row: str, part: str, group: str, cells: Mapping[str, StudyCell], outcome: StudyOutcome
) -> RowSummary:
    whole = {}
    for column in outcome.columns:
        empty = replace(outcome.cell(row, column).work, counts=(), planned=None, run_state="", problem="")
        whole[column.name] = cells.get(column.name) or cell_of(empty, outcome.study, outcome.scale)
    return row_summary(row, title, whole, outcome.study.measures, part, group)


def _group(outcome: StudyOutcome, title: str, parts: Sequence[RowSummary]) -> RowGroup:
    means = {
        column.name: {
            measure: over_rows(measure, [part.cells[column.name] for part in parts], outcome.scale)
            for measure in outcome.study.measures
        }
        for column in outcome.columns
    }
    return RowGroup(title, tuple(parts), means)
