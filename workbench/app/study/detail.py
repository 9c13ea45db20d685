"""What stands beside the matrix: the cell's items, a comparison, rankings, the leaderboard, the studies of the session; one at a time."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget

from workbench.app.study.cell_items import CellItems
from workbench.app.study.comparison_list import ComparisonList
from workbench.app.study.leader_list import LeaderList
from workbench.app.study.ranking_list import RankingList
from workbench.app.study.study_list import StudyList
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.tab_line import TabLine

CELL, COMPARISON, RANKINGS, LEADERBOARD, STUDIES = TABS = ("Cell", "Comparison", "Rankings", "Leaderboard", "Studies")


class Detail(Container):
    """A line of tabs over the list that is chosen."""

    def compose(self) -> ComposeResult:
        """Compose the tabs and all lists, of which one is shown."""
        yield TabLine(TABS, id="study-tabs")
        self.cell_items = CellItems(id="study-cell")
        self.comparison = ComparisonList(id="study-comparison")
        self.rankings = RankingList(id="study-rankings")
        self.leaders = LeaderList(id="study-leaders")
        self.studies = StudyList(id="study-list")
        for name, one in self._lists().items():
            one.set_class(name != CELL, "-off", update=False)
            yield one

    def _lists(self) -> dict[str, RowList]:
        lists = (self.cell_items, self.comparison, self.rankings, self.leaders, self.studies)
        return dict(zip(TABS, lists, strict=True))

    @property
    def current(self) -> str:
        """The tab that is chosen."""
        return self.query_one(TabLine).current

    @property
    def shown(self) -> RowList:
        """The list that is shown."""
        return self._lists()[self.current]

    def turn(self, step: int) -> str:
        """Go to the next (1) or previous (-1) tab; returns which."""
        return self.choose(self.query_one(TabLine).beside(step))

    def choose(self, name: str) -> str:
        """Show a tab; the focus moves along where it is in here."""
        inside = isinstance(self.screen.focused, Widget) and self in self.screen.focused.ancestors
        self.query_one(TabLine).current = name
        for known, one in self._lists().items():
            one.set_class(known != name, "-off")
        if inside:
            self.shown.focus()
        return name

    def mark_empty(self, names: frozenset[str]) -> None:
        """Show these tabs as having nothing."""
        self.query_one(TabLine).empty = names
