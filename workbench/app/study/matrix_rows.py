"""What stands in the rows of the matrix: groups with their means, and below each its rows in order; no widget in sight."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.app.study.arrangement import Order, in_order
from workbench.studies.declaration import row_titles

if TYPE_CHECKING:
    from workbench.studies.cells import Cell, Mean
    from workbench.studies.grouping import Group
    from workbench.studies.outcome import StudyOutcome


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A row, or the heading of a group.

    Attributes:
        title: What it is called there.
        row: The row of the study, "" for a group.
        cells: Its cells by the names of columns, none of a group.
        best: The best columns by measure.
        spread: How far the columns that are comparable are apart, by measure.
        group: The group in which it stands, "" for none.
        means: Of a group, of each column by its name, by measure.
        part: What of the study's row it is, "" for all of it.
    """

    title: str
    row: str
    cells: Mapping[str, Cell]
    best: Mapping[str, tuple[str, ...]]
    group: str = ""
    means: Mapping[str, Mapping[str, Mean]] = field(default_factory=dict)
    part: str = ""
    spread: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def is_group(self) -> bool:
        """Whether it is the heading of a group."""
        return not self.row

    @property
    def indent(self) -> str:
        """What stands before its name."""
        return "  " if self.group else ""

    def stands_for(self, other: MatrixRow) -> bool:
        """Whether it is the same row of the study, or part of one, in the same group; its figures may be others."""
        return (self.title, self.row, self.group, self.part) == (other.title, other.row, other.group, other.part)

    def looks_as(self, other: MatrixRow) -> bool:
        """Whether it shows what another row shows: cells that did not change are the same objects."""
        return (
            self.stands_for(other)
            and (self.best, self.means) == (other.best, other.means)
            and self.cells.keys() == other.cells.keys()
            and all(one is other.cells[name] for name, one in self.cells.items())
        )


def matrix_rows(
    outcome: StudyOutcome, groups: Sequence[Group] | None, folded: Collection[str], order: Order, measure: str
) -> list[MatrixRow]:
    """Return the rows of the matrix: those of the study in order, or the groups, each with its rows in order unless it is folded."""
    if groups is None:
        titles = row_titles(outcome.rows)
        rows = [
            MatrixRow(
                title,
                row,
                {one.name: outcome.cell(row, one) for one in outcome.columns},
                summary.best,
                spread=summary.spread,
            )
            for title, row, summary in zip(titles, outcome.rows, outcome.by_row, strict=True)
        ]
        return in_order(rows, order, measure)
    found = []
    for group in groups:
        found.append(MatrixRow(group.title, "", {}, {}, means=group.means))
        if group.title not in folded:
            rows = [
                MatrixRow(
                    one.title,
                    one.row,
                    one.cells,
                    one.summary.best,
                    group.title,
                    part=one.part,
                    spread=one.summary.spread,
                )
                for one in group.parts
            ]
            found += in_order(rows, order, measure)
    return found
