"""Which criteria cost the trials that are shown most: enter shows those that lost by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from workbench.app.toolkit.headed_list import HeadedList
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.virtual_view import Part
from workbench.app.trials.lines import TrialLine
from workbench.rubric.losses import Loss, losses_among
from workbench.session.totals import comparable
from workbench.text import shortened


class LossList(HeadedList):
    """Row 0 is the heading; below it a row per criterion, the dearest first."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "choose", "show these", id="trials.loss-open")]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.losses: list[Loss] = []

    def put(self, lines: Sequence[TrialLine], places: Sequence[int]) -> None:
        """Show what some lines lost; forks, those without a score and those that lack tiers of others count nowhere."""
        own = [lines[place] for place in places if not lines[place].parent]
        counted = comparable([line.total for line in own])
        tiers = counted[0].tiers if counted else ()
        self.losses = losses_among([line.lost for line in own if line.points is not None and line.total.tiers == tiers])
        self.rows_changed(cursor=max(1, self.cursor))

    @property
    def selected(self) -> str | None:
        """The criterion under the cursor."""
        at = self.cursor - 1
        return self.losses[at].title if 0 <= at < len(self.losses) else None

    def row_count(self) -> int:
        """Return the number of rows."""
        return len(self.losses) + 1

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return the names of the columns."""
        return [(f"{fit(' criterion', max(4, width - 17))}{'mean':>8}{'trials':>8} ", "group")]

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return a criterion, its mean loss and in how many trials."""
        room = max(4, width - 17)
        loss = self.losses[index - 1]
        name = fit(f" {shortened(loss.title, room - 1)}", room)
        return [(name, ""), (f"{-loss.mean:8.2f}".replace("-", "−"), "poor"), (f"{loss.trials:8,} ", "")]
