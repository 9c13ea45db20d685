"""Cases against agents: the mean of each pair's trials, with a cursor over the cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from workbench.app.keys import bindings
from workbench.app.toolkit.cell_table import CellTable, Grid
from workbench.app.toolkit.columns import Column
from workbench.app.toolkit.virtual_view import Part
from workbench.app.trials.table import NOTHING, own_cell, points, unit_of
from workbench.glyphs import STATES
from workbench.results.trials import Cell, Matrix, TrialLine, matrix_of
from workbench.text import shortened

_CELL = 12
"""Cells of the screen for one of the matrix: fewer, down to what they say, where all columns have room then."""


class MatrixView(CellTable[str]):
    """A row per case under the agents and, where one has several, their models; left and right go from agent to agent."""

    BINDINGS = bindings("trials/matrix")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(Grid(_CASES, ()), key=str, id=id)
        self.matrix = Matrix((), (), {})

    def put_trials(self, lines: Sequence[TrialLine]) -> None:
        self.matrix = matrix_of(lines)
        least = max((len(_cell(cell)[0]) for cell in self.matrix.cells.values()), default=_CELL)
        columns = [self._column(column) for column in self.matrix.columns]
        heads = max((len(name) for column in self.matrix.columns for name in column), default=0)
        self.show_columns(
            Grid(
                _CASES,
                columns,
                least=least,
                usual=max(_CELL, least),
                whole=max(_CELL, least),
                heads=heads,
                least_name=8,
            )
        )
        self.put(self.matrix.cases)

    def _column(self, column: tuple[str, str]) -> Column[str]:
        return Column(title=" · ".join(column), cell=lambda case: _cell(self.matrix.cells.get((case, column))), width=0)

    @property
    def chosen(self) -> tuple[str, tuple[str, str]] | None:
        """Case, and agent with model, of the cell under the cursor."""
        return (self.selected, self.matrix.columns[self.at]) if self.selected and self.matrix.columns else None

    def head_of(self, at: int, width: int) -> Part:
        agent, model = self.matrix.columns[at] if at >= 0 else ("", "")
        return shortened(model if self.matrix.several_models else agent, width), "dim"

    def agents(self, width: int) -> list[list[Part]]:
        """Return the line with the agents, where the heading has their models."""
        if not self.matrix.several_models:
            return []
        return [self.line_parts(width, ("", ""), lambda at, size: (shortened(self.matrix.columns[at][0], size), "dim"))]


_CASES: Column[str] = Column(title="", cell=str, width=8, widest=200, text=True, shorten=shortened)


def _cell(cell: Cell | None) -> Part:
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
