"""Two runs, agents or models side by side: total, tiers and criteria, then trial by trial; enter shows two trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.app.compare.difference_list import DifferenceList, DifferenceTable
from workbench.app.compare.frame import SideBySide
from workbench.app.compare.head import Figure, HeadTable
from workbench.app.compare.trial_tables import PAIRED_POINTS, TRIALS
from workbench.app.compare.wording import NOTHING, change, of_change
from workbench.app.location import Place
from workbench.app.marks import Marked, Pair
from workbench.comparison import ChosenTrials, TrialsComparison, TrialsSide, compare_trials
from workbench.comparison.criteria import difference
from workbench.session.judges import in_words
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader


class RunTrialsScreen(SideBySide):
    """The trials of two runs, agents or models, of one session or of two."""

    titles: ClassVar[dict[str, str]] = {"paired-points": "Points", "run-trials": "Trials"}

    what, head_lines = "two sets of trials", 5

    def lists_of(self) -> Sequence[DifferenceList[Any]]:
        return [DifferenceTable(PAIRED_POINTS), DifferenceTable(TRIALS, id="run-trials-list")]

    def read(self, left: SessionReader, right: SessionReader) -> TrialsComparison | str:
        sides = []
        for name, reader, one in (("A", left, self.pair.left), ("B", right, self.pair.right)):
            side = _chosen(reader, one)
            if side is None:
                return f"{one.title or f'Run {name}'} is not in {one_line(reader.path.name, 80)}."
            sides.append(side)
        return compare_trials(sides[0], sides[1], self.pair.rubric, self.pair.judge)

    def figures_of(self, pane: str, comparison: TrialsComparison) -> str:
        if pane == "paired-points":
            criteria = [one for one in comparison.points if one.title]
            return f"{sum(one.differs for one in criteria)} of {len(criteria)} criteria differ"
        return f"{comparison.common:,} in both · only A {comparison.only_left:,} · only B {comparison.only_right:,}"

    def head_of(self, comparison: TrialsComparison, width: int) -> HeadTable:
        means, (left, right) = comparison.means, (comparison.left, comparison.right)
        gap, (wins, ties, losses), (a, b) = difference(*means), comparison.tally, (left.scale, right.scale)
        by = f"{a[0]}, {in_words(a[1])}"
        if a != b:
            by = f"{a[0]}; judges differ: A {in_words(a[1])}, B {in_words(b[1])}: not comparable"
        said = [
            f"B wins {wins:,}, ties {ties:,}, loses {losses:,} by means of repeats",
            f"by {by}" if a[0] else "no scores",
        ]
        if comparison.conditions:
            said.append(
                f"differ in {'; '.join(f'{what} {left} | {right}' for what, left, right in comparison.conditions)}"
            )
        if comparison.ignored:
            said.append(f"joined whatever the {' and the '.join(comparison.ignored)}")
        mean = [NOTHING if one is None else f"{one:.1f}" for one in means]
        return HeadTable(
            names=(_name_of(left, right), _name_of(right, left)),
            figures=(
                Figure(title="trials", of=(f"{len(left.trials):,}", f"{len(right.trials):,}", ""), width=8),
                Figure(title=f"mean over {len(comparison.compared):,}", width=14, style="score",
                       of=(mean[0], mean[1], (change(gap, 1) or NOTHING, of_change(gap) or "strong"))),
            ),
            note=one_line(" · ".join(said), 400),
        )  # fmt: skip

    def target(self) -> tuple[Marked, Place | None] | None:
        pair = self.query_one("#run-trials-list", DifferenceTable).selected
        if pair is None:
            return None
        side = self.pair.left if pair.left is not None else self.pair.right
        return Marked(side.session, "trial", pair.either.trial.id), None

    def action_open_item(self) -> None:
        found: TrialsComparison | None = self.comparison
        pair = self.query_one("#run-trials-list", DifferenceTable).selected
        if found is None or pair is None or pair.left is None or pair.right is None:
            super().action_open_item()
            return
        a = Marked(self.pair.left.session, "trial", pair.left.trial.id)
        b = Marked(self.pair.right.session, "trial", pair.right.trial.id)
        self.workbench.show_pair(Pair(a, b, *found.left.scale))


def _chosen(reader: SessionReader, one: Marked) -> ChosenTrials | None:
    if one.kind == "run":
        return ChosenTrials.of_run(reader, str(one.key))
    rows = [row for row in reader.trials() if row.id in one.key]
    return ChosenTrials.of(reader, rows, one.title) if rows else None


def _name_of(side: TrialsSide, other: TrialsSide) -> str:
    session = [side.session] if side.session != other.session else []
    runs = f"run {side.runs[0]}" if len(side.runs) == 1 else f"{len(side.runs):,} runs"
    return one_line(" · ".join([side.title, *session, *([] if side.title in side.runs else [runs])]), 200)
