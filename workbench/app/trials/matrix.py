"""Cases against agents: the mean of each pair's trials, with a cursor over the cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from workbench.app.keys import bind
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.virtual_view import Part
from workbench.app.trials.table import NOTHING, own_cell, points, unit_of
from workbench.glyphs import STATES
from workbench.results.trials import Cell, Matrix, TrialLine, matrix_of
from workbench.text import shortened

_CELL = 12
"""Cells of the screen for one of the matrix: fewer, down to what they say, where all columns have room then."""


class MatrixView(RowList):
    """A row per case under the agents and, where one has several, their models; left and right go from agent to agent."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("trials.matrix-left", "column(-1)", "Previous agent", show=False),
        bind("trials.matrix-right", "column(1)", "Next agent", show=False),
        bind("trials.matrix-open", "choose", "show these"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.matrix = Matrix((), (), {})
        self._column = 0
        self._least = _CELL
        self._first = 0

    def put(self, lines: Sequence[TrialLine]) -> None:
        self.matrix = matrix_of(lines)
        self._least = max((len(self._cell(cell)[0]) for cell in self.matrix.cells.values()), default=_CELL)
        self._column = min(self._column, max(0, len(self.matrix.columns) - 1))
        self.rows_changed(cursor=max(self._headings, self.cursor))

    @property
    def _headings(self) -> int:
        return 2 if self.matrix.several_models else 1

    @property
    def selected(self) -> tuple[str, tuple[str, str]] | None:
        """Case, and agent with model, of the cell under the cursor."""
        at = self.cursor - self._headings
        if not (0 <= at < len(self.matrix.cases) and self.matrix.columns):
            return None
        return self.matrix.cases[at], self.matrix.columns[self._column]

    def action_column(self, step: int) -> None:
        self._column = min(max(self._column + step, 0), max(0, len(self.matrix.columns) - 1))
        self.refresh()

    # -- painting

    def row_count(self) -> int:
        return len(self.matrix.cases) + self._headings if self.matrix.cases else 0

    def selectable(self, index: int) -> bool:
        return index >= self._headings

    def words_of(self, index: int) -> str:
        return self.matrix.cases[index - self._headings]

    def always_shown(self) -> Sequence[int]:
        return range(self._headings)

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        return list(self.parts_of(self.shown_row(y), width)), ""

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        longest = max(map(len, self.matrix.cases), default=8)
        names = max(8, min(longest, width // 3))
        columns = self.matrix.columns
        cell = min(_CELL, max(self._least, (width - names) // max(1, len(columns)) - 1))
        if len(columns) * (cell + 1) > width - names:  # then a name may be shortened, too
            names = max(8, min(names, width - len(columns) * (cell + 1)))
        room = max(1, (width - names) // (cell + 1))
        if self._column < self._first or self._column >= self._first + room:
            self._first = max(0, min(self._column, len(columns) - room))
        shown = columns[self._first : self._first + room]
        if index < self._headings:
            rest = len(columns) - self._first - len(shown)
            head: list[Part] = [(fit("", names), "")]
            head += [(" " + fit(shortened(one[index], cell), cell, right=True), "dim") for one in shown]
            return [*head, (f" +{rest}" if rest > 0 and not index else "", "dim")]
        case = self.matrix.cases[index - self._headings]
        parts: list[Part] = [(fit(shortened(case, names), names), "")]
        for at, column in enumerate(shown, self._first):
            text, style = self._cell(self.matrix.cells.get((case, column)))
            if index == self.cursor and at == self._column:
                style = "cursor" if self.has_focus else "cursor-blurred"
            parts += [(" ", ""), (fit(text, cell, right=True), style)]
        return parts

    def _cell(self, cell: Cell | None) -> Part:
        if cell is None:
            return NOTHING, "dim"
        states = Counter(line.state for line in cell.lines)
        going = states["running"] + states["queued"]
        total = len(cell.lines)
        if going:
            return f"{STATES['running']} {total - going}/{total}", "running"
        if cell.spread.mean is None:
            state = max(states, key=lambda one: states[one])
            return f"{STATES.get(state, '?')} {state}", "failed" if state == "failed" else "unscored"
        # As many as are in the mean: those without a score are not.
        spread = cell.spread
        several = f" ×{spread.scored}" if spread.scored > 1 or spread.left_out else ""
        several += f"/{spread.trials}" if spread.left_out else ""
        shown = own_cell(spread.own) or points(spread.mean) + unit_of(spread)
        return f"{shown}{several}", ""
