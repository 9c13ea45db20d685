"""What the plots of trials show: scores by agent, and cost against score; no widget in sight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.results.trials import TrialLine
from workbench.rubric.spread import Spread, spread_of
from workbench.rubric.totals import Total, comparable

Agent = tuple[str, str]
"""An agent with its model."""


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of one agent's trials: points, or the share of the model's own points where a format gave some of them."""

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
    """What trials took against what they reached; ``left_out`` trials have no comparable score or no known ``x``.

    ``x_name`` and ``y_name`` are the axes' names with their units.
    """

    x_name: str
    y_name: str
    points: tuple[Point, ...]
    left_out: int


def scores_by_agent(lines: Sequence[TrialLine]) -> tuple[Scores, ...]:
    """Return the scores of some trials by agent and model, the best mean first; who has no score comes last."""
    totals = _drawn(lines)
    mine: dict[Agent, list[TrialLine]] = {}
    for line in lines:
        mine.setdefault((line.agent, line.model), []).append(line)
    found = []
    for agent, members in mine.items():
        drawn = [totals[line.id] for line in members if line.id in totals]
        values = tuple(one.points for one in drawn if one.points is not None)
        found.append(Scores(agent, values, spread_of(drawn, trials=len(members))))
    return tuple(sorted(found, key=lambda one: -1.0 if one.spread.mean is None else one.spread.mean, reverse=True))


def unit_of_scores(lines: Sequence[TrialLine]) -> str:
    """Return in what the scores of some trials are drawn."""
    totals = comparable([line.total for line in lines])
    if any(one.own for one in totals):
        return "% of own points"
    return "points" if not totals or totals[0].out_of == 100 else f"points of {totals[0].out_of:g}"


_TAKEN: tuple[tuple[str, Callable[[TrialLine], float | None]], ...] = (
    ("cost in $", lambda line: line.cost or None),
    ("tokens", lambda line: float(line.tokens) or None),
    ("seconds", lambda line: line.seconds),
)


def against_score(lines: Sequence[TrialLine]) -> Against:
    """Return cost against score; where no trial has a price, tokens; where none is counted, seconds."""
    totals = _drawn(lines)
    unit = f"score in {unit_of_scores(lines)}"
    for name, taken in _TAKEN:
        points = [
            Point((line.agent, line.model), x, total.points)
            for line in lines
            if (total := totals.get(line.id)) is not None
            and total.points is not None
            and (x := taken(line)) is not None
        ]
        if points:
            return Against(name, unit, tuple(points), len(lines) - len(points))
    return Against(_TAKEN[0][0], unit, (), len(lines))


def _drawn(lines: Sequence[TrialLine]) -> dict[str, Total]:
    """Return the totals that compare, by trial, on one axis; forks are left out, for a person took part in them."""
    own = [line for line in lines if not line.parent]
    basis = {(one.tiers, one.out_of) for one in comparable([line.total for line in own])}
    totals = {
        line.id: line.total
        for line in own
        if line.points is not None and (line.total.tiers, line.total.out_of) in basis
    }
    if not any(one.own for one in totals.values()):
        return totals
    parts = {trial: one.own or (one.points or 0.0, one.out_of) for trial, one in totals.items()}
    return {
        trial: Total(100 * points / out_of, 100.0, totals[trial].tiers) for trial, (points, out_of) in parts.items()
    }
