"""Formats the figures of a study; nothing is computed here."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.toolkit.header import Header, HeaderPart
from workbench.base.glyphs import DOUBTFUL, STATES
from workbench.base.text import NOTHING, duration, one_line, percent, plural
from workbench.studies.cells import brief
from workbench.studies.declaration import AGENTS, in_points
from workbench.studies.wording import figure, mean_words

if TYPE_CHECKING:
    from workbench.statistics.intervals import Interval
    from workbench.studies.cells import Cell, Mean
    from workbench.studies.declaration import Study
    from workbench.studies.outcome import StudyOutcome

UNKNOWN = "…"
"""Placeholder for a figure that is being computed."""
SCORE = "score"
STYLES = {
    "done": "passed",
    "running": "running",
    "interrupted": "paused",
    "failed": "failed",
    "queued": "waiting",
    "cancelled": "waiting",
}
CELL, COMPARISON, RANKINGS, LEADERBOARD, STUDIES = TABS = ("Cell", "Comparison", "Rankings", "Leaderboard", "Studies")


def tight_bounds(interval: Interval, measure: str) -> str:
    """Return ``[.41, .73]`` for a cell: whole points, shares without the leading zero; "" without bounds."""
    if interval.low is None or interval.high is None:
        return ""
    low, high = (f"{one:.0f}" if in_points(measure) else f"{one:.2f}" for one in (interval.low, interval.high))
    return f"[{_tight(low)}, {_tight(high)}]"


def _tight(text: str) -> str:
    known = {"0.00": "0", "1.00": "1"}
    return known.get(text, text.removeprefix("0") if text.startswith("0.") else text)


def progress(done: int, planned: int | None) -> str:
    """Return ``38/55``, or only the count if the total is unknown."""
    return f"{done:,}/{planned:,}" if planned is not None else f"{done:,}"


def fitting(width: int, *texts: str) -> str:
    """Return the first text that fits, else the last."""
    return next((text for text in texts if len(text) <= width), texts[-1])


def cell_text(cell: Cell, measure: str, width: int) -> tuple[str, str]:
    """Return the text of a cell for its width, and its style.

    An unfinished cell shows the sign of its state and, as space allows, its progress and the mean so far.
    """
    mean, sign, far = cell.means[measure], STATES.get(cell.state, "?"), progress(cell.done, cell.planned)
    value = figure(mean.value, measure)
    if cell.state == "missing":
        return NOTHING, "dim"
    if cell.state == "done" and mean.own is not None:
        return _own_first(mean, value, width), ""
    if cell.state == "done":
        marks, whole = _marks(cell, measure), f"{value} {tight_bounds(mean.interval, measure)}".rstrip()
        if not marks:
            return fitting(width, whole, value), ""
        # The star says that something did not fit; the line below the matrix has it in full.
        texts = [" ".join([one, *marks]) for one in (whole, value)]
        return fitting(width, *texts, f"{value} {marks[0]}{'*' if len(marks) > 1 else ''}", f"{value}*"), ""
    if cell.state == "failed" and not cell.done:
        texts = [f"{sign} failed", sign]
    elif mean.value is not None:
        # The mean so far and the progress, as space allows; failed cells have no progress.
        ended = cell.state in ("failed", "unscored")
        texts = [f"{value} {sign} {far}", f"{sign} {value if ended else far}", f"{sign} {value}"]
    else:
        texts = [f"{sign} {'waiting' if cell.state == 'queued' else far}", sign]
    return fitting(width, *texts), STYLES.get(cell.state, "unscored")


def _own_first(mean: Mean, value: str, width: int) -> str:
    """Return ``11.5/42 (69.4)``: the model's own points, then all if they fit."""
    assert mean.own is not None
    own = f"{mean.own[0]:.1f}/{mean.own[1]:.0f}"
    return fitting(width, f"{own} ({value})", own)


def _marks(cell: Cell, measure: str) -> list[str]:
    """Return the remarks on a finished cell: doubtful passes, cut answers, the judged share, missing values."""
    mean, doubts = cell.means[measure], cell.doubts
    parts = [f"{DOUBTFUL}{count:,}" if name == "doubtful" else f"{count:,} {name}" for name, count in doubts.items()]
    if mean.judged is not None and mean.items:
        parts = [f"{mean.judged[0]:,}/{mean.judged[1]:,}", *parts]
    if mean.undefined:
        parts.append(f"−{mean.undefined:,}")
    return parts


