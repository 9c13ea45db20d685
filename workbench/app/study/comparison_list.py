"""Two columns of a study against one another: the figures, a forest plot by row, and the items that differ most."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textual.binding import BindingType

from workbench.app.key_table import with_keys
from workbench.app.keys import bind
from workbench.app.study.wording import NOTHING, UNKNOWN, bounds, chance, count, figure, signed
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.virtual_view import Part
from workbench.statistics.paired import Difference, Tally
from workbench.studies.comparing import Comparison, ItemPair
from workbench.text import one_line, shortened

_LEAST = 11


@dataclass(frozen=True, slots=True)
class Scale:
    """From where to where the plot goes; zero always lies in it."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Scale:
        known = [0.0, *(one for one in values if one is not None)]
        low, high = min(known), max(known)
        return cls(low, high) if high > low else cls(-1.0, 1.0)

    def cell(self, value: float, width: int) -> int:
        """Return in which of ``width`` cells a value lies."""
        share = (value - self.low) / (self.high - self.low)
        return min(width - 1, max(0, round(share * (width - 1))))


def forest_row(
    value: float | None, low: float | None, high: float | None, scale: Scale, width: int, dot: str = "●"
) -> list[Part]:
    """Return the plot of one difference in ``width`` cells; without bounds the dot stands alone."""
    signs = [" "] * width
    zero = scale.cell(0.0, width)
    signs[zero] = "│"
    if low is not None and high is not None:
        first, last = scale.cell(low, width), scale.cell(high, width)
        for at in range(first, last + 1):
            signs[at] = "┼" if at == zero else "─"
        if last > first:
            signs[first], signs[last] = "├", "┤"
    if value is not None:
        signs[scale.cell(value, width)] = dot
    return _in_styles(signs, dot)


def axis_row(low: str, high: str, scale: Scale, width: int) -> str:
    """Return the ends of the scale, and zero where it has room between them."""
    text = f"{low}{high.rjust(width - len(low))}" if len(low) + len(high) < width else ""
    zero = scale.cell(0.0, width)
    if text[max(0, zero - 1) : zero + 2].strip():
        return text
    return text[:zero] + "0" + text[zero + 1 :]


def room_for_plot(width: int, names: int, figures: int) -> int:
    """Return how many cells the plot has beside names and figures, 0 where these need all of them."""
    room = width - names - figures
    return room if room >= _LEAST else 0


def _in_styles(signs: list[str], dot: str) -> list[Part]:
    parts: list[Part] = []
    for sign in signs:
        style = "marked" if sign == dot else "rule" if sign in "│ " else "bar"
        if parts and parts[-1][1] == style:
            parts[-1] = parts[-1][0] + sign, style
        else:
            parts.append((sign, style))
    return parts


_FIGURES = 25
"""Cells of the three figures of an item."""
_HINT = "Mark a column with {study.mark}, go to another one and press {study.compare}: both are compared here."


@dataclass(frozen=True, slots=True)
class _Row:
    """A line: a text, the plot of a row of the study, or an item."""

    text: str = ""
    style: str = ""
    plotted: str = ""
    item: ItemPair | None = None


