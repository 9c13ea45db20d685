"""Two runs, agents or models side by side: total, tiers and criteria, then trial by trial; enter shows two trials."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Container
from textual.widget import Widget

from workbench.app.compare.frame import HeadLines, SideBySide
from workbench.app.compare.task_tables import panes_of
from workbench.app.compare.trial_tables import PairedPointRows, RunTrialRows
from workbench.app.compare.wording import NOTHING, change, of_change
from workbench.app.location import Place
from workbench.app.marks import Marked, Pair
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import ChosenTrials, TrialsComparison, compare_trials
from workbench.comparison.criteria import difference
from workbench.session.judges import in_words
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader


class RunTrialsScreen(SideBySide):
    """The trials of two runs, agents or models, of one session or of two."""

    titles: ClassVar[dict[str, str]] = {"paired-points": "Points", "run-trials": "Trials"}

    def compose_body(self) -> Iterable[Widget]:
        """Yield the head, the points and the trials."""
        lists = PairedPointRows(id="paired-points-list"), RunTrialRows(id="run-trials-list")
        yield HeadLines(5, id="head")
        yield Container(*panes_of(self.titles, lists, self.first_pane), id="trials-panes")

    def on_mount(self) -> None:
        """Say what is being read."""
        self.set_status("side by side")
        self.query_one(HeadLines).say("Reading both…")

    def read(self, left: SessionReader, right: SessionReader) -> TrialsComparison | str:
        """Read and compare the trials of both."""
        sides = []
        for name, reader, one in (("A", left, self.pair.left), ("B", right, self.pair.right)):
            side = _chosen(reader, one)
            if side is None:
                return f"{one.title or f'Run {name}'} is not in {one_line(reader.path.name, 80)}."
            sides.append(side)
        return compare_trials(sides[0], sides[1], self.pair.rubric, self.pair.judge)

    def shown(self, comparison: TrialsComparison | None, sentence: str) -> None:
        """Say how both came out."""
        head = self.query_one(HeadLines)
        if comparison is None:
            if sentence:
                head.say(sentence)
            return
        head.show(lambda width: head_of(comparison, width))
        folded = "only what differs" if self.only_differences else ""
        criteria = [one for one in comparison.points if one.title]
        differing = sum(one.differs for one in criteria)
        both = f"{comparison.common:,} in both · only A {comparison.only_left:,} · only B {comparison.only_right:,}"
        set_title(self.query_one("#paired-points"), f"Points · {differing} of {len(criteria)} criteria differ", folded)
        set_title(self.query_one("#run-trials"), f"Trials · {both}", folded)
        self._refresh_tabs()

    def target(self) -> tuple[Marked, Place | None] | None:
        """Return the trial that only one side has."""
        pair = self.query_one(RunTrialRows).selected
        if pair is None:
            return None
        side = self.pair.left if pair.left is not None else self.pair.right
        return Marked(side.session, "trial", pair.either.trial.id), None

    def action_open_item(self) -> None:
        """Show both trials side by side; one that only one side has is opened."""
        found: TrialsComparison | None = self.comparison
        pair = self.query_one(RunTrialRows).selected
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


def head_of(comparison: TrialsComparison, width: int) -> Sequence[Sequence[Part]]:
    """Return five lines: titles, A, B, the difference of the means, and how many trials each wins."""
    means = comparison.means
    room = max(10, width - 3 - 8 - 24)
    count = len(comparison.compared)
    lines: list[list[Part]] = [
        [(f"   {fit('', room)}{fit('trials', 8, right=True)}{fit(f'mean over {count:,}', 24, right=True)}", "dim")]
    ]
    for key, side, mean in zip("AB", (comparison.left, comparison.right), means, strict=True):
        parts = [side.title]
        other = comparison.right if key == "A" else comparison.left
        parts += [side.session] if side.session != other.session else []
        runs = f"run {side.runs[0]}" if len(side.runs) == 1 else f"{len(side.runs):,} runs"
        parts += [] if side.title in side.runs else [runs]
        lines.append(
            [
                (f" {key} ", "only-a" if key == "A" else "only-b"),
                (fit(one_line(" · ".join(parts), 200), room), "strong"),
                (fit(f"{len(side.trials):,}", 8, right=True), ""),
                (fit(NOTHING if mean is None else f"{mean:.1f}", 24, right=True), "score"),
            ]
        )
    gap = difference(*means)
    lines.append(
        [
            (fit("   B − A", 3 + room + 8), "dim"),
            (fit(change(gap, 1) or NOTHING, 24, right=True), of_change(gap) or "strong"),
        ]
    )
    wins, ties, losses = comparison.tally
    a, b = comparison.left.scale, comparison.right.scale
    by = (
        f"{a[0]}, {in_words(a[1])}"
        if a == b
        else f"{a[0]}; judges differ: A {in_words(a[1])}, B {in_words(b[1])}: not comparable"
    )
    said = [
        f"B wins {wins:,}, ties {ties:,}, loses {losses:,} by means of repeats",
        f"by {by}" if a[0] else "no scores",
    ]
    if comparison.conditions:
        said.append(f"differ in {'; '.join(f'{what} {left} | {right}' for what, left, right in comparison.conditions)}")
    if comparison.ignored:
        said.append(f"joined whatever the {' and the '.join(comparison.ignored)}")
    return [*lines, [(fit(f"   {one_line(' · '.join(said), 400)}", width), "")]]
