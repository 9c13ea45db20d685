"""The leaderboard of agents: where each stands by its score, with what it did for it and how much repeats differ."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.studies.declaration import AGENTS
from workbench.studies.outcome import ColumnSummary, Mean, StudyOutcome, score_of
from workbench.studies.reading import TrialTally

GOOD = 60.0
"""Points of 100 above which AEO-Bench counts a README as good."""


@dataclass(frozen=True, slots=True)
class LeaderLine:
    """One column of a study of agents.

    Attributes:
        place: From 1; those of equal means share one, None without a score.
        summary: The column, with its mean and interval over cases.
        tiers: Mean points of the four tiers, unweighted over trials; None where no trial has any.
        steps: Mean steps of a trial.
        tokens: Mean tokens of a trial.
        cost_usd: Mean cost of a trial, None where no price is known.
        seconds: Mean seconds of a trial.
        above: Share of trials with more than :data:`GOOD` points.
        spread: Standard deviation between repeats of a case, pooled over cases; None with one repeat each.
        by_judge: Mean score by judge, over the trials that it scored.
        trials: Trials with a score.
    """

    place: int | None
    summary: ColumnSummary
    tiers: tuple[float | None, ...]
    steps: float | None
    tokens: float | None
    cost_usd: float | None
    seconds: float | None
    above: float | None
    spread: float | None
    by_judge: Mapping[str, float]
    trials: int

    @property
    def mean(self) -> Mean:
        """Its mean score."""
        return self.summary.means["score"]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "place": self.place,
            "column": self.summary.column.name,
            "score": self.mean.to_json(),
            "tiers": list(self.tiers),
            "steps": self.steps,
            "tokens": self.tokens,
            "cost": self.cost_usd,
            "seconds": self.seconds,
            "above_60": self.above,
            "spread": self.spread,
            "by_judge": dict(self.by_judge),
            "trials": self.trials,
        }


def leaderboard(outcome: StudyOutcome) -> tuple[LeaderLine, ...]:
    """Return the columns of a study of agents from the best to the worst, those without a score last.

    Raises:
        ValueError: It is not of agents.
    """
    if outcome.study.kind != AGENTS:
        raise ValueError("a leaderboard is of agents")
    known = [one for one in outcome.by_column if one.means["score"].value is not None]
    known.sort(key=lambda one: (-(one.means["score"].value or 0.0), one.column.name))
    lines = []
    for summary in known:
        mine = summary.means["score"].value or 0.0
        better = sum((one.means["score"].value or 0.0) - mine > 1e-9 for one in known)
        lines.append(_line(better + 1, summary, outcome))
    rest = [one for one in outcome.by_column if one.means["score"].value is None]
    return (*lines, *(_line(None, one, outcome) for one in rest))


def _line(place: int | None, summary: ColumnSummary, outcome: StudyOutcome) -> LeaderLine:
    by_case = {row: outcome.cell(row, summary.column).work.trials for row in outcome.rows}
    trials = [trial for mine in by_case.values() for trial in mine if score_of(trial, outcome.scale) is not None]
    scores = [score_of(trial, outcome.scale) or 0.0 for trial in trials]
    costs = [trial.cost_usd for trial in trials if trial.cost_usd is not None]
    return LeaderLine(
        place=place,
        summary=summary,
        tiers=tuple(_tier(trials, number, outcome.scale) for number in range(4)),
        steps=_mean([float(trial.steps) for trial in trials]),
        tokens=_mean([float(trial.tokens) for trial in trials]),
        cost_usd=_mean(costs),
        seconds=_mean([trial.seconds for trial in trials]),
        above=_mean([float(score > GOOD) for score in scores]),
        spread=_spread([[score_of(trial, outcome.scale) for trial in mine] for mine in by_case.values()]),
        by_judge=_by_judge(trials, outcome.scale[0]),
        trials=len(trials),
    )


def _tier(trials: Sequence[TrialTally], number: int, scale: tuple[str, str]) -> float | None:
    return _mean([points for trial in trials if (points := trial.scores[scale][2][number]) is not None])


def _spread(cases: Sequence[Sequence[float | None]]) -> float | None:
    """Return the standard deviation within cases, pooled: each case counts with its degrees of freedom."""
    squares, freedom = 0.0, 0
    for scores in cases:
        known = [one for one in scores if one is not None]
        if len(known) > 1:
            squares += statistics.variance(known) * (len(known) - 1)
            freedom += len(known) - 1
    return (squares / freedom) ** 0.5 if freedom else None


def _by_judge(trials: Sequence[TrialTally], rubric: str) -> dict[str, float]:
    judges = sorted({judge for trial in trials for of, judge in trial.scores if of == rubric})
    found = {judge: [score_of(trial, (rubric, judge)) for trial in trials] for judge in judges}
    means = {judge: _mean([one for one in scores if one is not None]) for judge, scores in found.items()}
    return {judge: mean for judge, mean in means.items() if mean is not None}


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None
