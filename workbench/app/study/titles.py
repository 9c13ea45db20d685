"""What stands over the matrix and over what is beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.app.study.detail import CELL, COMPARISON, RANKINGS, Detail
from workbench.app.study.figures import ITEMS
from workbench.app.study.matrix import StudyMatrix
from workbench.studies.declaration import AGENTS
from workbench.text import one_line, shortened

if TYPE_CHECKING:
    from workbench.studies.outcome import StudyOutcome

_ORDERS = {"declared": "", "name": "by name", "spread": "by how far columns are apart", "column": "by "}


def matrix_title(outcome: StudyOutcome, matrix: StudyMatrix, grouped_by: str) -> str:
    """Return ``pass@1 · 3 of 30 repositories · grouped by domain · sorted by name``."""
    order = matrix.order
    titles = {one.column.name: one.title for one in outcome.by_column}
    by = _ORDERS[order.by] + (titles.get(order.column, "") if order.by == "column" else "")
    by += ", the other way round" if order.reverse and by else ""
    rows = len(outcome.rows)
    shown = matrix.narrow_counts()[0] if matrix.narrowed and not grouped_by else rows
    count = f"{shown:,} of {rows:,}" if shown != rows else f"{rows:,}"
    noun = ITEMS[outcome.study.kind == AGENTS][2 if rows == 1 else 3]
    in_groups = f"grouped by {grouped_by}" if grouped_by else ""
    parts = [matrix.measure, f"{count} {noun}", in_groups, f"sorted {by}" if by else ""]
    return one_line(" · ".join(filter(None, parts)), 200)


def detail_title(outcome: StudyOutcome | None, matrix: StudyMatrix, detail: Detail) -> tuple[str, str]:
    """Return the title of what stands beside the matrix, and what its figures are."""
    tab = title = detail.current
    cell, found = matrix.selected, detail.comparison.comparison
    titles = {one.column.name: one.title for one in outcome.by_column} if outcome is not None else {}
    if tab == CELL and cell is not None:
        title = f"{matrix.part or cell.row} · {titles[cell.column.name]} · {len(detail.cell_items.rows):,}"
    elif tab == COMPARISON and found is not None and found.right.name in titles and found.left.name in titles:
        right, left = (shortened(titles[one.name], 30) for one in (found.right, found.left))
        title = f"B {right} − A {left}"
    elif tab == RANKINGS and detail.rankings.weighting:
        title = f"Rankings by {detail.rankings.weighting}"
    return one_line(title, 200), "items, tau" if tab == RANKINGS else ""
