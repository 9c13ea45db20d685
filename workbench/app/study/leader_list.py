"""The leaderboard of the agents of a study, and how far judges agree on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.binding import BindingType

from workbench.app.keys import bind
from workbench.app.study.wording import NOTHING, SCORE, bounds, count, figure, progress, share, signed
from workbench.app.toolkit.columns import Column, Columns
from workbench.app.toolkit.table import Table
from workbench.studies.agreement import JudgeAgreement
from workbench.studies.cells import Mean
from workbench.studies.leaderboard import GOOD, LeaderLine
from workbench.text import one_line, shortened


def _number(value: float | None, digits: int = 1) -> str:
    return NOTHING if value is None else f"{value:,.{digits}f}"


def _figure(
    title: str, width: int, priority: int, value: Callable[[LeaderLine], float | None], digits: int = 1
) -> Column[LeaderLine]:
    return Column(
        title=title,
        cell=lambda line: _number(value(line), digits),
        width=width,
        priority=priority,
        sort=value,
        descending=True,
    )


def _tier(number: int) -> Callable[[LeaderLine], float | None]:
    return lambda line: line.tiers[number][0] if number < len(line.tiers) else None


def _columns(lines: Sequence[LeaderLine]) -> tuple[Column[LeaderLine], ...]:
    def place(line: LeaderLine) -> str:
        return (NOTHING if line.place is None else f"{line.place}") + _of_cases(lines, line)

    return (
        Column(title="#", cell=place, width=3, widest=9, sort=lambda line: line.place),
        Column(title="agent", cell=lambda line: one_line(line.summary.title, 200), width=12, widest=60, text=True, shorten=shortened,
               sort=lambda line: line.summary.title),
        Column(title="score", cell=lambda line: (figure(line.mean.value, SCORE), "score"), width=6, sort=lambda line: line.mean.value,
               descending=True),
        Column(title="trials", cell=lambda line: progress(line.trials, line.trials + line.mean.undefined), width=9, priority=1),
        Column(title="interval", cell=lambda line: bounds(line.mean.interval, SCORE) or NOTHING, width=13, priority=5),
        *(_figure(f"T{number + 1}", 5, 4, _tier(number)) for number in range(4)),
        _figure("steps", 6, 3, lambda line: line.steps),
        _figure("tokens", 8, 6, lambda line: line.tokens, 0),
        _figure("$", 7, 2, lambda line: line.cost_usd, 3),
        _figure("s", 6, 8, lambda line: line.seconds, 0),
        Column(title=f"> {GOOD:.0f}", cell=lambda line: share(line.above), width=6, priority=2, sort=lambda line: line.above,
               descending=True),
        _figure("spread", 7, 7, lambda line: line.spread),
    )  # fmt: skip


class LeaderList(Table[LeaderLine]):
    """The agents, the best first, then what places rest on and how the judges agree."""

    LEAD = 1
    BINDINGS: ClassVar[list[BindingType]] = [bind("study.open-leader", "choose", "its column")]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__((), key=lambda line: line.summary.column.name, id=id)
        self.empty = "Only studies of agents have one: see Rankings."

    def show(self, lines: Sequence[LeaderLine], agreements: Sequence[JudgeAgreement]) -> None:
        self.columns = Columns(_columns(lines))
        self.notes = (*_rests_on(lines), *_judges(lines, agreements))
        self.put(lines)

    def words_of_row(self, row: LeaderLine) -> str:
        return row.summary.title


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
