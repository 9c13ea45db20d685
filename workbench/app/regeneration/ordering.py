"""The part of the Regeneration mode that keeps tasks in the wanted order and groups; sorting is done in a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.app.regeneration.arrangement import AS_BUILT, GROUPINGS, Arrangement, arranged, next_order
from workbench.app.toolkit.latest import Latest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.app.regeneration.screen import RegenerationScreen
    from workbench.results.tasks import TaskLine


class Ordering:
    """Keeps the wanted order; it stays when another run is shown.

    Args:
        screen: The view that shows the table.
    """

    def __init__(self, screen: RegenerationScreen) -> None:
        self._screen = screen
        self._sorting = Latest(screen, "regeneration-order")
        self.order, self.reverse, self.grouping = AS_BUILT, False, ""
        self._made: tuple[object, ...] = ()

    @property
    def idle(self) -> bool:
        """Whether nothing is being sorted."""
        return self._sorting.idle

    def next_order(self) -> None:
        """Sort by what comes next."""
        self.order, self.reverse = next_order(self.order), False
        self._ask(from_top=True)

    def turn_round(self) -> None:
        """Sort the other way round."""
        self.reverse = not self.reverse
        self._ask(from_top=True)

    def by(self, order: str) -> None:
        """Sort by something, the other way round where that is so already."""
        self.reverse = self.order == order and not self.reverse
        self.order = order
        self._ask(from_top=True)

    def next_grouping(self) -> None:
        """Put tasks together by what comes next."""
        self.grouping = GROUPINGS[(GROUPINGS.index(self.grouping) + 1) % len(GROUPINGS)]
        self._ask(from_top=True)

    def refresh(self) -> None:
        """Other lines came: put them in order, too."""
        if (self.order, self.reverse, self.grouping) != (AS_BUILT, False, ""):
            self._ask(from_top=False)

    def _ask(self, *, from_top: bool) -> None:
        table = self._screen.table
        lines: Sequence[TaskLine] = tuple(table.lines)
        ks, order, reverse, grouping = table.ks, self.order, self.reverse, self.grouping
        key = (table.revision, len(lines), ks, order, reverse, grouping)
        if key == self._made and not from_top:
            return
        self._made = key

        def done(arrangement: Arrangement) -> None:
            # Lines that came meanwhile ask for themselves.
            if len(table.lines) == len(lines):
                table.arrange_tasks(arrangement, from_top=from_top)
                self._screen.show_arrangement()

        self._sorting.ask(lambda: arranged(lines, ks, order, reverse=reverse, grouping=grouping), done)
