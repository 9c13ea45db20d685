"""The leaderboard of the agents of a study, and how far judges agree on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType

from workbench.app.keys import bind
from workbench.app.study.wording import NOTHING, SCORE, bounds, count, figure, progress, share, signed
from workbench.app.toolkit.row_list import HeadedList, fit
from workbench.app.toolkit.virtual_view import Part
from workbench.studies.agreement import JudgeAgreement
from workbench.studies.cells import Mean
from workbench.studies.leaderboard import GOOD, LeaderLine
from workbench.text import one_line, shortened


@dataclass(frozen=True, slots=True)
class _Column:
    """A column; the higher its rank, the earlier it goes where there is no room."""

    title: str
    width: int
    rank: int
    cell: Callable[[LeaderLine], str]


def _number(value: float | None, digits: int = 1) -> str:
    return NOTHING if value is None else f"{value:,.{digits}f}"


def _tier(number: int) -> Callable[[LeaderLine], str]:
    return lambda line: _number(line.tiers[number][0]) if number < len(line.tiers) else NOTHING


_COLUMNS = (
    _Column("score", 6, 0, lambda line: figure(line.mean.value, SCORE)),
    _Column("trials", 9, 1, lambda line: progress(line.trials, line.trials + line.mean.undefined)),
    _Column("interval", 13, 5, lambda line: bounds(line.mean.interval, SCORE) or NOTHING),
    *(_Column(f"T{number + 1}", 5, 4, _tier(number)) for number in range(4)),
    _Column("steps", 6, 3, lambda line: _number(line.steps)),
    _Column("tokens", 8, 6, lambda line: _number(line.tokens, 0)),
    _Column("$", 7, 2, lambda line: _number(line.cost_usd, 3)),
    _Column("s", 6, 8, lambda line: _number(line.seconds, 0)),
    _Column(f"> {GOOD:.0f}", 6, 2, lambda line: share(line.above)),
    _Column("spread", 7, 7, lambda line: _number(line.spread)),
)
_NAME, _LEAST = 26, 12


class LeaderList(HeadedList):
    """Row 0 is the heading; below it the agents, the best first, then the judges."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [bind("study.open-leader", "choose", "its column")]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: tuple[LeaderLine, ...] = ()
        self._below: list[tuple[str, str]] = []
        self._said = "Only studies of agents have one: see Rankings."

    def put(self, lines: Sequence[LeaderLine], agreements: Sequence[JudgeAgreement]) -> None:
        """Show the agents."""
        self.lines = tuple(lines)
        self._below = [*_rests_on(self.lines), *_judges(self.lines, agreements)]
        self.rows_changed(cursor=max(1, self.cursor))

    @property
    def selected(self) -> LeaderLine | None:
        """The agent under the cursor."""
        return self.lines[self.cursor - 1] if 0 < self.cursor <= len(self.lines) else None

    def row_count(self) -> int:
        """Return how many lines there are, the heading included."""
        return len(self.lines) + len(self._below) + 1

    def selectable(self, index: int) -> bool:
        """The cursor stands on agents, and on judges to see them all."""
        return index > 0 and (index <= len(self.lines) or bool(self._below[index - len(self.lines) - 1][0]))

    def words_of(self, index: int) -> str:
        """Return the agent, or what is said of judges."""
        if index <= len(self.lines):
            return self.lines[index - 1].summary.title
        return self._below[index - len(self.lines) - 1][0]

    def _layout(self, width: int) -> tuple[int, list[_Column]]:
        columns = list(_COLUMNS)
        longest = max((len(line.summary.title) for line in self.lines), default=_LEAST)
        longest += max((len(_of_cases(self.lines, line)) for line in self.lines), default=0)
        names = 4 + min(longest + 1, _NAME)
        while sum(one.width + 1 for one in columns) + names > width and any(one.rank for one in columns):
            worst = max(one.rank for one in columns)
            columns = [one for one in columns if one.rank != worst]
        return max(_LEAST, min(width - sum(one.width + 1 for one in columns), longest + 5)), columns

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return the names of the columns."""
        if not self.lines:
            return [(fit(f" {self._said}", width), "dim")]
        names, columns = self._layout(width)
        return [(fit("  # agent", names), "group"), *((f" {one.title:>{one.width}}", "group") for one in columns)]

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return an agent, or a line on judges."""
        if index > len(self.lines):
            text, style = self._below[index - len(self.lines) - 1]
            return [(fit(f" {text}", width), style)]
        line = self.lines[index - 1]
        names, columns = self._layout(width)
        place = f"{f'{line.place}' if line.place is not None else NOTHING:>3}{_of_cases(self.lines, line)}"
        name = fit(f"{place} {shortened(one_line(line.summary.title, 200), names - len(place) - 2)}", names)
        cells = [(" " + fit(one.cell(line), one.width, right=True), "" if one.rank else "score") for one in columns]
        return [(name, ""), *cells]


