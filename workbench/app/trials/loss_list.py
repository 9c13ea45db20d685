"""Which criteria cost the trials that are shown most: enter shows those that lost by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from workbench.app.keys import bind
from workbench.app.toolkit.columns import Column
from workbench.app.toolkit.table import Table
from workbench.app.trials.lines import TrialLine
from workbench.rubric.losses import Loss, losses_among
from workbench.session.totals import comparable
from workbench.text import shortened

COLUMNS: tuple[Column[Loss], ...] = (
    Column(title="criterion", cell=lambda loss: loss.title, width=12, widest=60, text=True, shorten=shortened,
           sort=lambda loss: loss.title.casefold()),
    Column(title="mean", cell=lambda loss: (f"−{loss.mean:.2f}", "poor"), width=7, sort=lambda loss: loss.mean, descending=True),
    Column(title="trials", cell=lambda loss: f"{loss.trials:,}", width=7, sort=lambda loss: loss.trials, descending=True),
)  # fmt: skip


class LossList(Table[Loss]):
    """A row a criterion, the dearest first."""

    LEAD = 1
    BINDINGS: ClassVar[list[BindingType]] = [bind("trials.loss-open", "choose", "show these")]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(COLUMNS, key=lambda loss: loss.title, id=id)

    def put_trials(self, lines: Sequence[TrialLine]) -> None:
        """Show what some trials lost; forks, those without a score and those that lack tiers of others count nowhere."""
        own = [line for line in lines if not line.parent]
        counted = comparable([line.total for line in own])
        tiers = counted[0].tiers if counted else ()
        self.put(losses_among([line.lost for line in own if line.points is not None and line.total.tiers == tiers]))
