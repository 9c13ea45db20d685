"""Lists of free-form lines for the comparison of two columns and for the rankings of doc systems."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from workbench.app.keys import bindings, with_keys
from workbench.app.study.view import UNKNOWN
from workbench.app.toolkit.plot import Axis, axis, interval_bar, place
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.virtual_view import Part
from workbench.base.text import NOTHING, many, one_line, percent, plural, shortened
from workbench.statistics.paired import Difference, WinTally
from workbench.statistics.rankings import EQUAL, PairOrder
from workbench.studies.comparing import ColumnComparison, ItemPair, Ranking, Setting
from workbench.studies.declaration import StudyColumn
from workbench.studies.outcome import StudyOutcome
from workbench.studies.wording import chance_words, difference_words, figure, left_out_words, signed


@dataclass(frozen=True, slots=True)
class ListLine:
    """A line rendered to a given width. If it has a ``key``, it is selectable and leads to the object ``of``."""

    parts: Callable[[int], Sequence[Part]]
    words: str = ""
    key: object = None
    of: Any = None


def _text(text: str, style: str = "") -> ListLine:
    return ListLine(lambda width: [(fit(text, width), style)], text)


class LineList(RowList):
    """A list of free-form lines."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: Sequence[ListLine] = ()

    def lay_out(self, lines: Iterable[ListLine], to: object = None) -> None:
        """Replace the lines and move the cursor to the one with the key ``to``, or to the first if there is none."""
        self.lines = tuple(lines)
        at = (place for place, line in enumerate(self.lines) if to is not None and line.key == to)
        self.rows_changed(cursor=next(at, 0))

    @property
    def line(self) -> ListLine | None:
        return self.lines[self.cursor] if 0 <= self.cursor < len(self.lines) else None

    @property
    def selected(self) -> Any:
        return self.line.of if self.line is not None else None

    def row_count(self) -> int:
        return len(self.lines)

    def selectable(self, index: int) -> bool:
        return self.lines[index].key is not None

    def words_of(self, index: int) -> str:
        return self.lines[index].words

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        return self.lines[index].parts(width)


# -- two columns


_MIN_PLOT = 11
"""The minimum width of a plot."""
_STYLES = {"●": "marked", "│": "rule", " ": "rule"}


def forest_row(one: Difference, scale: Axis, width: int) -> list[Part]:
    """Plot a difference in ``width`` cells, with a line at zero; without bounds, draw only the dot."""
    value = one.value or 0.0
    ends = (value if end is None else end for end in (one.interval.low, value, one.interval.high))
    signs = interval_bar([scale.share(end) for end in ends], width)
    zero = place(scale.share(0.0), width)
    signs[zero] = {" ": "│", "─": "┼"}.get(signs[zero], signs[zero])
    return [("".join(some), style) for style, some in groupby(signs, lambda sign: _STYLES.get(sign, "bar"))]


_FIGURES = 25
"""The width of the three figures of an item."""
_HINT = "Mark a column with {study.mark}, then press {study.compare} on another one to compare them here."


class ComparisonList(LineList):
    """A summary of the comparison, a line per row of the study, and a line per pair of items."""

    BINDINGS = bindings("study.open-pair")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.comparison: ColumnComparison | None = None
        self._nouns = ("item", "row")
        self._test: Mapping[str, Any] | None = None
        self._compared = 1
        self._problem = ""

    def put(self, comparison: ColumnComparison | None, outcome: StudyOutcome | None) -> None:
        sides = [one and (one.left, one.right) for one in (self.comparison, comparison)]
        self.comparison = comparison
        if outcome is not None:
            self._nouns = (outcome.study.item_noun, outcome.study.row_noun)
        self._lay_out(keep=sides[0] == sides[1] and comparison is not None)

    def put_test(self, test: Mapping[str, Any] | None, compared: int, problem: str = "") -> None:
        """Show the significance test, adjusted for ``compared`` comparisons; ``test`` is None until it is computed."""
        self._test, self._compared, self._problem = test, compared, problem
        self._lay_out(keep=True)

    def on_resize(self) -> None:
        self._lay_out(keep=True)

    def _lay_out(self, *, keep: bool) -> None:
        to = self.line.key if keep and self.line is not None else None
        width = max(20, self.text_width)
        found = self.comparison
        self.lay_out(
            self._all_rows(found, width) if found is not None else _wrapped(with_keys(_HINT), width, "dim"), to
        )
        if to is None:
            self.scroll_to(y=0, animate=False, immediate=True)

    def _all_rows(self, found: ColumnComparison, width: int) -> Iterable[ListLine]:
        if not found.comparable:
            differing = f"Not comparable, because the conditions differ (A and B): {'; '.join(found.differing)}."
            yield from _wrapped(differing, width, "strong")
            return
        item, row = self._nouns
        difference, measure = found.difference, found.measure
        interval = difference.interval
        mean = difference_words(difference.value, interval.low, interval.high, measure)
        yield from _wrapped(f"{mean}  {measure}, {plural(found.items, item)} of both", width, "strong")
        yield from _wrapped(self._test_words(), width)
        names = max(len(many(item)), len(many(row))) + 2
        yield _text(f" {many(item):<{names}}{_tally(difference.tasks)}")
        yield _text(f" {many(row):<{names}}{_tally(difference.repositories)}")
        yield from _wrapped(difference.interval.words, width, "dim")
        if found.judged is not None:
            (a, of_a), (b, of_b) = found.judged
            yield from _wrapped(f"A {a:,} of {of_a:,}, B {b:,} of {of_b:,} were judged", width)
        if text := left_out_words(found, "A", "B", row):
            yield from _wrapped(f"Left out: {text}.", width, "dim")
        if found.by_row:
            yield _text(f" Difference by {row}", "group")
            yield from _forest(found)
        pairs = [one for one in found.pairs if one.left is not None and one.right is not None]
        if pairs:
            yield ListLine(_heading)
        for pair in pairs:
            key = pair.row, pair.file, pair.name
            yield ListLine(partial(_item, pair, measure), " ".join(key), key, pair)

    def _test_words(self) -> str:
        if self._problem:
            return f"p {NOTHING}  {self._problem}"
        if self._test is None:
            return f"p {UNKNOWN}  paired permutation test"
        holm, several = self._test.get("p_holm"), self._compared > 1
        adjusted = (
            f"; by Holm {chance_words(holm)} of {self._compared} compared here" if holm is not None and several else ""
        )
        return f"{self._test.get('test', '')}{adjusted}"


