"""Has the figures beside the matrix computed, in threads, each only while it is looked at; later ones take the place of earlier ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.app.study.detail import LEADERBOARD, RANKINGS, Detail
from workbench.app.study.wording import ITEMS
from workbench.app.toolkit.latest import Latest
from workbench.studies.agreement import judge_agreement
from workbench.studies.comparing import Comparison, compare
from workbench.studies.declaration import AGENTS
from workbench.studies.leaderboard import leaderboard
from workbench.studies.ranked import Ranking, not_ranked, rankings, taus

if TYPE_CHECKING:
    from textual.dom import DOMNode

    from workbench.app.study.ranking_list import Taus
    from workbench.studies.outcome import StudyOutcome


class Figures:
    """Remembers of which state of a study each tab shows the figures.

    Attributes:
        pair: The names of the two columns that are to be compared, None for none.

    Args:
        node: Whose message queue brings results back.
    """

    def __init__(self, node: DOMNode) -> None:
        self._comparing, self._ranking = Latest(node, "comparison"), Latest(node, "rankings")
        self._leading = Latest(node, "leaderboard")
        self._ranked: StudyOutcome | None = None
        self._led: StudyOutcome | None = None
        self.pair: tuple[str, str] | None = None
        self._asked: tuple[str, str] | None = None

    def fill(self, detail: Detail, outcome: StudyOutcome) -> None:
        """Have the rankings or the leaderboard computed, where that is the tab that is shown."""
        tab = detail.current
        if tab == RANKINGS and self._ranked is not outcome:
            self._ranked = outcome
            noun = ITEMS[outcome.study.kind == AGENTS][3]

            def ranked() -> tuple[tuple[Ranking, ...], Taus, list[str]]:
                found = rankings(outcome)
                refused = [
                    f"{left.name} and {right.name}: {'; '.join(why)}" for left, right, why in not_ranked(outcome)
                ]
                return found, taus(found), refused

            self._ranking.ask(ranked, lambda every: detail.rankings.put(every[0], every[1], noun, every[2]))
        elif tab == LEADERBOARD and self._led is not outcome:
            self._led = outcome
            if outcome.study.kind == AGENTS:
                found = lambda: (leaderboard(outcome), judge_agreement(outcome))  # noqa: E731
                self._leading.ask(found, lambda both: detail.leaders.show(*both))
            else:
                self._leading.drop_waiting()
                detail.leaders.show((), ())

    def compare_again(
        self, detail: Detail, outcome: StudyOutcome | None, measure: str, shown: Callable[[], None]
    ) -> None:
        """Have the pair compared as the study stands now, and ``shown`` called once that is shown; a study may lack its columns."""
        names = {column.name: column for column in outcome.columns} if outcome is not None else {}
        if outcome is not None and self.pair is not None and not set(self.pair) <= set(names):
            self.pair = None
        if outcome is None or self.pair is None:
            self._asked = None
            detail.comparison.put(None, ITEMS[True])
            return
        pair = self._asked = self.pair
        left, right = (names[one] for one in pair)

        def done(found: Comparison) -> None:
            if self._asked == pair:
                detail.comparison.put(found, ITEMS[outcome.study.kind == AGENTS])
                shown()

        self._comparing.ask(lambda: compare(outcome, left, right, measure), done)
