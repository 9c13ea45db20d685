"""Two trials side by side: what they took and scored, then steps, points, files and READMEs, and what differs in each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.app.compare.difference_list import DifferenceList, DifferenceTable
from workbench.app.compare.frame import SideBySide
from workbench.app.compare.head import Figure, HeadTable, took
from workbench.app.compare.text_rows import TextRows
from workbench.app.compare.trial_tables import FILES, POINTS, STEPS
from workbench.app.compare.wording import change, figure, names_of, of_change, readmes, state_of
from workbench.app.location import Place
from workbench.app.marks import Marked
from workbench.comparison import Comparison, FilePair, StepPair, compare, read_side, scales_of
from workbench.session.judges import in_words
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader


_STATES = {"done": "passed", "failed": "failed", "running": "running", "unscored": "unscored", "interrupted": "paused"}
_FIGURES = (
    ("steps", "steps", 6, 0, 3),
    ("tokens", "tokens", 10, 0, 5),
    ("seconds", "s", 8, 1, 4),
    ("cost", "$", 9, 4, 1),
)


class CompareScreen(SideBySide):
    """Two trials, of one session or of two."""

    titles: ClassVar[dict[str, str]] = {
        "steps-diff": "Steps", "points-diff": "Points", "files-diff": "Files", "readme-diff": "README",
    }  # fmt: skip

    what = "two trials"

    def lists_of(self) -> Sequence[DifferenceList[Any]]:
        return (
            DifferenceTable(STEPS, id="steps-diff-list"),
            DifferenceTable(POINTS, id="points-diff-list"),
            DifferenceTable(FILES, id="files-diff-list"),
            TextRows(readmes, id="readme-diff-list"),
        )

    def on_mount(self) -> None:
        super().on_mount()
        self._name_scale(None)

    def _name_scale(self, comparison: Comparison | None) -> None:
        """Say by which rubric and judge the points are; each trial's own judge where they have none in common."""
        judges = [self.pair.judge] if comparison is None else [comparison.left.judge, comparison.right.judge]
        said = [one_line(in_words(judge), 60) if judge else "" for judge in dict.fromkeys(judges)]
        judge = said[0] if len(said) == 1 else f"judges differ: A {said[0] or 'none'}, B {said[1] or 'none'}"
        self.set_status(" · ".join(filter(None, ["side by side", self.pair.rubric, judge])))

    @property
    def trials(self) -> tuple[str, str]:
        return str(self.pair.left.key), str(self.pair.right.key)

    # -- what is shown

    def read(self, left: SessionReader, right: SessionReader) -> Comparison | str:
        a, b = self.trials
        scales = scales_of((left, a), (right, b), self.pair.rubric, self.pair.judge)
        sides = []
        for name, reader, trial, scale in zip("AB", (left, right), self.trials, scales, strict=True):
            side = read_side(reader, trial, *scale)
            if side is None:
                return f"Trial {name} is not in {one_line(reader.path.name, 80)}."
            sides.append(side)
        return compare(*sides)

    def show_figures(self) -> None:
        self._name_scale(self.comparison)
        super().show_figures()

    def figures_of(self, pane: str, comparison: Comparison) -> str:
        return _count(pane, comparison)

    def head_of(self, comparison: Comparison, width: int) -> HeadTable:
        sides = comparison.left, comparison.right
        shared, a, b = names_of(*sides, max(20, width - 60))
        efforts = {effort.name: effort for effort in comparison.efforts}
        states = [(state_of(side), _STATES.get(side.state, "dim")) for side in sides]
        score = efforts["score"]
        scores = [_score(value, side.out_of) for value, side in zip((score.left, score.right), sides, strict=True)]
        gap = change(score.difference, 1), of_change(score.difference)
        return HeadTable(
            names=(a, b),
            shared=shared,
            figures=(
                Figure(title="state", of=(states[0], states[1], ""), width=13, priority=2, text=True),
                *(
                    took(efforts[name], title, width, digits, priority)
                    for name, title, width, digits, priority in _FIGURES
                ),
                Figure(title="score", of=(scores[0], scores[1], gap), width=7, style="score"),
            ),
        )

    # -- where one can go

    def target(self) -> tuple[Marked, Place | None] | None:
        comparison, current = self.comparison, self.focused
        if comparison is None:
            return None
        row = current.selected if isinstance(current, DifferenceTable) else None
        if isinstance(row, StepPair):
            if row.left is not None:
                return self.pair.left, Place(row.left.number)
            return self.pair.right, Place(row.right.number if row.right is not None else 0)
        if isinstance(row, FilePair):
            return (self.pair.left if row.left else self.pair.right), None
        return self.pair.left, None


def _score(value: float | None, out_of: float) -> str:
    # Points of a card with unscored tiers are out of less than 100.
    return figure(value, 1) + (f"/{out_of:.0f}" if value is not None and out_of != 100 else "")


def _count(name: str, comparison: Comparison) -> str:
    a, b = comparison.left, comparison.right
    if name == "steps-diff":
        common = sum(pair.same for pair in comparison.steps)
        same = len(comparison.steps) == common
        return f"{common:,}, the same" if same else f"A {len(a.steps):,} · B {len(b.steps):,} · {common:,} in common"
    if name == "files-diff":
        return f"A {sum(bool(one.left) for one in comparison.files):,} · B {sum(bool(one.right) for one in comparison.files):,}"
    if name == "readme-diff":
        if a.readme is None or b.readme is None:
            return ""
        diff = comparison.readme
        if diff.same:
            return f"{diff.left_words:,} words, the same"
        return f"words: A {diff.left_words:,} · B {diff.right_words:,} · {diff.common_words:,} in common"
    return _points(comparison)


def _points(comparison: Comparison) -> str:
    """Return how many criteria B wins and loses, and how many cannot be compared."""
    differing = [one for tier in comparison.tiers for one in tier.criteria if one.differs]
    gaps = [one.difference for one in differing if one.difference is not None]
    single = len(differing) - len(gaps)
    parts = [f"B wins {sum(gap > 0 for gap in gaps)}, loses {sum(gap < 0 for gap in gaps)}"] if gaps else []
    parts += [f"{single} scored in one only"] if single else []
    return " · ".join(parts) or ("all the same" if comparison.tiers else "")