class ComparisonList(RowList):
    """Sentences, then a row for each row of the study, then a row for each item; the cursor goes over the last two."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [bind("study.open-pair", "choose", "side by side")]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.comparison: Comparison | None = None
        self._nouns = ("item", "items", "row", "rows")
        self._drawn: Mapping[str, Any] | None = None
        self._compared = 1
        self._problem = ""
        self._rows: list[_Row] = []
        self._scale = Scale(-1.0, 1.0)

    # -- what is in it

    def put(self, comparison: Comparison | None, nouns: tuple[str, str, str, str]) -> None:
        """Show a comparison; ``nouns`` name an item and a row, each for one and for several."""
        same = self.comparison is not None and comparison is not None
        same = same and (self.comparison.left, self.comparison.right) == (comparison.left, comparison.right)  # type: ignore[union-attr]
        self.comparison, self._nouns = comparison, nouns
        if comparison is not None:
            every = [comparison.difference, *comparison.by_row.values()]
            self._scale = Scale.of(value for one in every for value in (one.value, one.interval.low, one.interval.high))
        self._lay_out(keep=same)

    def put_test(self, drawn: Mapping[str, Any] | None, compared: int, problem: str = "") -> None:
        """Show what was drawn: the test of this comparison, adjusted for ``compared`` ones; None while it is being drawn."""
        self._drawn, self._compared, self._problem = drawn, compared, problem
        self._lay_out(keep=True)

    @property
    def selected(self) -> ItemPair | None:
        return self._rows[self.cursor].item if 0 <= self.cursor < len(self._rows) else None

    def words_of(self, index: int) -> str:
        row = self._rows[index]
        if row.item is not None:
            return f"{row.item.row} {row.item.file} {row.item.name}"
        return row.plotted or row.text

    @property
    def selected_row(self) -> str:
        """The row of the study under the cursor, "" elsewhere."""
        return self._rows[self.cursor].plotted if 0 <= self.cursor < len(self._rows) else ""

    def _lay_out(self, *, keep: bool) -> None:
        before = self._rows[self.cursor] if keep and 0 <= self.cursor < len(self._rows) else None
        width = max(20, self.text_width)
        found = self.comparison
        self._rows = (
            self._all_rows(found, width) if found is not None else self._sentences(with_keys(_HINT), width, "dim")
        )
        at = next((at for at, row in enumerate(self._rows) if before is not None and _same(row, before)), 0)
        self.rows_changed(cursor=at)
        if before is None:
            self.scroll_to(y=0, animate=False, immediate=True)

    def _all_rows(self, found: Comparison, width: int) -> list[_Row]:
        if not found.comparable:
            differing = f"Not comparable, made under other conditions (A and B): {'; '.join(found.differing)}."
            return self._sentences(differing, width, "strong")
        item, items, row, rows = self._nouns
        difference, measure = found.difference, found.measure
        size = count(len(found.values), item, items)
        mean = f"{signed(difference.value, measure)} {bounds(difference.interval, measure, difference=True)}".rstrip()
        said = self._sentences(f"{mean}  {measure}, {size} of both", width, "strong")
        said += self._sentences(self._test_words(), width, "")
        names = max(len(items), len(rows)) + 2
        said += [
            _Row(f" {items:<{names}}{_tally(difference.tasks)}"),
            _Row(f" {rows:<{names}}{_tally(difference.repositories)}"),
        ]
        said += self._sentences(difference.interval.words, width, "dim")
        if found.judged is not None:
            (a, of_a), (b, of_b) = found.judged
            said += self._sentences(f"A {a:,} of {of_a:,}, B {b:,} of {of_b:,} that were judged", width, "")
        left_out = self._left_out(found)
        if left_out:
            said += self._sentences(left_out, width, "dim")
        if found.by_row:
            said.append(_Row(f" Difference by {row}", "group"))
            said += [_Row(plotted=name) for name in found.by_row]
            said.append(_Row(plotted="", text="axis"))
        pairs = [one for one in found.pairs if one.left is not None and one.right is not None]
        if pairs:
            said.append(_Row("items", "group"))
            said += [_Row(item=one) for one in pairs]
        return said

    def _test_words(self) -> str:
        if self._problem:
            return f"p {NOTHING}  {self._problem}"
        if self._drawn is None:
            return f"p {UNKNOWN}  paired permutation test"
        holm = self._drawn.get("p_holm")
        of = (
            f"; by Holm {chance(holm)} of {self._compared} compared here"
            if holm is not None and self._compared > 1
            else ""
        )
        return f"{self._drawn.get('test', '')}{of}"

    def _left_out(self, found: Comparison) -> str:
        said = []
        if found.undefined:
            said.append(f"{found.undefined:,} without a value on one side")
        for number, side in ((found.only_left, "A"), (found.only_right, "B")):
            if number:
                said.append(f"{number:,} only under {side}")
        if found.apart:
            said.append(f"{', '.join(sorted(found.apart))}, made otherwise ({'; '.join(found.differing)})")
        return f"Left out: {', '.join(said)}." if said else ""

    @staticmethod
    def _sentences(text: str, width: int, style: str) -> list[_Row]:
        return [_Row(f" {line}", style) for line in textwrap.wrap(one_line(text, 1000), width - 2)]

    # -- painting

    def on_resize(self) -> None:
        self._lay_out(keep=True)

    def row_count(self) -> int:
        return len(self._rows)

    def selectable(self, index: int) -> bool:
        row = self._rows[index]
        return bool(row.plotted) or row.item is not None

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        row, found = self._rows[index], self.comparison
        if found is None:
            return [(row.text, row.style)]
        if row.item is not None:
            return self._item(row.item, width)
        if row.plotted:
            return self._plotted(row.plotted, found.by_row[row.plotted], width)
        if row.text == "axis":
            return self._axis(width)
        if row.text == "items":
            names = max(8, width - _FIGURES)
            return [(f"{fit(' Items that differ most', names)}{'A':>8}{'B':>8}{'B − A':>8} ", "group")]
        return [(row.text, row.style)]

    def _names(self, width: int) -> tuple[int, int]:
        longest = max((len(row) for row in self.comparison.by_row), default=8) if self.comparison is not None else 8
        names = min(longest + 3, max(10, width // 3))
        return names, room_for_plot(width, names, 10)

    def _plotted(self, name: str, one: Difference, width: int) -> Sequence[Part]:
        assert self.comparison is not None
        names, plot = self._names(width)
        if not plot:
            names = width - 10
        value = signed(one.value, self.comparison.measure)
        shown = fit(f"  {shortened(one_line(name, 400), names - 3)}", names)
        parts = forest_row(one.value, one.interval.low, one.interval.high, self._scale, plot) if plot else []
        return [(shown, ""), *parts, (f"{value:>9} ", "")]

    def _axis(self, width: int) -> Sequence[Part]:
        assert self.comparison is not None
        names, plot = self._names(width)
        if not plot:
            return []
        measure = self.comparison.measure
        return [
            (" " * names, ""),
            (axis_row(signed(self._scale.low, measure), signed(self._scale.high, measure), self._scale, plot), "dim"),
        ]

    def _item(self, pair: ItemPair, width: int) -> Sequence[Part]:
        assert self.comparison is not None
        measure, names = self.comparison.measure, max(8, width - _FIGURES)
        left = figure(pair.left.value if pair.left is not None else None, measure)
        right = figure(pair.right.value if pair.right is not None else None, measure)
        gap = pair.difference
        style = "" if not gap else "good" if gap > 0 else "poor"
        return [
            (fit(f"  {_called(pair, names - 3)}", names), ""),
            (f"{left:>8}{right:>8}", ""),
            (f"{signed(gap, measure):>8} ", style),
        ]


def _tally(one: Tally) -> str:
    return f"B wins {one.wins:,}  ties {one.ties:,}  loses {one.losses:,}"


def _called(pair: ItemPair, width: int) -> str:
    """Return a pair's row and name in so many cells: without its file, then both shortened, so that either can be told."""
    row, name = one_line(pair.row, 300), one_line(pair.name, 300)
    if len(row) + len(name) + 3 > width:
        name = name.rpartition("::")[2]
    if len(row) + len(name) + 3 > width:
        row = shortened(row, max(6, min(len(row), width - 3 - len(name), width // 2)))
    return f"{row} · {shortened(name, max(4, width - 3 - len(row)))}"


def _same(row: _Row, other: _Row) -> bool:
    if row.item is not None and other.item is not None:
        return (row.item.row, row.item.file, row.item.name) == (other.item.row, other.item.file, other.item.name)
    return bool(row.plotted) and row.plotted == other.plotted
