"""The head of the comparison: what each trial is, what it took, what it scored, and the differences."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len

from workbench.app.compare.wording import change, figure, names_of, of_change, state_of
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import Comparison, Effort, Side
from workbench.text import shortened

_STATES = {"done": "passed", "failed": "failed", "running": "running", "unscored": "unscored", "interrupted": "paused"}
_LEAST_NAME, _STATE = 20, 14


@dataclass(frozen=True, slots=True)
class _Column:
    """A figure; of those that have no room the highest ``rank`` goes first."""

    name: str
    title: str
    width: int
    digits: int
    rank: int


_COLUMNS = (
    _Column("steps", "steps", 6, 0, 2),
    _Column("tokens", "tokens", 10, 0, 4),
    _Column("seconds", "s", 8, 1, 3),
    _Column("cost", "$", 9, 4, 1),
    _Column("score", "score", 8, 1, 0),
)


class Summary(RowList, can_focus=False):
    """A line of titles, one for each trial, one for the differences; or a sentence where nothing can be compared."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.comparison: Comparison | None = None
        self.sentence = ""

    def show(self, comparison: Comparison | None, sentence: str = "") -> None:
        """Show a comparison, or say why there is none."""
        self.comparison, self.sentence = comparison, sentence
        self.rows_changed()

    def row_count(self) -> int:
        """Return the number of lines."""
        return 4

    def selectable(self, index: int) -> bool:
        """There is no cursor."""
        return False

    def parts_of(self, index: int, width: int) -> list[Part]:
        """Return a line."""
        if self.comparison is None:
            return [(f" {self.sentence}", "dim")] if not index else []
        width -= 1
        columns, state = _fitting(width)
        room = width - 3 - state - sum(column.width for column in columns)
        shared, *own = names_of(self.comparison.left, self.comparison.right, room - 1)
        names = min(max(map(cell_len, (shared, *own))) + 3, room)
        efforts = {effort.name: effort for effort in self.comparison.efforts}
        if index == 0:
            cells = "".join(fit(column.title, column.width, right=True) for column in columns)
            # What both share says more than the title of the state does.
            title = shortened(shared, names + state - 1) if shared else " " * names + "state"[:state]
            return [(f"    {fit(title, names + state)}{cells}", "dim")]
        if index == 3:
            parts: list[Part] = [(" " + fit("   B − A", 3 + names + state), "dim")]
            for column in columns:
                value = efforts[column.name].difference
                style = f"{of_change(value)}" if column.name == "score" else "strong"
                parts.append((fit(change(value, column.digits), column.width, right=True), style))
            return parts
        key, style = (("A", "only-a"), ("B", "only-b"))[index - 1]
        side = (self.comparison.left, self.comparison.right)[index - 1]
        parts = [(f" {key}  ", style), (fit(shortened(own[index - 1], names - 1), names), "strong")]
        if state:
            parts.append((fit(state_of(side), state), _STATES.get(side.state, "dim")))
        for column in columns:
            shown = _cell(efforts[column.name], side, index, column.digits)
            parts.append((fit(shown, column.width, right=True), "score" if column.name == "score" else ""))
        return parts


def _cell(effort: Effort, side: Side, index: int, digits: int) -> str:
    value = effort.left if index == 1 else effort.right
    shown = figure(value, digits)
    # Points of a card with unscored tiers are out of less than 100.
    return (
        f"{shown}/{side.out_of:.0f}" if effort.name == "score" and value is not None and side.out_of != 100 else shown
    )


def _fitting(width: int) -> tuple[list[_Column], int]:
    """Return the columns that have room, and the width of the state, 0 where it has none."""
    columns, state = list(_COLUMNS), _STATE
    while 3 + _LEAST_NAME + state + sum(column.width for column in columns) > width:
        worst = max(columns, key=lambda column: column.rank)
        if worst.rank <= 1 and state:
            state = 0
        elif not worst.rank:
            break
        else:
            columns.remove(worst)
    return columns, state
