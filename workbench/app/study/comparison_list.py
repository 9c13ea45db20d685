"""Two columns of a study against one another: the figures, a forest plot by row, and the items that differ most."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from workbench.app.key_table import with_keys
from workbench.app.keys import bindings
from workbench.app.study.wording import NOTHING, UNKNOWN, bounds, chance, count, figure, signed
from workbench.app.toolkit.plot import Axis, axis, interval_bar, place
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.virtual_view import Part
from workbench.statistics.paired import Difference, Tally
from workbench.studies.comparing import Comparison, ItemPair
from workbench.text import one_line, shortened

_LEAST = 11
"""Cells that a plot needs."""
_STYLES = {"●": "marked", "│": "rule", " ": "rule"}


def forest_row(one: Difference, scale: Axis, width: int) -> list[Part]:
    """Return the plot of one difference in ``width`` cells over the line at zero; without bounds the dot stands alone."""
    value = one.value or 0.0
    ends = (value if end is None else end for end in (one.interval.low, value, one.interval.high))
    signs = interval_bar([scale.share(end) for end in ends], width)
    zero = place(scale.share(0.0), width)
    signs[zero] = {" ": "│", "─": "┼"}.get(signs[zero], signs[zero])
    return [("".join(some), style) for style, some in groupby(signs, lambda sign: _STYLES.get(sign, "bar"))]


_FIGURES = 25
"""Cells of the three figures of an item."""
_HINT = "Mark a column with {study.mark}, go to another one and press {study.compare}: both are compared here."


@dataclass(frozen=True, slots=True)
class _Row:
    """A line: what is painted in a width, and the row of the study or the item that it is of."""

    parts: Callable[[int], Sequence[Part]]
    words: str = ""
    plotted: str = ""
    item: ItemPair | None = None

    @property
    def key(self) -> tuple[str, ...]:
        return (self.item.row, self.item.file, self.item.name) if self.item is not None else (self.plotted,)


def _text(text: str, style: str = "") -> _Row:
    return _Row(lambda width: [(text, style)], text)


class ComparisonList(RowList):
    """Sentences, then a row for each row of the study, then a row for each item; the cursor goes over the last two."""

    ALLOW_SELECT = False
    BINDINGS = bindings("study.open-pair")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.comparison: Comparison | None = None
        self._nouns = ("item", "items", "row", "rows")
        self._test: Mapping[str, Any] | None = None
        self._compared = 1
        self._problem = ""
        self._rows: list[_Row] = []

    # -- what is in it

    def put(self, comparison: Comparison | None, nouns: tuple[str, str, str, str]) -> None:
        """Show a comparison; ``nouns`` name an item and a row, each for one and for several."""
        sides = [one and (one.left, one.right) for one in (self.comparison, comparison)]
        self.comparison, self._nouns = comparison, nouns
        self._lay_out(keep=sides[0] == sides[1] and comparison is not None)

    def put_test(self, test: Mapping[str, Any] | None, compared: int, problem: str = "") -> None:
        """Show the test of this comparison, adjusted for ``compared`` ones; None while it is being drawn."""
        self._test, self._compared, self._problem = test, compared, problem
        self._lay_out(keep=True)

    @property
    def _row(self) -> _Row | None:
        return self._rows[self.cursor] if 0 <= self.cursor < len(self._rows) else None

    @property
    def selected(self) -> ItemPair | None:
        return self._row.item if self._row is not None else None

    @property
    def selected_row(self) -> str:
        """The row of the study under the cursor, "" elsewhere."""
        return self._row.plotted if self._row is not None else ""

    def _lay_out(self, *, keep: bool) -> None:
        before, found = self._row if keep else None, self.comparison
        width = max(20, self.text_width)
        self._rows = list(
            self._all_rows(found, width) if found is not None else _wrapped(with_keys(_HINT), width, "dim")
        )
        keys = [row.key if self.selectable(at) else None for at, row in enumerate(self._rows)]
        self.rows_changed(cursor=keys.index(before.key) if before is not None and before.key in keys else 0)
        if before is None:
            self.scroll_to(y=0, animate=False, immediate=True)

    def _all_rows(self, found: Comparison, width: int) -> Iterable[_Row]:
        if not found.comparable:
            differing = f"Not comparable, made under other conditions (A and B): {'; '.join(found.differing)}."
            yield from _wrapped(differing, width, "strong")
            return
        item, items, row, rows = self._nouns
        difference, measure = found.difference, found.measure
        size = count(len(found.values), item, items)
        mean = f"{signed(difference.value, measure)} {bounds(difference.interval, measure, difference=True)}".rstrip()
        yield from _wrapped(f"{mean}  {measure}, {size} of both", width, "strong")
        yield from _wrapped(self._test_words(), width)
        names = max(len(items), len(rows)) + 2
        yield _text(f" {items:<{names}}{_tally(difference.tasks)}")
        yield _text(f" {rows:<{names}}{_tally(difference.repositories)}")
        yield from _wrapped(difference.interval.words, width, "dim")
        if found.judged is not None:
            (a, of_a), (b, of_b) = found.judged
            yield from _wrapped(f"A {a:,} of {of_a:,}, B {b:,} of {of_b:,} that were judged", width)
        yield from _wrapped(_left_out(found), width, "dim")
        if found.by_row:
            yield _text(f" Difference by {row}", "group")
            yield from _forest(found)
        pairs = [one for one in found.pairs if one.left is not None and one.right is not None]
        if pairs:
            yield _Row(_heading)
        for pair in pairs:
            words = f"{pair.row} {pair.file} {pair.name}"
            yield _Row(partial(_item, pair, measure), words, item=pair)

    def _test_words(self) -> str:
        if self._problem:
            return f"p {NOTHING}  {self._problem}"
        if self._test is None:
            return f"p {UNKNOWN}  paired permutation test"
        holm, several = self._test.get("p_holm"), self._compared > 1
        adjusted = f"; by Holm {chance(holm)} of {self._compared} compared here" if holm is not None and several else ""
        return f"{self._test.get('test', '')}{adjusted}"

    # -- painting

    def on_resize(self) -> None:
        self._lay_out(keep=True)

    def row_count(self) -> int:
        return len(self._rows)

    def selectable(self, index: int) -> bool:
        return bool(self._rows[index].plotted or self._rows[index].item)

    def words_of(self, index: int) -> str:
        return self._rows[index].words

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        return self._rows[index].parts(width)


def _wrapped(text: str, width: int, style: str = "") -> list[_Row]:
    return [_text(f" {line}", style) for line in textwrap.wrap(one_line(text, 1000), width - 2)]


def _left_out(found: Comparison) -> str:
    said = [f"{found.undefined:,} without a value on one side"] if found.undefined else []
    only = ((found.only_left, "A"), (found.only_right, "B"))
    said += [f"{number:,} only under {side}" for number, side in only if number]
    if found.apart:
        said.append(f"{', '.join(sorted(found.apart))}, made otherwise ({'; '.join(found.differing)})")
    return f"Left out: {', '.join(said)}." if said else ""


def _forest(found: Comparison) -> Iterable[_Row]:
    bounds = [end for one in found.by_row.values() for end in (one.value, one.interval.low, one.interval.high)]
    scale = axis([0.0, *(end for end in bounds if end is not None)])
    longest = max(map(len, found.by_row))

    def divided(width: int) -> tuple[int, int]:
        names = min(longest + 3, max(10, width // 3))
        plot = width - names - 10
        return (names, plot) if plot >= _LEAST else (width - 10, 0)

    def plotted(name: str, one: Difference, width: int) -> Sequence[Part]:
        names, plot = divided(width)
        shown = fit(f"  {shortened(one_line(name, 400), names - 3)}", names)
        parts = forest_row(one, scale, plot) if plot else []
        return [(shown, ""), *parts, (f"{signed(one.value, found.measure):>9} ", "")]

    def ticks(width: int) -> Sequence[Part]:
        names, plot = divided(width)
        return [(" " * names, ""), (scale.written(plot).replace("-", "−"), "dim")] if plot else []

    for name, one in found.by_row.items():
        yield _Row(partial(plotted, name, one), name, plotted=name)
    yield _Row(ticks)


def _heading(width: int) -> Sequence[Part]:
    names = max(8, width - _FIGURES)
    return [(f"{fit(' Items that differ most', names)}{'A':>8}{'B':>8}{'B − A':>8} ", "group")]


def _item(pair: ItemPair, measure: str, width: int) -> Sequence[Part]:
    names, gap = max(8, width - _FIGURES), pair.difference
    left, right = (figure(one.value if one is not None else None, measure) for one in (pair.left, pair.right))
    return [
        (fit(f"  {_called(pair, names - 3)}", names), ""),
        (f"{left:>8}{right:>8}", ""),
        (f"{signed(gap, measure):>8} ", "" if not gap else "good" if gap > 0 else "poor"),
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
