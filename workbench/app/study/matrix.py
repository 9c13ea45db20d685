"""The matrix of a study, with a cell cursor, marks on columns, and pinned means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rich.cells import cell_len

from workbench.app.keys import bindings
from workbench.app.study.view import cell_text, mean_text, progress
from workbench.app.toolkit.cell_table import CellTable, Grid
from workbench.app.toolkit.columns import TableColumn
from workbench.app.toolkit.table import Grouping, TableGroup
from workbench.app.toolkit.virtual_view import Part
from workbench.base.text import one_line, percent, shortened
from workbench.studies.cells import StudyCell
from workbench.studies.declaration import AGENTS
from workbench.studies.grouping import RowGroup
from workbench.studies.outcome import ColumnSummary, RowSummary, StudyOutcome
from workbench.studies.wording import figure

SPREAD = "spread"
"""Name of the sort order by the spread between a row's columns."""


class StudyMatrix(CellTable[RowSummary]):
    """The rows of a study, or groups of rows or of parts of rows. The first column in ``marked`` is labelled A."""

    BINDINGS = bindings("study/matrix")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(Grid(_names(""), ()), key=lambda row: (row.group, row.row, row.part), id=id)
        self.outcome: StudyOutcome | None = None
        self.measure = ""
        self.marked: list[str] = []
        self._groups: dict[str, RowGroup] = {}

    # -- content

    def put_study(
        self, outcome: StudyOutcome | None, measure: str, by: str = "", groups: Sequence[RowGroup] = ()
    ) -> None:
        """Show a study, with rows grouped by ``by``; the cursor, order and marks are kept where possible."""
        how, row = self._how(), self.row
        self.outcome, self.measure = outcome, measure
        self._groups = {group.title: group for group in groups}
        self.groupings = (Grouping(by, lambda row: row.group),) if groups else ()
        regrouped = by != self.arrangement.grouping
        if regrouped:
            self.arrangement = replace(self.arrangement, grouping=by, folded=frozenset())
            self.rows = ()
        names = {column.name for column in outcome.columns} if outcome is not None else set()
        self.marked = [name for name in self.marked if name in names]
        rows: Sequence[RowSummary] = outcome.by_row if outcome is not None else ()
        if self._groups:
            rows = [part for group in self._groups.values() for part in group.parts]
        if how == self._how() and list(map(self._key, rows)) == list(map(self._key, self.rows)):
            # The study is live, and only some cells have changed.
            self.update_rows([new for old, new in zip(self.rows, rows, strict=True) if not _looks_like(old, new)])
        else:
            self.show_columns(self._grid())
            self.put(rows)
            # Limit the height to the rows so that the means follow directly.
            self.styles.max_height = max(1, self.row_count())
        if regrouped and row and row != self.row:
            self.go_to_cell(row)

    def _how(self) -> tuple[object, ...]:
        return self.measure, *map(self._heading, self._summaries)

    @property
    def _summaries(self) -> Sequence[ColumnSummary]:
        return self.outcome.by_column if self.outcome is not None else ()

    def _grid(self) -> Grid[RowSummary]:
        # Leave three cells for the letter of a mark and the sort arrow.
        heads = max((cell_len(self._heading(one)) for one in self._summaries), default=0) + 3
        spread: TableColumn[RowSummary] = TableColumn(
            title=SPREAD, cell=lambda row: "", width=0, sort=lambda row: row.spread.get(self.measure), descending=True
        )
        noun = self.outcome.study.row_noun if self.outcome is not None else ""
        return Grid(
            _names(noun), [self._column(one.column.name) for one in self._summaries], hidden=[spread], heads=heads
        )

    def _column(self, name: str) -> TableColumn[RowSummary]:
        def cell(row: RowSummary) -> Part:
            text, style = cell_text(row.cells[name], self.measure, self.columns.each)
            best = row.best.get(self.measure, ())
            return text, style or ("score" if name in best and len(best) < len(self._summaries) else "")

        def mean(rows: Sequence[RowSummary]) -> str:
            found = self._groups[rows[0].group].means[name][self.measure]
            return mean_text(found, found.rows, self.measure, self.columns.each)

        return TableColumn(title=name, cell=cell, width=0, sort=lambda row: row.cells[name].means[self.measure].value,
                      descending=True, figure=mean)  # fmt: skip

    def rank_of_group(self, group: TableGroup[RowSummary]) -> int:
        return list(self._groups).index(group.name)

    def title_of_group(self, group: TableGroup[RowSummary]) -> str:
        return one_line(group.name, 400)

    @property
    def row(self) -> str:
        return self.selected.row if self.selected is not None else ""

    @property
    def part(self) -> str:
        """The part of the row under the cursor if rows are grouped (a file or stratum), or "" for the whole row."""
        return self.selected.part if self.selected is not None else ""

    @property
    def column(self) -> ColumnSummary | None:
        return self._summaries[self.at] if self.at < len(self._summaries) else None

    @property
    def cell(self) -> StudyCell | None:
        row, column = self.selected, self.column
        return row.cells[column.column.name] if row is not None and column is not None else None

    def go_to_cell(self, row: str = "", column: str = "") -> None:
        names = [one.column.name for one in self._summaries]
        if column in names:
            self.to_column(names.index(column))
        key = next((self._key(one) for one in self.rows if one.row == row), None)
        if key is not None:
            self.go_to(key)
        self.post_message(self.RowHighlighted(self, self.cursor))

    def action_mark(self) -> None:
        if self.column is None:
            return
        name = self.column.column.name
        self.mark([one for one in self.marked if one != name] if name in self.marked else [*self.marked[-1:], name])
        self.post_message(self.Arranged(self))

    def mark(self, names: list[str]) -> None:
        self.marked = names
        self.refresh()

    def _orders(self) -> list[str]:
        if self.outcome is None:
            return []
        names = [one.column.name for one in self._summaries]
        column = self.arrangement.order if self.arrangement.order in names else names[self.at] if names else ""
        return list(dict.fromkeys(["", column, SPREAD, self.outcome.study.row_noun]))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        # The screen handles these regardless of the focus, because groupings have to be loaded.
        return action not in {"sort_next", "reverse", "group_next", "fold"} and super().check_action(action, parameters)

    # -- painting

    def words_of_row(self, row: RowSummary) -> str:
        return " ".join((row.title, row.row, *sorted({cell.state for cell in row.cells.values()} - {"done"})))

    def head_of(self, at: int, width: int) -> Part:
        order, first = self.arrangement.order, self.columns.first
        if at < 0:
            noun = self.columns.names.title
            return noun + (f" ‹{first}" if first else ""), "strong" if order == noun else "dim"
        name = self._summaries[at].column.name
        letter = f"{'AB'[self.marked.index(name)]} " if name in self.marked else ""
        arrow = ("↑" if self.arrangement.reverse else "↓") if order == name else ""
        title = shortened(self._heading(self._summaries[at]), width - len(arrow) - len(letter))
        return f"{letter}{title}{arrow}", "marked" if letter else "strong" if arrow or at == self.at else "dim"

    def _heading(self, one: ColumnSummary) -> str:
        title = (one.column.model or "default model") if self._has_systems else one.title
        return one_line(f"≠ {title}" if one.apart else title, 200)

    @property
    def _has_systems(self) -> bool:
        """Whether there are several systems and several models.

        If so, the headings show only the models, below a line with the systems.
        """
        columns = [one.column for one in self._summaries]
        return len({one.system for one in columns}) > 1 and len({one.model for one in columns}) > 1

    def systems(self, width: int) -> list[list[Part]]:
        """Return the line with the systems and the sources of imported results."""

        def system(at: int, size: int) -> Part:
            one = self._summaries[at].column
            source = f" ({Path(one.source).name})" if one.source else ""
            return shortened(one_line(one.system + source, 200), size), "dim"

        return [self.line_parts(width, ("", ""), system)] if self._has_systems else []

    def summaries(self, width: int) -> list[list[Part]]:
        """Return the lines below the rows: means, documented share and progress."""
        outcome, measure = self.outcome, self.measure
        if outcome is None or not self.rows:
            return []
        agents, common = outcome.study.kind == AGENTS, outcome.common.get(measure)
        tasks = common.of if common is not None and not agents else 0
        rows = max((one.means[measure].rows for one in self._summaries), default=0)
        lines: list[tuple[str, Callable[[ColumnSummary, int], str]]] = [
            (f"mean of {rows}", lambda one, size: mean_text(one.means[measure], rows, measure, size, tasks))
        ]
        if common is not None:
            lines.append(
                (f"common {common.items:,}", lambda one, _: figure(common.means.get(one.column.name), measure))
            )
        if not agents:
            lines.append(("documented", lambda one, _: percent(one.documented)))
        if not outcome.finished:
            lines.append(("done", lambda one, _: progress(one.done, one.planned)))
        styles = ["strong", *["dim"] * len(lines)]
        return [
            self.line_parts(width, (title, style), lambda at, size, text=text, style=style: (text(self._summaries[at], size), style))  # type: ignore[misc]
            for (title, text), style in zip(lines, styles, strict=False)
        ]  # fmt: skip


def _names(noun: str) -> TableColumn[RowSummary]:
    return TableColumn(title=noun, cell=lambda row: one_line(row.title, 400), width=10, widest=400, text=True,
                  shorten=shortened, sort=lambda row: row.title)  # fmt: skip


def _looks_like(one: RowSummary, other: RowSummary) -> bool:
    """Whether two rows look the same; unchanged cells are identical objects."""
    return one.best == other.best and all(cell is other.cells.get(name) for name, cell in one.cells.items())
