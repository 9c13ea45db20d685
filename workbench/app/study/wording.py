"""How the figures of a study are written: no figure is computed here, and no widget is in sight."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.toolkit.header import Header, Part
from workbench.base.glyphs import DOUBTFUL, STATES
from workbench.base.text import NOTHING, duration, one_line, percent, plural
from workbench.studies.cells import brief
from workbench.studies.declaration import AGENTS, in_points
from workbench.studies.wording import figure, mean_words

if TYPE_CHECKING:
    from workbench.statistics.intervals import Interval
    from workbench.studies.cells import Mean, StudyCell
    from workbench.studies.declaration import Study
    from workbench.studies.outcome import StudyOutcome

UNKNOWN = "…"
"""Stands for a figure that is being drawn."""
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
    """Return ``[.41, .73]`` for a cell: whole points, shares without their zero; "" where there are none."""
    if interval.low is None or interval.high is None:
        return ""
    low, high = (f"{one:.0f}" if in_points(measure) else f"{one:.2f}" for one in (interval.low, interval.high))
    return f"[{_tight(low)}, {_tight(high)}]"


def _tight(text: str) -> str:
    known = {"0.00": "0", "1.00": "1"}
    return known.get(text, text.removeprefix("0") if text.startswith("0.") else text)


def progress(done: int, planned: int | None) -> str:
    """Return ``38/55``, or how many there are where it is not known of how many."""
    return f"{done:,}/{planned:,}" if planned is not None else f"{done:,}"


def fitting(width: int, *texts: str) -> str:
    """Return the first of some texts that has room, the last where none has."""
    return next((text for text in texts if len(text) <= width), texts[-1])


def cell_text(cell: StudyCell, measure: str, width: int) -> tuple[str, str]:
    """Return what stands in a cell of so many cells of the screen, and its style.

    A cell that is not done has the sign of its state; how far it is, and the mean so far, as there is room.
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
        # What does not fit is said of the cell under the cursor; the star says that there is something.
        texts = [" ".join([one, *marks]) for one in (whole, value)]
        return fitting(width, *texts, f"{value} {marks[0]}{'*' if len(marks) > 1 else ''}", f"{value}*"), ""
    if cell.state == "failed" and not cell.done:
        texts = [f"{sign} failed", sign]
    elif mean.value is not None:
        # What fits of the mean so far and of the progress; a failed cell goes no further.
        ended = cell.state in ("failed", "unscored")
        texts = [f"{value} {sign} {far}", f"{sign} {value if ended else far}", f"{sign} {value}"]
    else:
        texts = [f"{sign} {'waiting' if cell.state == 'queued' else far}", sign]
    return fitting(width, *texts), STYLES.get(cell.state, "unscored")


def _own_first(mean: Mean, value: str, width: int) -> str:
    """Return ``11.5/42 (69.4)``: the models' own points, then all, where there is room."""
    assert mean.own is not None
    own = f"{mean.own[0]:.1f}/{mean.own[1]:.0f}"
    return fitting(width, f"{own} ({value})", own)


def _marks(cell: StudyCell, measure: str) -> list[str]:
    """Return what of a cell that is done is to be known: doubtful passes, cut answers, of how much a share is, what has no value."""
    mean, doubts = cell.means[measure], cell.doubts
    parts = [f"{DOUBTFUL}{count:,}" if name == "doubtful" else f"{count:,} {name}" for name, count in doubts.items()]
    if mean.judged is not None and mean.items:
        parts = [f"{mean.judged[0]:,}/{mean.judged[1]:,}", *parts]
    if mean.undefined:
        parts.append(f"−{mean.undefined:,}")
    return parts


def mean_text(mean: Mean, rows: int, measure: str, width: int, of: int = 0) -> str:
    """Return a column's mean with what fits of its interval, or what it is of where that is not all: rows, trials or tasks.

    ``rows`` has the column with most; a mean of fewer than ``of`` items says so.
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
    """Return ``3 repositories × 5 doc systems``; columns of several models are called columns."""
    one_model = len({one.model for one in study.columns}) <= 1
    noun = "column" if not one_model else "agent" if study.kind == AGENTS else "doc system"
    return f"{plural(len(study.rows), study.row_noun)} × {plural(columns, noun)}"


_PRESSING = ("interrupted", "queued", "failed", "unscored", "cancelled", "missing")
"""States, what matters most first."""


def state_of(outcome: StudyOutcome, left: float | None = None) -> str:
    """Return how a study stands, with the sign of what matters most; ``left`` is how many seconds it will still take."""
    states = Counter(cell.state for cell in outcome.cells.values() if not cell.column.source)
    total = sum(states.values())
    if states["running"]:
        of = f" of {outcome.planned:,}" if outcome.planned is not None else " so far"
        return f"{STATES['running']} {outcome.done:,}{of}" + (f" · about {duration(left)} left" if left else "")
    first = next((one for one in _PRESSING if states[one]), "")
    of, key = f"{states[first]:,} of {plural(total, 'cell')}", key_of("study.resume")
    said = {
        "interrupted": f"interrupted: {key} resumes",
        "queued": f"{of} wait: {key} goes on",
        "failed": f"{of} failed" + (f", {states['unscored']:,} unscored" if states["unscored"] else ""),
        "missing": f"{of} not begun",
        "": f"{STATES['done']} done" if total else "results of others",
    }
    return f"{STATES.get(first, '')} {said.get(first, f'{of} {first}')}".strip()


def header(outcome: StudyOutcome, measure: str, place: str, left: float | None = None) -> Header:
    """Return the first line of the mode; ``left`` is how many seconds the study will still take."""
    cost = f"${outcome.cost_usd:.2f}" if outcome.cost_usd is not None else ""
    return (
        Part("study", rank=3),
        Part(outcome.study.name, rank=1, name=True),
        Part(place, rank=5),
        Part(shape(outcome.study, len(outcome.columns)), rank=4),
        Part(measure, rank=2),
        Part(cost, rank=2),
        Part(state_of(outcome, left), reason=True),
    )


def cell_sentence(outcome: StudyOutcome, cell: StudyCell, measure: str, part: str = "") -> str:
    """Return all that is to be said of a cell on a line: why it stopped first, then its figures and what they rest on.

    ``part`` is what of it is meant, where rows are in groups: a file, a stratum.
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
