"""The table of trials: a row per trial, under the row of its group where there are groups; painted row by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from workbench.app.marks import Marked, Marks
from workbench.app.toolkit.headed_list import HeadedList
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.virtual_view import Part
from workbench.app.trials.filters import EVERYTHING, TrialFilter
from workbench.app.trials.lines import Group, TrialLine, Trials, in_groups, in_order
from workbench.app.trials.wording import own_cell, spread_in_words, without_forks
from workbench.glyphs import STATES
from workbench.text import one_line, shortened

NOTHING = "–"
_STYLES = {"done": "passed", "failed": "failed", "running": "running", "unscored": "unscored", "interrupted": "paused"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column; ``rank`` 0 always stays, of the others the highest goes first; ``order`` is what a click sorts by."""

    title: str
    width: int
    order: str
    rank: int
    cell: Callable[[TrialLine], str]


def points(value: float | None) -> str:
    """Return points with one decimal."""
    return NOTHING if value is None else f"{value:.1f}"


def _score(line: TrialLine) -> str:
    """Return a total; where tiers are unscored, so that it is not out of 100, what it is out of too."""
    full = line.points is None or line.total.out_of == 100
    return points(line.points) if full else f"{line.points:.0f}/{line.total.out_of:.0f}"


def _words(line: TrialLine, title: str) -> str:
    return str(getattr(line, "shown_case" if title == "case" else title))


def _tier(number: int) -> Callable[[TrialLine], str]:
    return lambda line: points(line.tiers[number - 1])


_NUMBERS = (
    Column("rep", 4, "case", 1, lambda line: f"{line.repeat}"),
    Column("own", 8, "score", 0, lambda line: own_cell(line.total.own)),
    Column("score", 6, "score", 0, _score),
    *(Column(f"T{number}", 5, f"tier{number}", 5, _tier(number)) for number in (1, 2, 3, 4)),
    Column("steps", 5, "steps", 3, lambda line: f"{line.steps:,}"),
    Column("tokens", 8, "tokens", 9, lambda line: f"{line.tokens:,}"),
    Column("s", 6, "seconds", 10, lambda line: NOTHING if line.seconds is None else f"{line.seconds:,.0f}"),
    Column("nowhere", 7, "nowhere", 6, lambda line: NOTHING if line.nowhere is None else f"{line.nowhere:,}"),
    Column("unseen", 6, "unseen", 7, lambda line: NOTHING if line.unseen is None else f"{line.unseen:,}"),
    Column("seen %", 6, "shown", 8, lambda line: NOTHING if line.shown is None else f"{line.shown:.0f}"),
    Column("$", 7, "cost", 2, lambda line: NOTHING if line.cost is None else f"{line.cost:.3f}"),
)
_TEXTS = (("case", 14, 34), ("agent", 11, 18), ("model", 13, 34), ("state", 13, 13))
_TAGS = 16  # cells that tags have before they are shortened
_GAP = 1


@dataclass(frozen=True, slots=True)
class TableState:
    """How a person arranged the trials of a session, for when the table is shown again."""

    session: Path
    trials: Trials
    filter: TrialFilter
    order: str
    reverse: bool
    grouping: str
    folded: frozenset[str]


