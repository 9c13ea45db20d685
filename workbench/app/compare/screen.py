"""Two trials side by side: what they took and scored, then steps, points, files and READMEs, and what differs in each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from textual.containers import Container
from textual.widget import Widget

from workbench.app.compare.difference_list import DifferenceList
from workbench.app.compare.frame import SideBySide
from workbench.app.compare.summary import Summary
from workbench.app.compare.text_rows import TextRows
from workbench.app.compare.trial_tables import FileRows, PointRows, StepRows, reasons
from workbench.app.compare.wording import readmes
from workbench.app.location import Place
from workbench.app.marks import Marked
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.texts import Static
from workbench.comparison import Comparison, compare, read_side, scales_of
from workbench.session.judges import in_words
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

_REASON_LINES = 2


class CompareScreen(SideBySide):
    """Two trials, of one session or of two."""

    titles: ClassVar[dict[str, str]] = {
        "steps-diff": "Steps", "points-diff": "Points", "files-diff": "Files", "readme-diff": "README",
    }  # fmt: skip

    def compose_body(self) -> Iterable[Widget]:
        """Yield the summary and the panes."""
        lists: tuple[DifferenceList[Any], ...] = (
            StepRows(id="steps-diff-list"),
            PointRows(id="points-diff-list"),
            FileRows(id="files-diff-list"),
            TextRows(readmes, id="readme-diff-list"),
        )
        panes = []
        for (name, title), one in zip(self.titles.items(), lists, strict=True):
            inside: list[Widget] = [one]
            if isinstance(one, PointRows):
                inside.append(Static("", id="point-reasons"))
            panes.append(Container(*inside, id=name, classes="pane"))
            set_title(panes[-1], title)
        panes[0].add_class("-current")
        yield Summary(id="summary")
        yield Container(*panes, id="compare-panes")

    def on_mount(self) -> None:
        """Say what is being read."""
        self._name_scale(None)
        self.query_one(Summary).show(None, "Reading both trials…")

    def _name_scale(self, comparison: Comparison | None) -> None:
        """Say by which rubric and judge the points are; each trial's own judge where they have none in common."""
        judges = [self.pair.judge] if comparison is None else [comparison.left.judge, comparison.right.judge]
        said = [one_line(in_words(judge), 60) if judge else "" for judge in dict.fromkeys(judges)]
        judge = said[0] if len(said) == 1 else f"judges differ: A {said[0] or 'none'}, B {said[1] or 'none'}"
        self.set_status(" · ".join(filter(None, ["side by side", self.pair.rubric, judge])))

    @property
    def trials(self) -> tuple[str, str]:
        """The ids of A and B."""
        return str(self.pair.left.key), str(self.pair.right.key)

    # -- what is shown

    def read(self, left: SessionReader, right: SessionReader) -> Comparison | str:
        """Read and compare both trials, by a rubric and judge that scored both where there is one."""
        a, b = self.trials
        scales = scales_of((left, a), (right, b), self.pair.rubric, self.pair.judge)
        sides = []
        for name, reader, trial, scale in zip("AB", (left, right), self.trials, scales, strict=True):
            side = read_side(reader, trial, *scale)
            if side is None:
                return f"Trial {name} is not in {one_line(reader.path.name, 80)}."
            sides.append(side)
        return compare(*sides)

    def shown(self, comparison: Any, sentence: str) -> None:
        """Name what is in each pane."""
        self._name_scale(comparison)
        if comparison is not None or sentence:
            self.query_one(Summary).show(comparison, sentence)
        for name, title in self.titles.items():
            said = _count(name, comparison) if comparison is not None else ""
            folded = "only what differs" if self.only_differences else ""
            set_title(self.query_one(f"#{name}"), f"{title} · {said}" if said else title, folded)
        self._show_reasons()

    def _show_reasons(self) -> None:
        points = self.query_one(PointRows)
        lines = _REASON_LINES * (2 if self.has_class("-h-tall") else 1)
        text = reasons(points.criterion, points.text_width - 1, lines)
        self.query_one("#point-reasons", Static).update(text)

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        """Say why the criterion under the cursor has its points."""
        if isinstance(message.row_list, PointRows):
            self._show_reasons()

    # -- where one can go

    def target(self) -> tuple[Marked, Place | None] | None:
        """Return the step under the cursor, in A where A took it; elsewhere trial A."""
        comparison, current = self.comparison, self.focused
        if comparison is None:
            return None
        if isinstance(current, StepRows) and 0 <= current.place < len(comparison.steps):
            step = comparison.steps[current.place]
            if step.left is not None:
                return self.pair.left, Place(step.left.number)
            return self.pair.right, Place(step.right.number)
        if isinstance(current, FileRows) and 0 <= current.place < len(comparison.files):
            return (self.pair.left if comparison.files[current.place].left else self.pair.right), None
        return self.pair.left, None


def _count(name: str, comparison: Comparison) -> str:
    """Return the figures of a pane for its title."""
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
