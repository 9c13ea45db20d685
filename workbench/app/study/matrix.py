"""The matrix of a study: rows under columns, a cursor over the cells, marks on columns, means that stay in sight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message

from workbench.app.keys import bind
from workbench.app.study.matrix_rows import Layout, MatrixRow, Order, layout_of, longest_of, matrix_rows
from workbench.app.study.wording import cell_text, figure, mean_text, progress, share
from workbench.app.toolkit.row_list import HeadedList, fit
from workbench.app.toolkit.virtual_view import Part, VirtualView
from workbench.studies.cells import Cell
from workbench.studies.declaration import AGENTS
from workbench.studies.grouping import Group
from workbench.studies.outcome import ColumnSummary, StudyOutcome
from workbench.text import one_line, shortened

_FEW = 8
"""So many rows that changed are painted one by one."""


class StudyMatrix(HeadedList):
    """Row 0 is the heading; below it the rows of the study.

    Attributes:
        outcome: What is shown, None for nothing.
        measure: By which measure.
        order: In which order.
        marked: Names of the columns that are marked, the first is A.
    """

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("study.open", "choose", "open"),
        bind("study.mark", "mark", "mark column"),
        bind("study.matrix-left", "column(-1)", "Previous column", show=False),
        bind("study.matrix-right", "column(1)", "Next column", show=False),
    ]

    class Arranged(Message):
        """Rows stand in another order, or another column is marked."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.outcome: StudyOutcome | None = None
        self.measure = ""
        self.order = Order()
        self.marked: list[str] = []
        self._column = 0
        self._first = 0
        self._longest = self._heads = 0
        self._rows: list[MatrixRow] = []
        self._groups: tuple[Group, ...] | None = None
        self._folded: set[str] = set()

    # -- what is in it

    def put(self, outcome: StudyOutcome | None, measure: str) -> None:
        """Show a study; cursor, order and marks stay where they still mean something."""
        before = self._rows[self.cursor - 1] if 0 < self.cursor <= len(self._rows) else None
        shown, how = self._rows, self._how()
        self.outcome, self.measure = outcome, measure
        names = {column.name for column in outcome.columns} if outcome is not None else set()
        self.marked = [name for name in self.marked if name in names]
        self._column = min(self._column, max(0, len(names) - 1))
        # Three more for the letter of a mark and the arrow of an order.
        self._heads = longest_of(map(self._heading, outcome.by_column)) + 3 if outcome is not None else 0
        groups = self._groups
        self._rows = matrix_rows(outcome, groups, self._folded, self.order, measure) if outcome is not None else []
        self._longest = longest_of(f"{one.indent}{one.title}" for one in self._rows)
        changed = [at for at, (old, new) in enumerate(zip(shown, self._rows, strict=False), 1) if not new.looks_as(old)]
        stay = all(new.stands_for(old) for old, new in zip(shown, self._rows, strict=False))
        if how == self._how() and stay and not self.narrowed and len(changed) <= _FEW and self.cursor > 0:
            self._words = None  # what `/` looks in has the states of cells
            for at in changed:  # as where a study is followed: one of its rows is being executed
                self.refresh_line(at)
            return
        self.rows_changed(cursor=_place(self._rows, before))
        # No higher than its rows, so that the means stand right below them.
        self.styles.max_height = max(1, self.row_count())

    def _how(self) -> tuple[object, ...]:
        columns = self.outcome.columns if self.outcome is not None else ()
        return len(self._rows), columns, self.measure, tuple(self.marked), self._longest, self._heads, self.order

    def group(self, groups: tuple[Group, ...] | None) -> None:
        """Show the rows in these groups, None for none."""
        self._groups = groups
        self.put(self.outcome, self.measure)

    def fold(self) -> None:
        """Fold the group under the cursor, or unfold it."""
        at = self.cursor - 1
        if not 0 <= at < len(self._rows):
            return
        heading = next((one for one in reversed(self._rows[: at + 1]) if one.is_group), None)
        if heading is not None:
            self._folded ^= {heading.title}
            self.cursor = self._rows.index(heading) + 1
            self.put(self.outcome, self.measure)
            self.post_message(self.Moved(self, self.cursor))

    @property
    def on_group(self) -> bool:
        at = self.cursor - 1
        return 0 <= at < len(self._rows) and self._rows[at].is_group

    @property
    def grouped(self) -> bool:
        return self._groups is not None

    @property
    def row(self) -> str:
        """The row of the study under the cursor, "" for none and on a group."""
        at = self.cursor - 1
        return self._rows[at].row if 0 <= at < len(self._rows) else ""

    @property
    def column(self) -> ColumnSummary | None:
        columns = self.outcome.by_column if self.outcome is not None else ()
        return columns[self._column] if self._column < len(columns) else None

    @property
    def part(self) -> str:
        """What of its row the cursor stands on, where rows are in groups: a file, a stratum; "" for all of it."""
        at = self.cursor - 1
        if not 0 <= at < len(self._rows):
            return ""
        return self._rows[at].part

    @property
    def selected(self) -> Cell | None:
        if self.outcome is None or not self.row or self.column is None:
            return None
        return self._rows[self.cursor - 1].cells[self.column.column.name]

    def sort(self, order: Order) -> None:
        """Put the rows into another order and go to the first."""
        self.order = order
        self.cursor = -1
        self.put(self.outcome, self.measure)
        self.post_message(self.Arranged())
        self.post_message(self.Moved(self, self.cursor))

    def go_to(self, row: str = "", column: str = "") -> None:
        """Put the cursor on a row or a column, by its name."""
        if self.outcome is None:
            return
        places = [at for at, one in enumerate(self.outcome.columns) if one.name == column]
        self._column = places[0] if places else self._column
        rows = [at for at, one in enumerate(self._rows, 1) if one.row == row and not one.is_group]
        if rows:
            self.set_cursor(rows[0])
        self.refresh()
        self.post_message(self.Moved(self, self.cursor))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in {"choose", "mark", "column"}:
            return bool(self._rows)
        return super().check_action(action, parameters)

    def action_column(self, step: int) -> None:
        if self.outcome is not None:
            self._to_column(self._column + step)

    def _to_column(self, at: int) -> None:
        assert self.outcome is not None
        at = min(max(at, 0), max(0, len(self.outcome.columns) - 1))
        if at != self._column:
            first, self._column = self._first, at
            if self.divided(self.text_width).first != first:
                self.refresh()
            else:
                self.refresh_line(self.scroll_offset.y)  # the heading
                self.refresh_line(self.line_of(self.cursor))
            self.post_message(self.Moved(self, self.cursor))

    def action_mark(self) -> None:
        if self.column is None:
            return
        name = self.column.column.name
        if name in self.marked:
            self.marked = [one for one in self.marked if one != name]
        else:
            self.marked = [*self.marked[-1:], name]
        self.refresh()
        self.post_message(self.Arranged())

    # -- painting

    def row_count(self) -> int:
        return len(self._rows) + 1 if self._rows else 0

    def words_of(self, index: int) -> str:
        one = self._rows[index - 1]
        states = {cell.state for cell in one.cells.values()} - {"done"}
        return " ".join((one.title, one.row, *sorted(states)))

    def divided(self, width: int) -> Layout:
        assert self.outcome is not None
        found = layout_of(self._longest, self._heads, len(self.outcome.columns), width, self._column, self._first)
        self._first = found.first
        return found

    def heading_parts(self, width: int) -> Sequence[Part]:
        if self.outcome is None:
            return []
        outcome, layout = self.outcome, self.divided(width)
        noun = outcome.study.row_noun + (f" ‹{layout.first}" if layout.first else "")
        parts: list[Part] = [(fit(noun, layout.names), "strong" if self.order.by == "name" else "dim")]
        for at in range(layout.first, layout.first + layout.shown):
            one = outcome.by_column[at]
            letter = "AB"[self.marked.index(one.column.name)] if one.column.name in self.marked else ""
            sorts = self.order.by == "column" and self.order.column == one.column.name
            arrow = ("↑" if self.order.reverse else "↓") if sorts else ""
            room = layout.width - len(arrow) - (2 if letter else 0)
            title = f"{letter + ' ' if letter else ''}{shortened(self._heading(one), room)}{arrow}"
            style = "marked" if letter else "strong" if sorts or at == self._column else "dim"
            parts.append((" " + fit(title, layout.width, right=True), style))
        left_out = len(outcome.columns) - layout.first - layout.shown
        return [*parts, (f" +{left_out}" if left_out else "", "dim")]

    def _heading(self, one: ColumnSummary) -> str:
        title = (one.column.model or "default model") if self.has_systems else one.title
        return one_line(f"≠ {title}" if one.apart else title, 200)

    @property
    def has_systems(self) -> bool:
        """Whether the heading has the models alone, under a line with the systems: each of several has several."""
        columns = self.outcome.columns if self.outcome is not None else ()
        return len({one.system for one in columns}) > 1 and len({one.model for one in columns}) > 1

    def system_parts(self, width: int) -> list[Part]:
        """Return the line with the systems, and whose results a column has."""
        if self.outcome is None:
            return []
        layout = self.divided(width)
        parts: list[Part] = [(fit("", layout.names), "")]
        for one in self.outcome.columns[layout.first : layout.first + layout.shown]:
            source = f" ({Path(one.source).name})" if one.source else ""
            name = shortened(one_line(one.system + source, 200), layout.width)
            parts.append((" " + fit(name, layout.width, right=True), "dim"))
        return parts

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        if y == self.scroll_offset.y:
            return list(self.heading_parts(width)), ""
        return list(self.parts_of(self.shown_row(y), width)), ""

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        if self.outcome is None or not 0 < index <= len(self._rows):
            return self.heading_parts(width)
        outcome, layout, row = self.outcome, self.divided(width), self._rows[index - 1]
        sign = ("▸ " if row.title in self._folded else "▾ ") if row.is_group else row.indent
        name = sign + shortened(one_line(row.title, 400), layout.names - 1 - len(sign))
        style = "group" if row.is_group else "strong" if index == self.cursor else ""
        parts: list[Part] = [(fit(name, layout.names), style)]
        best = row.best.get(self.measure, ())
        for at in range(layout.first, layout.first + layout.shown):
            column = outcome.columns[at]
            if row.is_group:
                mean = row.means[column.name][self.measure]
                text, style = mean_text(mean, mean.rows, self.measure, layout.width), "group"
            else:
                text, style = cell_text(row.cells[column.name], self.measure, layout.width)
            if column.name in best and not style and len(best) < len(outcome.columns):
                style = "score"
            if index == self.cursor and at == self._column:
                style = "cursor" if self.has_focus else "cursor-blurred"
            parts += [(" ", ""), (fit(text, layout.width, right=True), style)]
        return parts

    def summary_parts(self, line: int, width: int) -> list[Part]:
        """Return a line of what stands below the rows: the means, what is documented, how far columns are."""
        if self.outcome is None:
            return []
        outcome, layout = self.outcome, self.divided(width)
        title, text = self._summaries()[line]
        parts: list[Part] = [(fit(title, layout.names), "dim" if line else "strong")]
        shown = outcome.by_column[layout.first : layout.first + layout.shown]
        for one in shown:
            parts.append((" " + fit(text(one, layout.width), layout.width, right=True), "dim" if line else "strong"))
        return parts

    def summary_count(self) -> int:
        """Return how many such lines there are."""
        return len(self._summaries()) if self.outcome is not None and self._rows else 0

    def _summaries(self) -> list[tuple[str, Callable[[ColumnSummary, int], str]]]:
        assert self.outcome is not None
        outcome = self.outcome
        common = outcome.common.get(self.measure)
        tasks = common.of if common is not None and outcome.study.kind != AGENTS else 0
        rows = max((one.means[self.measure].rows for one in outcome.by_column), default=0)
        lines: list[tuple[str, Callable[[ColumnSummary, int], str]]] = [
            (f"mean of {rows}", lambda one, width: mean_text(one.means[self.measure], rows, self.measure, width, tasks))
        ]
        if common is not None:
            lines.append(
                (f"common {common.items:,}", lambda one, width: figure(common.means.get(one.column.name), self.measure))
            )
        if outcome.study.kind != AGENTS:
            lines.append(("documented", lambda one, width: share(one.documented)))
        if not outcome.finished:
            lines.append(("done", lambda one, width: progress(one.done, one.planned)))
        return lines

    def on_click(self, event: events.Click) -> None:
        if self.outcome is None or not self._rows:
            return
        at = self.divided(self.text_width).column_at(event.x)
        if event.y == 0:
            event.prevent_default()
            if at is None:
                self.sort(self.order.clicked("name"))
            else:
                self._to_column(at)
                self.sort(self.order.clicked("column", self.outcome.columns[at].name))
        elif at is not None:
            self._to_column(at)