class TrialTable(HeadedList):
    """Row 0 is the heading; below it groups and their trials.

    Attributes:
        trials: What is shown.
        filter: Which of them.
        order: Key of their order, see :data:`workbench.app.trials.lines.ORDERS`; ``reverse`` turns it round.
        grouping: By what they are put together, "" for not at all.
        current: The trial that is open behind the table.
        marks: What is marked to be compared.
        session: The file that the trials are of.
    """

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "open", id="trials.open"),
        Binding("space", "mark", "mark", id="trials.mark"),
        Binding("minus", "fold", "Fold the group", key_display="-", id="trials.fold", show=False),
    ]

    class HeadingClicked(Message):
        """A column's heading was clicked; ``order`` is what it sorts by."""

        def __init__(self, order: str) -> None:
            super().__init__()
            self.order = order

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.trials = Trials((), (), None)
        self.filter: TrialFilter = EVERYTHING
        self.order = "made"
        self.reverse = False
        self.grouping = ""
        self.current = ""
        self.marks = Marks()
        self.session = Path()
        self.shown: list[int] = []
        self._folded: set[str] = set()
        self._lengths: dict[str, int] = {}
        self._rows: list[Group | int] = []

    # -- what is in it

    @property
    def selected(self) -> TrialLine | None:
        """The trial under the cursor, None on a group."""
        row = self._row(self.cursor)
        return self.trials.lines[row] if isinstance(row, int) else None

    def _row(self, index: int) -> Group | int | None:
        return self._rows[index - 1] if 0 < index <= len(self._rows) else None

    def put(self, trials: Trials) -> None:
        """Show these trials; cursor, filter, order and folded groups stay."""
        self.trials = trials
        self._lengths = {}
        self.rearrange()

    @property
    def state(self) -> TableState:
        """How it is arranged."""
        order = self.order, self.reverse, self.grouping
        return TableState(self.session, self.trials, self.filter, *order, frozenset(self._folded))

    def restore(self, state: TableState) -> None:
        """Arrange it as it was; the cursor goes to the trial that is open behind it."""
        self.session, self.filter, self._folded = state.session, state.filter, set(state.folded)
        self.order, self.reverse, self.grouping = state.order, state.reverse, state.grouping
        self.put(state.trials)
        self.rearrange(to=self.current)

    def sort(self, order: str, *, reverse: bool = False) -> None:
        """Put the trials into another order and go to the first: that is what one sorts for."""
        self.order, self.reverse = order, reverse
        self.cursor = -1
        self.rearrange()

    def group(self, by: str) -> None:
        """Put trials together, folded where they would not fit on the screen, and go to the first group."""
        self.grouping = by
        self._folded = {one.name for one in in_groups(self.trials.lines, self.shown, by)} if by else set()
        if len(self.shown) + len(self._folded) < self.page_height():
            self._folded = set()
        self.cursor = -1
        self.rearrange()

    def rearrange(self, *, to: str = "") -> None:
        """Filter, sort and group anew; the cursor stays on its trial, or goes to the one that is named."""
        lines = self.trials.lines
        row = self._row(self.cursor)
        kept = to or (lines[row].id if isinstance(row, int) and row < len(lines) else "")
        group = row.name if isinstance(row, Group) else None
        self.shown = in_order(lines, self.filter.passing(lines), self.order, reverse=self.reverse)
        self._rows = []
        if self.grouping:
            for one in in_groups(lines, self.shown, self.grouping):
                self._rows.append(one)
                if one.name not in self._folded:
                    self._rows += one.places
        else:
            self._rows += self.shown
        at = next(
            (
                index
                for index, row in enumerate(self._rows, 1)
                if (lines[row].id == kept if isinstance(row, int) else not kept and row.name == group)
            ),
            1,
        )
        self.rows_changed(cursor=at)

    def on_group(self) -> str:
        """Return what the keys do with the group under the cursor."""
        row = self._row(self.cursor)
        folded = isinstance(row, Group) and row.name in self._folded
        return "Enter opens this group; o sorts the trials in it." if folded else "Enter folds this group."

    def action_fold(self) -> None:
        """Fold the group under the cursor, or unfold it; on a trial, fold its group."""
        row = self._row(self.cursor)
        if row is None or not self.grouping:
            return
        if isinstance(row, int):
            row = next(one for one in self._rows[: self.cursor][::-1] if isinstance(one, Group))
            self.cursor = self._rows.index(row) + 1
        self._folded ^= {row.name}
        self.rearrange()

    def action_mark(self) -> None:
        """Mark the trial under the cursor to be compared, or take its mark away; fold or unfold a group."""
        if self.selected is None:
            self.action_fold()
            return
        self.marks.toggle(self.marked(self.selected))
        self.refresh()
        self.post_message(self.Moved(self, self.cursor))

    def marked(self, line: TrialLine) -> Marked:
        """Return a trial as it is marked."""
        title = f"{line.agent} · {line.case} · rep {line.repeat}"
        return Marked(self.session, "trial", line.id, one_line(title, 100))

    def action_choose(self) -> None:
        """Open the trial under the cursor; fold or unfold a group."""
        if self.selected is None:
            self.action_fold()
        else:
            super().action_choose()

    # -- painting

    def row_count(self) -> int:
        """Return how many rows there are, the heading included."""
        return len(self._rows) + 1 if self._rows else 0

    def words_of(self, index: int) -> str:
        """Return what a trial is, what went wrong in it and which files it read; of a group its name."""
        row = self._row(index)
        if isinstance(row, int):
            line = self.trials.lines[row]
            return f"{line.case} {line.agent} {line.model} {line.state} {line.tags} {line.error} {line.read}"
        return row.name if row is not None else ""

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return a group or a trial."""
        row = self._row(index)
        if row is None:
            return self.heading_parts(width)
        return self._group(row, width) if isinstance(row, Group) else self._trial(self.trials.lines[row], width)

    def _layout(self, width: int) -> tuple[list[tuple[str, int]], list[Column]]:
        """Return the columns of words and those of numbers that have room, words as wide as they need."""
        told_apart = any(line.total.own for line in self.trials.lines)
        numbers = [column for column in _NUMBERS if column.title != "own" or told_apart]
        tags = self._longest("tags")
        titles: tuple[tuple[str, int, int], ...] = (*_TEXTS, ("tags", max(4, min(tags, _TAGS)), 40)) if tags else _TEXTS
        least = 2 + sum(low + _GAP for _, low, _ in titles)
        while numbers and least + sum(column.width + _GAP for column in numbers) > width:
            worst = max(column.rank for column in numbers)
            if not worst:
                break
            numbers = [column for column in numbers if column.rank != worst]
        # A score is what one looks for: words that rarely tell trials apart go before it does.
        for title in ("tags", "model", "agent"):
            if least + sum(column.width + _GAP for column in numbers) <= width:
                break
            titles = tuple(one for one in titles if one[0] != title)
            least = 2 + sum(low + _GAP for _, low, _ in titles)
        left = width - least - sum(column.width + _GAP for column in numbers)
        texts = []
        for title, low, high in titles:
            more = max(0, min(left, high - low, self._longest(title) - low))
            texts.append((title, low + more))
            left -= more
        return texts, numbers

    def _longest(self, title: str) -> int:
        # Every row asks for it; it is counted once for all the trials.
        if title not in self._lengths:
            self._lengths[title] = max((len(_words(line, title)) for line in self.trials.lines), default=0)
        return self._lengths[title]

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return the columns' names, that of the order marked with its direction."""
        texts, numbers = self._layout(width)
        parts: list[Part] = [("  ", "")]
        for title, size in texts:
            parts.append((fit(title, size) + " ", "strong" if title == self.order else "dim"))
        for column in numbers:
            mark = column.order == self.order and column.title != "rep"
            parts.append((" " + fit(column.title, column.width, right=True), "strong" if mark else "dim"))
        return parts

    def _trial(self, line: TrialLine, width: int) -> Sequence[Part]:
        texts, numbers = self._layout(width)
        indent = (self.marks.letter(self.marked(line)) or ("›" if line.id == self.current else " ")) + " "
        parts: list[Part] = [(indent, "marked")]
        for title, size in texts:
            if title == "state":
                parts.append(
                    (fit(f"{STATES.get(line.state, '?')} {line.state}", size) + " ", _STYLES.get(line.state, "dim"))
                )
            else:
                style = {"model": "dim", "tags": "marked"}.get(title, "")
                parts.append((fit(shortened(_words(line, title), size), size) + " ", style))
        for column in numbers:
            style = "score" if column.order == "score" else ""
            parts.append((" " + fit(column.cell(line), column.width, right=True), style))
        return parts

    def _group(self, group: Group, width: int) -> Sequence[Part]:
        sign = "▸ " if group.name in self._folded else "▾ "
        longest = max(len(row.name) for row in self._rows if isinstance(row, Group))
        size = max(8, min(longest, width - 50))
        own = group.spread.trials
        count, forks = f"{own:,} trial" + ("s" if own != 1 else " "), len(group.places) - own
        name = fit(shortened(group.name, size), size)
        said = spread_in_words(group.spread) + without_forks(forks)
        return [(f"{sign}{name}", "group"), (f" {fit(count, 13, right=True)}   {said}", "dim")]

    def on_click(self, event: events.Click) -> None:
        """Sort by the column whose heading is clicked; elsewhere Textual calls the handler of the list as well."""
        if event.y != 0 or not self._rows:
            return
        event.prevent_default()
        texts, numbers = self._layout(self.text_width)
        at = 2
        for title, size in texts:
            at += size + _GAP
            if event.x < at:
                self.post_message(self.HeadingClicked(title))
                return
        for column in numbers:
            at += column.width + _GAP
            if event.x < at:
                self.post_message(self.HeadingClicked(column.order))
                return
