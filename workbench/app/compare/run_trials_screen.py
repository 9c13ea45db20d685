"""Two document runs side by side: trial by trial, joined by case, agent, model and repeat; enter shows two trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.app.compare.difference_list import DifferenceList, DifferenceTable
from workbench.app.compare.frame import SideBySide
from workbench.app.compare.head import Figure, HeadTable
from workbench.app.compare.trial_tables import TRIALS
from workbench.app.compare.wording import NOTHING, change, of_change
from workbench.app.marks import Marked, Pair
from workbench.app.place import Place
from workbench.comparison import RunsComparison, compare_runs
from workbench.comparison.criteria import difference
from workbench.session.judges import in_words
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader


class RunTrialsScreen(SideBySide):
    """Two document runs, of one session or of two."""

    titles: ClassVar[dict[str, str]] = {"run-trials": "Trials"}

    what, head_lines = "two runs", 5

    def lists_of(self) -> Sequence[DifferenceList[Any]]:
        return [DifferenceTable(TRIALS, id="run-trials-list")]

    def read(self, left: SessionReader, right: SessionReader) -> RunsComparison | str:
        a, b = self.pair.left, self.pair.right
        for name, reader, one in (("A", left, a), ("B", right, b)):
            if reader.run(str(one.key)) is None:
                return f"Run {name} is not in {one_line(reader.path.name, 80)}."
        found = compare_runs((left, str(a.key)), (right, str(b.key)), self.pair.rubric, self.pair.judge)
        return found or "One of the runs is gone."

    def figures_of(self, pane: str, comparison: RunsComparison) -> str:
        return f"{comparison.common:,} in both · only A {comparison.only_left:,} · only B {comparison.only_right:,}"

    def head_of(self, comparison: RunsComparison, width: int) -> HeadTable:
        means, (left, right) = comparison.means, (comparison.left, comparison.right)
        gap, (wins, ties, losses), (a, b) = difference(*means), comparison.tally, (left.scale, right.scale)
        by = f"{a[0]}, {in_words(a[1])}"
        if a != b:
            by = f"{a[0]}; judges differ: A {in_words(a[1])}, B {in_words(b[1])}: not comparable"
        said = [
            f"B wins {wins:,}, ties {ties:,}, loses {losses:,} by means of repeats",
            f"by {by}" if a[0] else "no scores",
        ]
        if comparison.ignored:
            said.append(f"joined whatever the {' and the '.join(comparison.ignored)}")
        mean = [NOTHING if one is None else f"{one:.1f}" for one in means]
        return HeadTable(
            names=(self._name_of(left, right, self.pair.left), self._name_of(right, left, self.pair.right)),
            figures=(
                Figure(title="trials", of=(f"{len(left.trials):,}", f"{len(right.trials):,}", ""), width=8),
                Figure(title=f"mean over {len(comparison.compared):,}", width=14, style="score",
                       of=(mean[0], mean[1], (change(gap, 1) or NOTHING, of_change(gap) or "strong"))),
            ),
            note=one_line(" · ".join(said), 400),
        )  # fmt: skip

    @staticmethod
    def _name_of(side: Any, other: Any, marked: Marked) -> str:
        session = [side.session] if side.session != other.session else []
        return one_line(" · ".join([marked.title or side.run.name or side.run.id, *session, side.run.id]), 200)

    def target(self) -> tuple[Marked, Place | None] | None:
        pair = self.query_one(DifferenceTable).selected
        if pair is None:
            return None
        side = self.pair.left if pair.left is not None else self.pair.right
        return Marked(side.session, "trial", pair.either.trial.id), None

    def action_open_item(self) -> None:
        found: RunsComparison | None = self.comparison
        pair = self.query_one(DifferenceTable).selected
        if found is None or pair is None or pair.left is None or pair.right is None:
            super().action_open_item()
            return
        a = Marked(self.pair.left.session, "trial", pair.left.trial.id)
        b = Marked(self.pair.right.session, "trial", pair.right.trial.id)
        self.workbench.show_pair(Pair(a, b, *found.left.scale))
