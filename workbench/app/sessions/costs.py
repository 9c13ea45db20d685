"""The cost of each model in all sessions, by kind of run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from textual import getters
from textual.containers import Container
from textual.widget import Widget

from workbench.app.keys import bindings
from workbench.app.toolkit.columns import TableColumn
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.table import Grouping, VirtualTable
from workbench.app.toolkit.text_widgets import Static
from workbench.app.toolkit.workers import LatestWorker
from workbench.base.text import duration, money, one_line, shortened
from workbench.results.costs import ModelCost, costs_of, own_sessions, total_of

_NOTHING = "No session has model requests yet."


def _figure(
    title: str,
    width: int,
    value: Callable[[ModelCost], float | None],
    shown: Callable[[float], str] = "{:,}".format,
    priority: int = 0,
) -> TableColumn[ModelCost]:
    def cell(row: ModelCost) -> str:
        return "–" if (number := value(row)) is None else shown(number)

    return TableColumn(title=title, cell=cell, width=width, priority=priority, sort=value, descending=True,
                  figure=lambda rows: cell(total_of(rows)))  # fmt: skip


COLUMNS: tuple[TableColumn[ModelCost], ...] = (
    TableColumn(title="model", cell=lambda row: one_line(row.model, 200) or "?", width=16, widest=60, text=True, shorten=shortened,
           sort=lambda row: row.model.casefold()),
    TableColumn(title="runs", cell=lambda row: row.kind or "–", width=10, text=True, priority=4, sort=lambda row: row.kind),
    _figure("requests", 9, lambda row: row.requests),
    _figure("in", 12, lambda row: row.tokens_in, priority=2),
    _figure("out", 11, lambda row: row.tokens_out, priority=2),
    _figure("dollars", 10, lambda row: row.cost_usd, money),
    _figure("time", 9, lambda row: row.seconds, duration, priority=3),
    _figure("failed", 7, lambda row: row.failed or None, priority=5),
    TableColumn(title="not in it", cell=lambda row: (row.missing, "unscored"), width=10, widest=50, text=True, priority=1,
           shorten=shortened, sort=lambda row: row.missing or None, figure=lambda rows: total_of(rows).missing),
)  # fmt: skip


GROUPINGS: tuple[Grouping[ModelCost], ...] = (
    Grouping("model", lambda row: row.model),
    Grouping("runs", lambda row: row.kind or "–"),
)


class CostsTable(VirtualTable[ModelCost]):
    """One row per model and kind of run."""

    def __init__(self) -> None:
        super().__init__(COLUMNS, key=lambda row: (row.model, row.kind), groupings=GROUPINGS, id="costs-table")


class CostsScreen(ModeScreen):
    """The table of costs, and a line with the totals."""

    mode_name = "Costs"
    CSS = "CostsScreen #costs-line { height: auto; max-height: 4; padding: 0 1; color: $text-muted; }"
    BINDINGS = bindings("costs")

    def __init__(self) -> None:
        super().__init__()
        self._loading = LatestWorker(self, "costs")

    def compose_body(self) -> Iterable[Widget]:
        pane = Container(CostsTable(), Static("", id="costs-line"), id="costs", classes="pane")
        yield set_title(pane, "Costs")

    table = getters.query_one(CostsTable)

    async def after_first_paint(self) -> None:
        self.table.focus()
        self.query_one("#costs-line", Static).update("Reading all sessions…")
        self._loading.ask(lambda: costs_of(own_sessions(self.workbench.session_path)), self._show)

    def _show(self, found: tuple[Sequence[ModelCost], dict[Path, str]]) -> None:
        rows, problems = found
        self.table.put(rows)
        total = total_of(rows)
        spent = "no known price" if total.cost_usd is None else money(total.cost_usd)
        texts = [
            f"{total.requests:,} requests · {total.tokens_in + total.tokens_out:,} tokens · {spent}",
            total.missing,
        ]
        texts += [f"not read: {one_line(path.name, 60)}" for path in problems]
        self.query_one("#costs-line", Static).update(" · ".join(filter(None, texts)) if rows or problems else _NOTHING)
        self.set_status(spent if rows else "no costs")

    def on_row_list_narrowed(self, message: RowList.Narrowed) -> None:
        shown, total = self.table.narrow_counts()
        self.retitle("#costs", f"Costs {shown:,} of {total:,}" if self.table.narrowed else "Costs")