def _place(rows: Sequence[MatrixRow], before: MatrixRow | None) -> int:
    """Return where the cursor stands now: on the same row of the same group, else on the same row, else on the first."""
    if before is None:
        return 1
    same = [at for at, one in enumerate(rows, 1) if (one.is_group, one.row) == (before.is_group, before.row)]
    exact = [at for at in same if (rows[at - 1].group, rows[at - 1].title) == (before.group, before.title)]
    return (exact or [at for at in same if not before.is_group] or [1])[0]


class SystemLine(VirtualView, can_focus=False):
    """The line above the matrix, in its columns: the systems, where the heading has room for the models alone."""

    ALLOW_SELECT = False

    def __init__(self, matrix: StudyMatrix, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._matrix = matrix
        self.display = False

    def again(self) -> None:
        """Paint again, or take no room."""
        self.display = self._matrix.has_systems
        self.set_size(1)
        self.refresh()

    def row_count(self) -> int:
        return 1

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        return self._matrix.system_parts(width), ""


class SummaryLines(VirtualView, can_focus=False):
    """The lines below the matrix, in its columns: they stay in sight however many rows there are."""

    ALLOW_SELECT = False

    def __init__(self, matrix: StudyMatrix, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._matrix = matrix

    def again(self) -> None:
        """Paint again, in as many lines as there are."""
        count = self.row_count()
        self.styles.height = count
        self.display = count > 0
        self.set_size(count)
        self.refresh()

    def row_count(self) -> int:
        return self._matrix.summary_count()

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        return self._matrix.summary_parts(y, width), ""
