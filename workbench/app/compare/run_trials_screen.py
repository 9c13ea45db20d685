"""Two document runs side by side: trial by trial, joined by case, agent, model and repeat; enter shows two trials."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Container
from textual.widget import Widget

from workbench.app.compare.frame import SideBySide
from workbench.app.compare.head_lines import HeadLines
from workbench.app.compare.trial_tables import RunTrialRows
from workbench.app.compare.wording import NOTHING, change, of_change
from workbench.app.location import Place
from workbench.app.marks import Marked, Pair
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import RunsComparison, compare_runs
from workbench.comparison.criteria import difference
from workbench.session.judges import in_words
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader


class RunTrialsScreen(SideBySide):
    """Two document runs, of one session or of two."""

    titles: ClassVar[dict[str, str]] = {"run-trials": "Trials"}

    def compose_body(self) -> Iterable[Widget]:
        """Yield the head and the trials."""
        pane = Container(RunTrialRows(id="run-trials-list"), id="run-trials", classes="pane -current")
        set_title(pane, "Trials")
        yield HeadLines(5, id="head")
        yield pane

    def on_mount(self) -> None:
        """Say what is being read."""
        self.set_status("two runs side by side")
        self.query_one(HeadLines).say("Reading both runs…")

    def read(self, left: SessionReader, right: SessionReader) -> RunsComparison | str:
        """Read and compare both runs."""
        a, b = self.pair.left, self.pair.right
        for name, reader, one in (("A", left, a), ("B", right, b)):
            if reader.run(str(one.key)) is None:
                return f"Run {name} is not in {one_line(reader.path.name, 80)}."
        found = compare_runs((left, str(a.key)), (right, str(b.key)), self.pair.rubric, self.pair.judge)
        return found or "One of the runs is gone."

    def shown(self, comparison: RunsComparison | None, sentence: str) -> None:
        """Say how both came out."""
        head = self.query_one(HeadLines)
        if comparison is None:
            if sentence:
                head.say(sentence)
            return
        titles = self.pair.left.title, self.pair.right.title
        head.show(lambda width: head_of(comparison, titles, width))
        said = f"{comparison.common:,} in both · only A {comparison.only_left:,} · only B {comparison.only_right:,}"
        folded = "only what differs" if self.only_differences else ""
        set_title(self.query_one("#run-trials"), f"Trials · {said}", folded)

    def target(self) -> tuple[Marked, Place | None] | None:
        """Return the trial of the run that alone has it."""
        pair = self.query_one(RunTrialRows).selected
        if pair is None:
            return None
        side = self.pair.left if pair.left is not None else self.pair.right
        return Marked(side.session, "trial", pair.either.trial.id), None

    def action_open_item(self) -> None:
        """Show both trials side by side; one that only one run has is opened."""
        found: RunsComparison | None = self.comparison
        pair = self.query_one(RunTrialRows).selected
        if found is None or pair is None or pair.left is None or pair.right is None:
            super().action_open_item()
            return
        a = Marked(self.pair.left.session, "trial", pair.left.trial.id)
        b = Marked(self.pair.right.session, "trial", pair.right.trial.id)
        self.workbench.show_pair(Pair(a, b, *found.left.scale))


def head_of(comparison: RunsComparison, titles: tuple[str, str], width: int) -> Sequence[Sequence[Part]]:
    """Return five lines: titles, A, B, the difference of the means, and how many trials each wins."""
    means = comparison.means
    room = max(10, width - 3 - 8 - 24)
    count = len(comparison.compared)
    lines: list[list[Part]] = [
        [(f"   {fit('', room)}{fit('trials', 8, right=True)}{fit(f'mean over {count:,}', 24, right=True)}", "dim")]
    ]
    for key, side, title, mean in zip("AB", (comparison.left, comparison.right), titles, means, strict=True):
        parts = [title or side.run.name or side.run.id]
        other = comparison.right if key == "A" else comparison.left
        parts += [side.session] if side.session != other.session else []
        parts.append(side.run.id)
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
    if comparison.ignored:
        said.append(f"joined whatever the {' and the '.join(comparison.ignored)}")
    return [*lines, [(fit(f"   {one_line(' · '.join(said), 400)}", width), "")]]
