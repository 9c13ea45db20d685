"""The conditions under which figures were made, and the single rule for which of them can be compared.

Two cells of a row are comparable if all conditions known for both are the same: docs scope, prompt, context policy,
sampling, samples per task and content of the repository; for agents, limits, sampling and content of the case. Columns
that share rows but are comparable on none of them are *apart*: they are shown, but never paired, tested or ranked with
each other. The rubric and judge for trials are the same for the whole study.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from workbench.studies.cell_work import CellWork
from workbench.studies.declaration import StudyColumn

Cells = Mapping[tuple[str, str], CellWork]
Differing = dict[str, tuple[str, str]]
"""The two values of each differing condition."""

OF_ROWS = ("snapshot", "content of the case")
"""Conditions that naturally differ from row to row."""
_ALWAYS = ("docs scope", "samples a task", "limit of steps", *OF_ROWS)
_FIT_THE_MODEL = ("prompt", "context", "characters per read")
_SHORT = 12
"""Number of characters shown of a digest."""
_FEW = 3
"""Maximum number of row-specific values listed in a sentence."""
NOT_SET = "not set"


def differing(left: CellWork, right: CellWork) -> Differing:
    """Return the conditions that differ between two cells of a row; conditions unknown for either are ignored.

    Prompt, context, sampling and read limit are chosen to suit the model, so between two models of the same study they
    are part of the comparison.
    """
    mine, other = left.conditions, right.conditions
    names = [name for name in _ALWAYS if name in mine and name in other]
    if left.column.model == right.column.model or left.session or right.session:
        names += [name for name in _FIT_THE_MODEL if name in mine and name in other]
        sampled = [[name for name in one if name not in (*_ALWAYS, *_FIT_THE_MODEL)] for one in (mine, other)]
        if all(sampled):
            names += sorted({*sampled[0], *sampled[1]})
    return {
        name: (mine.get(name, NOT_SET), other.get(name, NOT_SET)) for name in names if mine.get(name) != other.get(name)
    }


def has_work(cell: CellWork | None) -> bool:
    return cell is not None and bool(cell.counts or cell.trials)


def rows_apart(cells: Cells, rows: Iterable[str], left: StudyColumn, right: StudyColumn) -> dict[str, Differing]:
    """Return the rows that both columns have, each with its differences; a row without differences is comparable."""
    found = {}
    for row in rows:
        mine, other = cells.get((row, left.name)), cells.get((row, right.name))
        if mine is not None and other is not None and has_work(mine) and has_work(other):
            found[row] = differing(mine, other)
    return found


def apart(cells: Cells, rows: Iterable[str], left: StudyColumn, right: StudyColumn) -> tuple[str, ...]:
    """Return the differences that make two columns incomparable on every common row, or () if any row is comparable."""
    found = rows_apart(cells, rows, left, right)
    return difference_words(found) if found and all(found.values()) else ()


def difference_words(found: Mapping[str, Differing]) -> tuple[str, ...]:
    """Return each difference with its values, and with its rows unless it applies to all of them."""
    by_name: dict[str, dict[str, tuple[str, str]]] = {}
    for row, mine in found.items():
        for name, values in mine.items():
            by_name.setdefault(name, {})[row] = values
    parts = []
    for name, by_row in by_name.items():
        shown = dict.fromkeys(" and ".join(map(_shown, two)) for two in by_row.values())
        where = "" if len(by_row) == len(found) else f" ({', '.join(by_row)})"
        parts.append(f"{name} {'; '.join(list(shown)[:_FEW])}{where}")
    return tuple(parts)


def _shown(value: str) -> str:
    digest = len(value) > 30 and all(sign in "0123456789abcdef" for sign in value)
    return value[:_SHORT] if digest else value


def comparable_rows(cells: Cells, rows: Iterable[str], columns: Sequence[StudyColumn]) -> set[str]:
    """Return the rows that all given columns have under the same conditions."""
    found = set()
    for row in rows:
        mine = [cell for column in columns if (cell := cells.get((row, column.name))) is not None and has_work(cell)]
        if len(mine) == len(columns) and not any(differing(mine[0], one) for one in mine[1:]):
            found.add(row)
    return found


def mixed_words(cells: Iterable[CellWork]) -> tuple[str, ...]:
    """Return the conditions that vary within a column, each value with its rows, or "mixed" within a cell."""
    values: dict[str, dict[str, list[str]]] = {}
    for cell in cells:
        for name, value in cell.conditions.items():
            if name not in OF_ROWS or "; " in value:
                values.setdefault(name, {}).setdefault(value, []).append(cell.row)
    return tuple(
        f"{name} " + ", ".join(f"{value} ({', '.join(rows)})" for value, rows in found.items())
        for name, found in values.items()
        if len(found) > 1 or any("; " in value for value in found)
    )


def classes(cells: Cells, rows: Sequence[str], columns: Iterable[StudyColumn]) -> list[list[StudyColumn]]:
    """Return classes of comparable columns in their original order; the first class is the main one."""
    found: list[list[StudyColumn]] = []
    for column in columns:
        for one in found:
            if not any(apart(cells, rows, member, column) for member in one):
                one.append(column)
                break
        else:
            found.append([column])
    return found


def nearest(found: Iterable[CellWork], own: Mapping[tuple[str, str], CellWork]) -> list[CellWork]:
    """Return, for each imported cell, the variant that is most similar to the study's own cells in its row.

    The cell's remarks name the other variants.
    """
    every: dict[tuple[str, str], list[CellWork]] = {}
    for cell in found:
        every.setdefault((cell.row, cell.column.name), []).append(cell)
    chosen = []
    for (row, _), cells in every.items():
        mine = [one for (of, _), one in own.items() if of == row and has_work(one)]
        cells.sort(
            key=lambda one: (min((len(differing(own, one)) for own in mine), default=0), -len(one.counts), one.settings)
        )
        first, *rest = cells
        left_out = tuple(
            f"{sum(count[1] for count in one.counts):,} samples with "
            + (", ".join(f"{name} {right}" for name, (_, right) in differing(first, one).items()) or f"run {one.run}")
            for one in rest
        )
        chosen.append(replace(first, left_out=left_out))
    return chosen
