"""What the plots of trials show: scores by agent, and cost against score; no widget in sight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.app.trials.lines import TrialLine
from workbench.rubric.spread import Spread, spread_of, values_of

Agent = tuple[str, str]
"""An agent with its model."""


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of one agent's trials in points, or in percent where trials differ in what theirs are out of."""

    agent: Agent
    values: tuple[float, ...]
    spread: Spread


@dataclass(frozen=True, slots=True)
class Point:
    """A trial with a score: what it took (``x``) and what it reached (``y``)."""

    agent: Agent
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Against:
    """What trials took against what they reached; ``left_out`` trials have no score or no known ``x``.

    ``x_name`` and ``y_name`` are the axes' names with their units.
    """

    x_name: str
    y_name: str
    points: tuple[Point, ...]
    left_out: int


def scores_by_agent(lines: Sequence[TrialLine], places: Sequence[int]) -> tuple[Scores, ...]:
    """Return the scores of some trials by agent and model, the best mean first; who has no score comes last."""
    percent = values_of([(lines[place].points, lines[place].out_of) for place in places])[1]
    mine: dict[Agent, list[int]] = {}
    for place in places:
        mine.setdefault((lines[place].agent, lines[place].model), []).append(place)
    found = []
    for agent, members in mine.items():
        totals = [_total(lines[place], percent) for place in members]
        values, _ = values_of(totals)
        found.append(Scores(agent, tuple(values), spread_of(totals, trials=len(members))))
    return tuple(sorted(found, key=lambda one: -1.0 if one.spread.mean is None else one.spread.mean, reverse=True))


_TAKEN: tuple[tuple[str, Callable[[TrialLine], float | None]], ...] = (
    ("cost in $", lambda line: line.cost or None),
    ("tokens", lambda line: float(line.tokens) or None),
    ("seconds", lambda line: line.seconds),
)


def against_score(lines: Sequence[TrialLine], places: Sequence[int]) -> Against:
    """Return cost against score; where no trial has a price, tokens; where none is counted, seconds."""
    percent = values_of([(lines[place].points, lines[place].out_of) for place in places])[1]
    unit = "score in %" if percent else "score in points"
    for name, taken in _TAKEN:
        points = []
        for place in places:
            line = lines[place]
            score, x = _total(line, percent)[0], taken(line)
            if score is not None and x is not None:
                points.append(Point((line.agent, line.model), x, score))
        if points:
            return Against(name, unit, tuple(points), len(places) - len(points))
    return Against(_TAKEN[0][0], unit, (), len(places))


def _total(line: TrialLine, percent: bool) -> tuple[float | None, float]:
    return (line.share, 100.0) if percent else (line.points, line.out_of)
