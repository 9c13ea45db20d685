"""Scores by agent: a dot for each trial over a bar for the mean and a standard deviation either way, numbers beside."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.app.keys import bindings
from workbench.app.toolkit.plot import axis, interval_bar, stacked
from workbench.app.toolkit.row_list import HeadedList, fit
from workbench.app.toolkit.virtual_view import Part
from workbench.app.trials.table import points
from workbench.results.trials import Agent, Scores
from workbench.text import shortened

_EACH = 2  # rows of an agent
_NUMBERS = 22  # trials, mean, sd
_LEAST = 12  # cells that a strip of dots needs


class SpreadPlot(HeadedList):
    """Row 0 has the axis; below it two rows for each agent with its model, the best mean first."""

    ALLOW_SELECT = False
    BINDINGS = bindings("trials.plot-open")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.scores: tuple[Scores, ...] = ()
        self._drawn: tuple[int, list[str], int] = 0, [], 1  # for which width, a strip each, trials of a dot

    def put(self, scores: tuple[Scores, ...]) -> None:
        """Show other scores; the cursor stays on its agent."""
        before = self.selected
        self.scores = scores
        self._axis = axis([value for one in scores for value in one.values])
        self._drawn = 0, [], 1
        at = next((place for place, one in enumerate(scores) if one.agent == before), 0)
        self.rows_changed(cursor=1 + at * _EACH)

    @property
    def selected(self) -> Agent | None:
        at = (self.cursor - 1) // _EACH
        return self.scores[at].agent if self.cursor > 0 and at < len(self.scores) else None

    def row_count(self) -> int:
        return 1 + len(self.scores) * _EACH

    def selectable(self, index: int) -> bool:
        return index > 0 and (index - 1) % _EACH == 0

    def _widths(self, width: int) -> tuple[int, int]:
        longest = max((len(" · ".join(one.agent)) for one in self.scores), default=10)
        names = max(17, min(longest + 2, width // 3))
        return names, width - names - _NUMBERS

    def heading_parts(self, width: int) -> Sequence[Part]:
        names, strip = self._widths(width)
        ticks = self._axis.written(strip) if self.scores and strip >= _LEAST else " " * max(0, strip)
        each = self._strips(strip)[1]
        dot = " a dot: 1 trial" if each == 1 else f" a dot: ≤ {each:,} trials"
        # The first tick may stand at the very edge of its strip.
        return [(fit(dot, names - 1) + " " + ticks + f"{'trials':>8}{'mean':>7}{'sd':>6} ", "dim")]

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        at, second = divmod(index - 1, _EACH)
        one = self.scores[at]
        names, strip = self._widths(width)
        spread = one.spread
        if second:
            low = f"{points(spread.low)} to {points(spread.high)}" if len(one.values) > 1 else ""
            return [(" " * names, ""), (self._bar(one, strip), "strong"), (fit(low, _NUMBERS - 1, right=True), "dim")]
        name = shortened(" · ".join(one.agent), names - 2)
        sd = "" if spread.sd is None else f"{spread.sd:.1f}"
        count = f"{spread.scored:,}" if spread.scored == spread.trials else f"{spread.scored:,}/{spread.trials:,}"
        numbers = f"{count:>8}{points(spread.mean):>7}{sd:>6} "
        return [(fit(f" {name}", names), ""), (self._strips(strip)[0][at], "bar"), (numbers, "")]

    def _strips(self, strip: int) -> tuple[list[str], int]:
        if strip < _LEAST:
            return [" " * max(0, strip)] * len(self.scores), 1
        if self._drawn[0] != strip:
            canvases, each = stacked([[self._axis.share(v) for v in one.values] for one in self.scores], strip, 1)
            self._drawn = strip, [canvas.row(0) for canvas in canvases], each
        return self._drawn[1:]

    def _bar(self, one: Scores, strip: int) -> str:
        mean, sd = one.spread.mean, one.spread.sd or 0.0
        if strip < _LEAST or mean is None:
            return " " * max(0, strip)
        low, middle, high = (self._axis.share(value) for value in (mean - sd, mean, mean + sd))
        return "".join(interval_bar([low, middle, high], strip))