def mean_text(mean: Mean, rows: int, measure: str, width: int, of: int = 0) -> str:
    """Return the mean of a column with its interval, or with its basis if that is incomplete: rows, trials or tasks.

    ``rows`` is the maximum over the columns; a mean of fewer than ``of`` items is marked.
    """
    if mean.value is None:
        return fitting(width, brief(mean.missing) or NOTHING, NOTHING)
    value = figure(mean.value, measure)
    if mean.own is not None and not mean.undefined:
        return _own_first(mean, value, width)
    of = max(of, mean.items + mean.undefined)
    if mean.judged is not None:
        texts = [f"{value} {mean.judged[0]:,}/{mean.judged[1]:,}"]
    elif mean.items < of:
        said = brief(mean.missing) if mean.undefined and in_points(measure) else f"{mean.items:,} of {of:,}"
        texts = [f"{value} {said}", f"{value} {mean.items:,}/{of:,}"]
    elif mean.rows != rows:
        texts = [f"{value} of {mean.rows}"]
    else:
        texts = [f"{value} {tight_bounds(mean.interval, measure)}".rstrip()]
    return fitting(width, *texts, f"{value}*" if mean.items < of else value)


def shape(study: Study, columns: int) -> str:
    """Return ``3 repositories × 5 doc systems``; columns with several models are called columns."""
    one_model = len({one.model for one in study.columns}) <= 1
    noun = "column" if not one_model else "agent" if study.kind == AGENTS else "doc system"
    return f"{plural(len(study.rows), study.row_noun)} × {plural(columns, noun)}"


_PRESSING = ("interrupted", "queued", "failed", "unscored", "cancelled", "missing")
"""States, the most important first."""


def state_of(outcome: StudyOutcome, left: float | None = None) -> str:
    """Return the state of a study with the sign of the most important cell state.

    ``left`` is the remaining time in seconds.
    """
    states = Counter(cell.state for cell in outcome.cells.values() if not cell.column.source)
    total = sum(states.values())
    if states["running"]:
        of = f" of {outcome.planned:,}" if outcome.planned is not None else " so far"
        return f"{STATES['running']} {outcome.done:,}{of}" + (f" · about {duration(left)} left" if left else "")
    first = next((one for one in _PRESSING if states[one]), "")
    of, key = f"{states[first]:,} of {plural(total, 'cell')}", key_of("study.resume")
    said = {
        "interrupted": f"interrupted: {key} resumes",
        "queued": f"{of} queued: {key} resumes",
        "failed": f"{of} failed" + (f", {states['unscored']:,} unscored" if states["unscored"] else ""),
        "missing": f"{of} not started",
        "": f"{STATES['done']} done" if total else "results of others",
    }
    return f"{STATES.get(first, '')} {said.get(first, f'{of} {first}')}".strip()


def header(outcome: StudyOutcome, measure: str, place: str, left: float | None = None) -> Header:
    """Return the header; ``left`` is the remaining time in seconds."""
    cost = f"${outcome.cost_usd:.2f}" if outcome.cost_usd is not None else ""
    return (
        HeaderPart("study", rank=3),
        HeaderPart(outcome.study.name, rank=1, name=True),
        HeaderPart(place, rank=5),
        HeaderPart(shape(outcome.study, len(outcome.columns)), rank=4),
        HeaderPart(measure, rank=2),
        HeaderPart(cost, rank=2),
        HeaderPart(state_of(outcome, left), reason=True),
    )


def cell_sentence(outcome: StudyOutcome, cell: Cell, measure: str, part: str = "") -> str:
    """Return everything about a cell on one line: its problem first, then its figures and their basis.

    ``part`` is the part of the row if rows are grouped: a file, a stratum.
    """
    title = next(one.title for one in outcome.by_column if one.column.name == cell.column.name)
    mean = cell.means[measure]
    parts = [" · ".join(filter(None, (cell.row, part, title)))]
    if cell.problem:
        parts.append(f"{STATES.get(cell.state, '')} {cell.problem}".strip())
    elif cell.state == "missing":
        parts.append("nothing planned yet")
    elif cell.state != "done":
        parts.append(f"{STATES.get(cell.state, '?')} {cell.state} {progress(cell.done, cell.planned)}")
    if mean.value is not None:
        parts.append(f"{measure} {mean_words(mean, measure)}")
        parts.append(plural(mean.items, outcome.study.item_noun))
        if mean.own is not None:
            parts.append(f"own points {mean.own[0]:.1f} of {mean.own[1]:.1f}")
        parts += [one.words for one in mean.missing if not cell.problem]
        if mean.judged is not None:
            parts.append(mean.judged_words(measure))
    parts += [f"{count:,} {name}" for name, count in cell.doubts.items()]
    if cell.work.left_out:
        parts.append(f"left out: {', '.join(cell.work.left_out)}")
    if cell.documented is not None:
        parts.append(f"documented {percent(cell.documented)}")
    if mean.value is not None:
        parts.append(mean.interval.words)
    return one_line(" · ".join(parts), 600)
