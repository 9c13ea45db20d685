"""Rankings of the systems of a study under every setting, how alike they are, and how often each pair keeps its order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from workbench.app.keys import bindings
from workbench.app.study.wording import NOTHING, UNKNOWN, share, signed
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.virtual_view import Part
from workbench.statistics.rankings import EQUAL, PairOrder
from workbench.studies.comparing import Ranking, Setting
from workbench.studies.declaration import Column
from workbench.text import one_line, shortened

Resampled = Mapping[tuple[str, str, str, str], float]
"""Share of resamples that keep an order, by model, measure, better and worse system."""
Taus = Mapping[tuple[Setting, Setting], float | None]
_APART, _KEPT, _RESAMPLED = 8, 9, 11
"""Cells of the figures of a pair; the second needs at least its heading."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of a ranking; the cursor stands on its setting and on pairs of systems in it."""

    ranking: Ranking
    parts: Callable[[int], Sequence[Part]]
    selectable: bool = False
    pair: PairOrder | None = None


class RankingList(RowList):
    """Two lines for each setting; below the one that is open its pairs. Tau is to the setting that is open."""

    ALLOW_SELECT = False
    BINDINGS = bindings("study.open-ranking")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.weighting = ""
        self._all: tuple[Ranking, ...] = ()
        self._taus: Taus = {}
        self._resampled: Resampled | None = None
        self._open: Setting | None = None
        self._rows: list[_Row] = []
        self._noun = "rows"
        self._problem = ""
        self._below = ["Ranking…"]

    # -- what is in it

    def put(
        self,
        noun: str,
        rankings: Sequence[Ranking],
        taus: Taus,
        refused: Sequence[tuple[Column, Column, Sequence[str]]],
    ) -> None:
        """Show rankings, and which pairs are not comparable and why; ``noun`` is what several rows of the study are called."""
        self._below = [] if rankings else ["No model has two systems that could be ranked."]
        self._below += [
            f"Not comparable: {left.name} and {right.name}: {'; '.join(why)}" for left, right, why in refused
        ]
        self._all, self._taus, self._noun = tuple(rankings), taus, noun
        if self._open not in {one.setting for one in rankings}:
            self._open = rankings[0].setting if rankings else None
        self._arrange()

    def put_resampled(self, resampled: Resampled | None, problem: str = "") -> None:
        """Show what was drawn, None while it is being drawn."""
        self._resampled, self._problem = resampled, problem
        self.refresh()

    def weigh(self) -> None:
        """Show the settings of the next weighting only, after the last those of all."""
        ways = ["", *dict.fromkeys(known.setting.weighting for known in self._all)]
        self.weighting = ways[(ways.index(self.weighting) + 1) % len(ways)] if self.weighting in ways else ""
        self._arrange()

    @property
    def selected(self) -> tuple[Ranking, PairOrder | None] | None:
        if not 0 <= self.cursor < len(self._rows):
            return None
        row = self._rows[self.cursor]
        return row.ranking, row.pair

    def toggle(self, ranking: Ranking) -> None:
        self._open = None if self._open == ranking.setting else ranking.setting
        self._arrange(to=ranking.setting)

    def _arrange(self, to: Setting | None = None) -> None:
        kept = to if to is not None or self.selected is None else self.selected[0].setting
        self._rows = []
        for one in self._all:
            if self.weighting in ("", one.setting.weighting):
                self._rows += [_Row(one, partial(self._setting, one), True), _Row(one, partial(_order, one))]
                if one.setting == self._open and one.orders:
                    self._rows.append(_Row(one, self._heading))
                    self._rows += [_Row(one, partial(self._pair, one, pair), True, pair) for pair in one.orders]
        self.rows_changed(cursor=next((at for at, row in enumerate(self._rows) if row.ranking.setting == kept), 0))

    # -- painting

    def row_count(self) -> int:
        return len(self._rows) + len(self._below)

    def selectable(self, index: int) -> bool:
        return index < len(self._rows) and self._rows[index].selectable

    def words_of(self, index: int) -> str:
        row = self._rows[index]
        pair = f" {row.pair.better} {row.pair.worse}" if row.pair is not None else ""
        return row.ranking.setting.words + pair

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        if index < len(self._rows):
            return self._rows[index].parts(width)
        return [(fit(f" {self._below[index - len(self._rows)]}", width), "dim")]

    def _heading(self, width: int) -> Sequence[Part]:
        names, kept = self._divided(width)
        return [(f"{fit('    pair', names)}{'apart':>{_APART}}{self._noun:>{kept}}{'resampled':>{_RESAMPLED}}", "dim")]

    def _setting(self, ranking: Ranking, width: int) -> Sequence[Part]:
        setting, opened = ranking.setting, ranking.setting == self._open
        sign = "▾" if opened else "▸" if ranking.orders else " "
        names = max(10, width - 14)
        # The name of a model gives way: what it is measured by tells the settings apart.
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
        return NOTHING if tau is None else f"{tau:.2f}".replace("-", "−")

    def _pair(self, ranking: Ranking, pair: PairOrder, width: int) -> Sequence[Part]:
        setting = ranking.setting
        if self._problem:
            drawn = NOTHING
        elif self._resampled is None:
            drawn = UNKNOWN
        else:
            drawn = share(self._resampled.get((setting.model, setting.measure, pair.better, pair.worse)))
        names, wide = self._divided(width)
        half = (names - 8) // 2
        sign = ">" if pair.difference > EQUAL else "="
        said = f"    {shortened(one_line(pair.better, 200), half)} {sign} {shortened(one_line(pair.worse, 200), half)}"
        kept = f"{pair.repositories} of {pair.of}"
        return [
            (fit(said, names), ""),
            (f"{signed(pair.difference, setting.measure):>{_APART}}", "score"),
            (f"{kept:>{wide}}", ""),
            (f"{drawn:>{_RESAMPLED}}", ""),
        ]


def _order(ranking: Ranking, width: int) -> Sequence[Part]:
    said = ranking.words if ranking.items else "no item that all of them have"
    return [("   ", ""), (fit(one_line(said, 600), width - 3).rstrip(), "" if ranking.items else "dim")]
