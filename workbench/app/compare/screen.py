"""Two trials side by side: what they took and scored, then steps, points, files and READMEs, and what differs in each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from textual.containers import Container
from textual.widget import Widget

from workbench.app.compare.difference_list import DifferenceList
from workbench.app.compare.frame import SideBySide
from workbench.app.compare.text_rows import TextRows
from workbench.app.compare.trial_tables import FileRows, PointRows, StepRows, reasons
from workbench.app.compare.wording import change, figure, names_of, of_change, readmes, state_of
from workbench.app.location import Place
from workbench.app.marks import Marked
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.texts import Static
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import Comparison, Effort, Side, compare, read_side, scales_of
from workbench.session.judges import in_words
from workbench.text import one_line, shortened

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader


_STATES = {"done": "passed", "failed": "failed", "running": "running", "unscored": "unscored", "interrupted": "paused"}
_LEAST_NAME, _STATE = 20, 14


@dataclass(frozen=True, slots=True)
class _Column:
    """A figure; of those that have no room the highest ``rank`` goes first."""

    name: str
    title: str
    width: int
    digits: int
    rank: int


_COLUMNS = (
    _Column("steps", "steps", 6, 0, 2),
    _Column("tokens", "tokens", 10, 0, 4),
    _Column("seconds", "s", 8, 1, 3),
    _Column("cost", "$", 9, 4, 1),
    _Column("score", "score", 8, 1, 0),
)


class Summary(RowList, can_focus=False):
    """A line of titles, one for each trial, one for the differences; or a sentence where nothing can be compared."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.comparison: Comparison | None = None
        self.sentence = ""

    def show(self, comparison: Comparison | None, sentence: str = "") -> None:
        """Show a comparison, or say why there is none."""
        self.comparison, self.sentence = comparison, sentence
        self.rows_changed()

    def row_count(self) -> int:
        """Return the number of lines."""
        return 4

    def selectable(self, index: int) -> bool:
        """There is no cursor."""
        return False

    def parts_of(self, index: int, width: int) -> list[Part]:
        """Return a line."""
        if self.comparison is None:
            return [(f" {self.sentence}", "dim")] if not index else []
        width -= 1
        columns, state = _fitting(width)
        room = width - 3 - state - sum(column.width for column in columns)
        shared, *own = names_of(self.comparison.left, self.comparison.right, room - 1)
        names = min(max(map(cell_len, (shared, *own))) + 3, room)
        efforts = {effort.name: effort for effort in self.comparison.efforts}
        if index == 0:
            cells = "".join(fit(column.title, column.width, right=True) for column in columns)
            # What both share says more than the title of the state does.
            title = shortened(shared, names + state - 1) if shared else " " * names + "state"[:state]
            return [(f"    {fit(title, names + state)}{cells}", "dim")]
        if index == 3:
            parts: list[Part] = [(" " + fit("   B − A", 3 + names + state), "dim")]
            for column in columns:
                value = efforts[column.name].difference
                style = f"{of_change(value)}" if column.name == "score" else "strong"
                parts.append((fit(change(value, column.digits), column.width, right=True), style))
            return parts
        key, style = (("A", "only-a"), ("B", "only-b"))[index - 1]
        side = (self.comparison.left, self.comparison.right)[index - 1]
        parts = [(f" {key}  ", style), (fit(shortened(own[index - 1], names - 1), names), "strong")]
        if state:
            parts.append((fit(state_of(side), state), _STATES.get(side.state, "dim")))
        for column in columns:
            shown = _cell(efforts[column.name], side, index, column.digits)
            parts.append((fit(shown, column.width, right=True), "score" if column.name == "score" else ""))
        return parts


def _cell(effort: Effort, side: Side, index: int, digits: int) -> str:
    value = effort.left if index == 1 else effort.right
    shown = figure(value, digits)
    # Points of a card with unscored tiers are out of less than 100.
    return (
        f"{shown}/{side.out_of:.0f}" if effort.name == "score" and value is not None and side.out_of != 100 else shown
    )


def _fitting(width: int) -> tuple[list[_Column], int]:
    """Return the columns that have room, and the width of the state, 0 where it has none."""
    columns, state = list(_COLUMNS), _STATE
    while 3 + _LEAST_NAME + state + sum(column.width for column in columns) > width:
        worst = max(columns, key=lambda column: column.rank)
        if worst.rank <= 1 and state:
            state = 0
        elif not worst.rank:
            break
        else:
            columns.remove(worst)
    return columns, state


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