def _of(mean: Mean | None) -> str:
    return f"{figure(mean.value, SCORE)} of {mean.items:,}" if mean is not None and mean.items else NOTHING


def _of_cases(lines: Sequence[LeaderLine], line: LeaderLine) -> str:
    """Return `` of 1``: over how many cases a place is, "" where all agents have all of these."""
    uneven = any(one.place is not None and one.mean.rows != one.of for one in lines)
    return f" of {line.of}" if uneven and line.place is not None else ""


def _rests_on(lines: Sequence[LeaderLine]) -> list[tuple[str, str]]:
    """Return lines of text on what places rest on where not all agents have the same, and what is in no figure, and why."""
    said = []
    if any(_of_cases(lines, one) for one in lines):
        cases = count(lines[0].of, "case that all have", "cases that all have")
        means = "; ".join(
            f"{one.summary.title} {figure(one.over_common, SCORE)}" for one in lines if one.place is not None
        )
        said.append(f"Places are of {cases}" + (f": {means}" if lines[0].of else ""))
    for one in lines:
        said += [f"{one.summary.title}: {missing.words}" for missing in one.missing]
        said += [f"{one.summary.title}: {number:,} {what}" for what, number in one.summary.doubts.items()]
        if one.mean.own is not None:
            own, of = one.mean.own
            said.append(
                f"{one.summary.title}: {own:.1f} of {of:.1f} own points; in all {figure(one.mean.value, SCORE)}"
            )
        if one.summary.apart:
            said.append(f"{one.summary.title} is not compared: {'; '.join(one.summary.apart)}")
    return [("", ""), *((one_line(text, 400), "dim") for text in said)] if said else []


def _judges(lines: Sequence[LeaderLine], agreements: Sequence[JudgeAgreement]) -> list[tuple[str, str]]:
    """Return lines of text with their styles: the agents by each judge, and how far each two judges agree."""
    judges = sorted({judge for line in lines for judge in line.by_judge})
    if len(judges) < 2:
        return []
    found = [("", ""), ("Judges side by side", "group")]
    for line in lines:
        title = shortened(one_line(line.summary.title, 200), 20)
        every = [(shortened(one_line(judge, 200), 20), line.by_judge.get(judge)) for judge in judges]
        found.append(
            (f"{title}: {' · '.join(f'{judge} {_of(one.mean if one else None)}' for judge, one in every)}", "")
        )
        if any(one is not None and one.common.items != one.mean.items for _, one in every):
            both = " · ".join(f"{judge} {_of(one.common if one else None)}" for judge, one in every)
            found.append((f"  on what all scored: {both}", ""))
    for one in agreements:
        left, right = (shortened(one_line(judge, 200), 20) for judge in (one.left, one.right))
        found.append((f"{right} − {left}: {signed(one.difference, SCORE)} on {one.trials:,} trials", "strong"))
        tau, columns = (_number(value, 2).replace("-", "−") for value in (one.tau, one.columns_tau))
        found.append((f"  Kendall's tau {tau} of trials, {columns} of agents", "dim"))
    return found