def _wrapped(text: str, width: int, style: str = "") -> list[ListLine]:
    return [_text(f" {line}", style) for line in textwrap.wrap(one_line(text, 1000), width - 2)]


def _forest(found: ColumnComparison) -> Iterable[ListLine]:
    bounds = [end for one in found.by_row.values() for end in (one.value, one.interval.low, one.interval.high)]
    scale = axis([0.0, *(end for end in bounds if end is not None)])
    longest = max(map(len, found.by_row))

    def divided(width: int) -> tuple[int, int]:
        names = min(longest + 3, max(10, width // 3))
        plot = width - names - 10
        return (names, plot) if plot >= _MIN_PLOT else (width - 10, 0)

    def plotted(name: str, one: Difference, width: int) -> Sequence[Part]:
        names, plot = divided(width)
        shown = fit(f"  {shortened(one_line(name, 400), names - 3)}", names)
        parts = forest_row(one, scale, plot) if plot else []
        return [(shown, ""), *parts, (f"{signed(one.value, found.measure):>9} ", "")]

    def ticks(width: int) -> Sequence[Part]:
        names, plot = divided(width)
        return [(" " * names, ""), (scale.written(plot).replace("-", "−"), "dim")] if plot else []

    for name, one in found.by_row.items():
        yield ListLine(partial(plotted, name, one), name, name, name)
    yield ListLine(ticks)


def _heading(width: int) -> Sequence[Part]:
    names = max(8, width - _FIGURES)
    return [(f"{fit(' Items that differ most', names)}{'A':>8}{'B':>8}{'B − A':>8} ", "group")]


def _item(pair: ItemPair, measure: str, width: int) -> Sequence[Part]:
    names, gap = max(8, width - _FIGURES), pair.difference
    left, right = (figure(one.value if one is not None else None, measure) for one in (pair.left, pair.right))
    return [
        (fit(f"  {_pair_title(pair, names - 3)}", names), ""),
        (f"{left:>8}{right:>8}", ""),
        (f"{signed(gap, measure):>8} ", "" if not gap else "good" if gap > 0 else "poor"),
    ]


def _tally(one: WinTally) -> str:
    return f"B wins {one.wins:,}  ties {one.ties:,}  loses {one.losses:,}"


def _pair_title(pair: ItemPair, width: int) -> str:
    """Fit the row and name of a pair into ``width`` cells: drop the file first, then shorten both."""
    row, name = one_line(pair.row, 300), one_line(pair.name, 300)
    if len(row) + len(name) + 3 > width:
        name = name.rpartition("::")[2]
    if len(row) + len(name) + 3 > width:
        row = shortened(row, max(6, min(len(row), width - 3 - len(name), width // 2)))
    return f"{row} · {shortened(name, max(4, width - 3 - len(row)))}"


# -- rankings


Resampled = Mapping[tuple[str, str, str, str], float]
"""The share of resamples that keep the order, by (model, measure, better system, worse system)."""
Taus = Mapping[tuple[Setting, Setting], float | None]
_APART, _KEPT, _RESAMPLED = 8, 9, 11
"""The widths of the figures of a pair; the second is at least as wide as its heading."""


class RankingList(LineList):
    """Two lines per setting, and the pairs of the expanded one. Tau is relative to the expanded setting."""

    BINDINGS = bindings("study.open-ranking")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.weighting = ""
        self._all: tuple[Ranking, ...] = ()
        self._taus: Taus = {}
        self._resampled: Resampled | None = None
        self._open: Setting | None = None
        self._noun = "rows"
        self._problem = ""
        self._below = ["Ranking…"]

    def put(
        self,
        outcome: StudyOutcome | None,
        rankings: Sequence[Ranking],
        taus: Taus,
        refused: Sequence[tuple[StudyColumn, StudyColumn, Sequence[str]]],
    ) -> None:
        """Show the rankings, and the pairs that cannot be compared with the reasons why."""
        self._below = [] if rankings else ["No model has two systems to rank."]
        self._below += [
            f"Not comparable: {left.name} and {right.name}: {'; '.join(why)}" for left, right, why in refused
        ]
        self._all, self._taus = tuple(rankings), taus
        self._noun = many(outcome.study.row_noun) if outcome is not None else "rows"
        if self._open not in {one.setting for one in rankings}:
            self._open = rankings[0].setting if rankings else None
        self._arrange()

    def put_resampled(self, resampled: Resampled | None, problem: str = "") -> None:
        """Show the resampling results; ``resampled`` is None while they are being computed."""
        self._resampled, self._problem = resampled, problem
        self.refresh()

    def weigh(self) -> None:
        """Show only the settings with the next weighting, or all of them after the last one."""
        ways = ["", *dict.fromkeys(known.setting.weighting for known in self._all)]
        self.weighting = ways[(ways.index(self.weighting) + 1) % len(ways)] if self.weighting in ways else ""
        self._arrange()

    def toggle(self, ranking: Ranking) -> None:
        self._open = None if self._open == ranking.setting else ranking.setting
        self._arrange(to=ranking.setting)

    def _arrange(self, to: Setting | None = None) -> None:
        kept = to if to is not None or self.selected is None else self.selected[0].setting
        self.lay_out(self._all_lines(), kept)

    def _all_lines(self) -> Iterable[ListLine]:
        for one in self._all:
            words = one.setting.words
            if self.weighting in ("", one.setting.weighting):
                yield ListLine(partial(self._setting, one), words, one.setting, (one, None))
                yield ListLine(partial(_order, one))
                if one.setting == self._open and one.orders:
                    yield ListLine(self._heading)
                    for pair in one.orders:
                        message = f"{words} {pair.better} {pair.worse}"
                        yield ListLine(partial(self._pair, one, pair), message, (one.setting, pair), (one, pair))
        yield from (_text(f" {text}", "dim") for text in self._below)

    def _heading(self, width: int) -> Sequence[Part]:
        names, kept = self._divided(width)
        return [(f"{fit('    pair', names)}{'apart':>{_APART}}{self._noun:>{kept}}{'resampled':>{_RESAMPLED}}", "dim")]

    def _setting(self, ranking: Ranking, width: int) -> Sequence[Part]:
        setting, opened = ranking.setting, ranking.setting == self._open
        sign = "▾" if opened else "▸" if ranking.orders else " "
        names = max(10, width - 14)
        # Shorten the model name rather than the measure, which distinguishes the settings.
        after = setting.words.removeprefix(setting.model) if setting.model else f" · {setting.words}"
        model = shortened(one_line(setting.model, 300), max(4, names - len(after) - 3))
        return [
            (fit(f"{sign} {model}{after}" if setting.model else f"{sign}{after[2:]}", names), "group"),
            (f"{ranking.items:>7,}", "dim"),
            (f"{'tau' if opened else self._tau(setting):>6} ", "score"),
        ]

    def _divided(self, width: int) -> tuple[int, int]:
        kept = max(_KEPT, len(self._noun) + 1)
        return max(10, width - _APART - kept - _RESAMPLED), kept

    def _tau(self, setting: Setting) -> str:
        if self._open is None:
            return ""
        tau = self._taus.get((self._open, setting), self._taus.get((setting, self._open)))
        return figure(tau, 2).replace("-", "−")

    def _pair(self, ranking: Ranking, pair: PairOrder, width: int) -> Sequence[Part]:
        setting = ranking.setting
        if self._problem:
            drawn = NOTHING
        elif self._resampled is None:
            drawn = UNKNOWN
        else:
            drawn = percent(self._resampled.get((setting.model, setting.measure, pair.better, pair.worse)))
        names, wide = self._divided(width)
        half = (names - 8) // 2
        sign = ">" if pair.difference > EQUAL else "="
        text = f"    {shortened(one_line(pair.better, 200), half)} {sign} {shortened(one_line(pair.worse, 200), half)}"
        kept = f"{pair.repositories} of {pair.of}"
        return [
            (fit(text, names), ""),
            (f"{signed(pair.difference, setting.measure):>{_APART}}", "score"),
            (f"{kept:>{wide}}", ""),
            (f"{drawn:>{_RESAMPLED}}", ""),
        ]


def _order(ranking: Ranking, width: int) -> Sequence[Part]:
    text = ranking.words if ranking.items else "the systems have no item in common"
    return [("   ", ""), (fit(one_line(text, 600), width - 3).rstrip(), "" if ranking.items else "dim")]
