"""The figures of a study as text: the formats of a mean with its interval, a difference, a share and a p-value."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from workbench.base.text import NOTHING, fixed, plural
from workbench.base.text import signed as signed_number
from workbench.studies.cells import Mean, StudyCell, brief
from workbench.studies.comparing import ColumnComparison
from workbench.studies.declaration import USE, in_points
from workbench.studies.leaderboard import LeaderLine
from workbench.studies.outcome import ColumnSummary, StudyOutcome


def figure(value: float | None, by: str | int) -> str:
    """Format a number with ``by`` decimals, or with those of the measure ``by``: one for points, two for shares."""
    digits = by if isinstance(by, int) else 1 if in_points(by) else 2
    return fixed(value, digits)


def signed(value: float | None, by: str | int) -> str:
    """Format a difference with its sign; shares get an extra decimal."""
    return signed_number(value, by if isinstance(by, int) else 1 if in_points(by) else 3)


def bounds(low: float | None, high: float | None, by: str, write: Callable[[float | None, str], str] = figure) -> str:
    """Return `` [0.41, 0.73]``, or "" without bounds."""
    return "" if low is None or high is None else f" [{write(low, by)}, {write(high, by)}]"


def mean_words(mean: Mean, measure: str) -> str:
    """Return ``0.58 [0.41, 0.73]``, or only the mean if it has no bounds."""
    if mean.value is None:
        return NOTHING
    return figure(mean.value, measure) + bounds(mean.interval.low, mean.interval.high, measure)


def cell_words(cell: StudyCell, measure: str) -> str:
    """Return a cell's mean with its n, its missing items and, unless it is done, its state."""
    mean = cell.means[measure]
    if cell.work.trials:
        return trial_mean_words(mean, measure) + (doubt_words(cell.doubts) if measure == "score" else "")
    shown = mean_words(mean, measure)
    parts = [shown] if mean.value is not None or cell.state == "done" else []
    if cell.state != "done":
        planned = "?" if cell.planned is None else f"{cell.planned:,}"
        parts.append(f"({cell.state}, {cell.done:,} of {planned})" if cell.done else cell.state)
    return " ".join(parts) + doubt_words(cell.doubts)


def trial_mean_words(mean: Mean, measure: str) -> str:
    """Return a mean of trials with its basis: ``50.0 of 1 scored trial, 1 unscored``, ``100.0 (1 of 1 block)``."""
    text = mean_words(mean, measure)
    if mean.own is not None:
        text = f"{mean.own[0]:.1f} of {mean.own[1]:.1f} own points; overall {text}"
    if mean.judged is not None and mean.items:
        text += f" ({mean.judged_words(measure)}{'' if mean.interval.low is not None else '; too few for an interval'})"
    if not mean.missing:
        return text
    if mean.value is None:
        return brief(mean.missing)
    which = "scored trial" if measure == "score" else "measured README" if measure == USE else "checked README"
    return f"{text} of {plural(mean.items, which)}, {brief(mean.missing)}"


def column_words(outcome: StudyOutcome, column: ColumnSummary, measure: str) -> str:
    """Return the mean of a column, with the number of its cases, trials or tasks if some are missing."""
    mean, common = column.means[measure], outcome.common.get(measure)
    apart = "; not comparable" if column.apart else ""
    if in_points(measure):
        rows = f" over {mean.rows:,} {'case' if mean.rows == 1 else 'cases'}" if common and mean.items else ""
        return (
            trial_mean_words(mean, measure) + rows + (doubt_words(column.doubts) if measure == "score" else "") + apart
        )
    of = max(mean.items + mean.undefined, common.of if common is not None and not column.apart else 0)
    rest = f" of {mean.items:,} of {of:,} tasks" if mean.items < of else ""
    return mean_words(mean, measure) + rest + doubt_words(column.doubts) + apart


def part_words(mean: Mean, measure: str, of: int) -> str:
    """Return the mean over a part of the functions, with the number of functions if some of the part are missing."""
    return mean_words(mean, measure) + (f" of {mean.items:,}" if 0 < mean.items < of else "")


def doubt_words(doubts: Mapping[str, int]) -> str:
    """Return ``; 24 doubtful, 24 repaired, 3 cut``, or "" without doubts."""
    return "; " + ", ".join(f"{count:,} {kind}" for kind, count in doubts.items()) if doubts else ""


def difference_words(value: float | None, low: float | None, high: float | None, measure: str) -> str:
    """Return ``+0.050 [−0.010, +0.110]``."""
    return signed(value, measure) + bounds(low, high, measure, signed)


def judge_words(line: LeaderLine, judge: str, common: bool) -> str:
    """Return a judge's mean for an agent with the number of trials that it scored, or that every judge scored."""
    found = line.by_judge.get(judge)
    mean = None if found is None else found.common if common else found.mean
    return f"{figure(mean.value, 1)} of {mean.items:,}" if mean is not None and mean.items else NOTHING


def left_out_words(found: ColumnComparison, left: str, right: str, row: str) -> str:
    """Describe the items that a comparison of two columns excludes, or return "" if there are none.

    ``left`` and ``right`` are the titles of the columns.
    """
    parts = [f"{found.undefined:,} without a value on one side"] if found.undefined else []
    parts += [f"{n:,} only under {side}" for n, side in ((found.only_left, left), (found.only_right, right)) if n]
    if found.apart:
        parts.append(f"{row} {', '.join(sorted(found.apart))}, made otherwise: {'; '.join(found.differing)}")
    return ", ".join(parts)


def chance_words(p: float | None) -> str:
    """Format a p-value with four decimals; a smaller one is not shown as 0."""
    return NOTHING if p is None else f"{p:.4f}" if p >= 0.00005 else "< 0.0001"


def dollars(value: float | None) -> str:
    """Format a price in US dollars, without a sign that Markdown reads as maths; requests cost fractions of a cent."""
    return NOTHING if value is None else f"{value:,.4f} USD" if value else "0 USD"
