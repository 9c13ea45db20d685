"""The leaderboard of agents: ranking by score, effort, spread over repeats, and the agreement of judges."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.statistics.rankings import kendall_tau
from workbench.studies.cell_work import CellWork, TrialTally
from workbench.studies.cells import Mean, Missing, StudyCell, cell_of, over_rows, score_of
from workbench.studies.declaration import AGENTS, InJson
from workbench.studies.outcome import ColumnSummary, StudyOutcome

GOOD = 60.0
"""Points (out of 100) above which AEO-Bench considers a README good."""


@dataclass(frozen=True, slots=True)
class JudgeMean(InJson):
    """A judge's mean for an agent, over all trials that it scored and over those that all the study's judges scored."""

    mean: Mean
    common: Mean


@dataclass(frozen=True, slots=True)
class LeaderLine(InJson):
    """One column of a study of agents; figures per trial are means over the scored trials.

    Attributes:
        place: Rank, starting at 1, by the mean ``over_common``: the mean over the ``of`` cases that are scored in every
            column. It is None if the column is not comparable.
        tiers: Mean points of the four tiers, over the ``tier_trials`` trials in which each is scored.
        above: Share of trials with more than :data:`GOOD` points.
        spread: Standard deviation between repeats of a case, pooled over cases.
    """

    JSON = (
        "place of:of_cases over_common:over_common_cases summary.column:column summary.apart:not_comparable mean:score summary.means:means tiers tier_trials "
        "steps tokens cost_usd:cost seconds above:above_60 spread by_judge trials"
    )
    place: int | None
    of: int
    over_common: float | None
    summary: ColumnSummary
    tiers: tuple[float | None, ...]
    tier_trials: tuple[int, ...]
    steps: float | None
    tokens: float | None
    cost_usd: float | None
    seconds: float | None
    above: float | None
    spread: float | None
    by_judge: Mapping[str, JudgeMean]
    trials: int

    @property
    def mean(self) -> Mean:
        return self.summary.means["score"]

    @property
    def missing(self) -> tuple[Missing, ...]:
        return self.mean.missing


def leaderboard(outcome: StudyOutcome) -> tuple[LeaderLine, ...]:
    """Return the columns of a study of agents from best to worst; those without a place come last."""
    if outcome.study.kind != AGENTS:
        raise ValueError("only a study of agents has a leaderboard")
    of, means = _over_common(outcome)
    judges = _judges(outcome)
    lines = []
    for summary in outcome.by_column:
        mine = means.get(summary.column.name)
        place = None if mine is None else 1 + sum(other - mine > 1e-9 for other in means.values())
        lines.append(_line(place, of, mine, summary, outcome, judges))
    return tuple(
        sorted(
            lines,
            key=lambda one: (one.place is None, one.place or 0, -(one.mean.value or 0.0), one.summary.column.name),
        )
    )


def _over_common(outcome: StudyOutcome) -> tuple[int, Mapping[str, float]]:
    """Return the number of cases scored in every comparable column, and each column's mean over those cases."""
    if common := outcome.common.get("score"):
        return common.items, common.means
    having = [one for one in outcome.by_column if not one.apart and one.means["score"].value is not None]
    cases = having[0].means["score"].rows if having else 0
    return cases, {one.column.name: one.means["score"].value or 0.0 for one in having}


def _line(
    place: int | None,
    of: int,
    over_common: float | None,
    summary: ColumnSummary,
    outcome: StudyOutcome,
    judges: Sequence[str],
) -> LeaderLine:
    by_case = {row: outcome.cell(row, summary.column).work.trials for row in outcome.rows}
    every = [trial for mine in by_case.values() for trial in mine if trial.state == "done"]
    trials = [trial for trial in every if score_of(trial, outcome.scale) is not None]
    scores = [score_of(trial, outcome.scale) or 0.0 for trial in trials]
    costs = [trial.cost_usd for trial in trials if trial.cost_usd is not None]
    tiers = [_tier(every, number, outcome.scale) for number in range(4)]
    return LeaderLine(
        place=place,
        of=of,
        over_common=over_common,
        summary=summary,
        tiers=tuple(map(_mean, tiers)),
        tier_trials=tuple(map(len, tiers)),
        steps=_mean([float(trial.steps) for trial in trials]),
        tokens=_mean([float(trial.tokens) for trial in trials]),
        cost_usd=_mean(costs),
        seconds=_mean([trial.seconds for trial in trials]),
        above=_mean([float(score > GOOD) for score in scores]),
        spread=_spread([[score_of(trial, outcome.scale) for trial in mine] for mine in by_case.values()]),
        by_judge=_by_judge(outcome, summary, judges),
        trials=len(trials),
    )


def _tier(trials: Sequence[TrialTally], number: int, scale: tuple[str, str]) -> list[float]:
    # Tier 3 points that are credited for a case without facts are not the agent's own.
    counted = (
        trial for trial in trials if number != 2 or scale not in trial.totals or not trial.totals[scale].credited
    )
    cards = (trial.scores.get(scale) for trial in counted)
    return [points for card in cards if card is not None and (points := card.tiers[number]) is not None]


def _spread(cases: Sequence[Sequence[float | None]]) -> float | None:
    """Return the pooled standard deviation within cases; each case counts with its degrees of freedom."""
    squares, freedom = 0.0, 0
    for scores in cases:
        known = [one for one in scores if one is not None]
        if len(known) > 1:
            squares += statistics.variance(known) * (len(known) - 1)
            freedom += len(known) - 1
    return (squares / freedom) ** 0.5 if freedom else None


def _judges(outcome: StudyOutcome) -> list[str]:
    trials = (trial for cell in outcome.cells.values() for trial in cell.work.trials)
    return sorted({judge for trial in trials for of, judge in trial.scores if of == outcome.scale[0]})


def _by_judge(outcome: StudyOutcome, summary: ColumnSummary, judges: Sequence[str]) -> dict[str, JudgeMean]:
    rubric = outcome.scale[0]
    works = [outcome.cell(row, summary.column).work for row in outcome.rows]
    shared = [
        replace(
            work,
            trials=tuple(one for one in work.trials if all(score_of(one, (rubric, by)) is not None for by in judges)),
        )
        for work in works
    ]
    found = {}
    for judge in judges:
        mean, common = (
            over_rows("score", [_by(outcome, work, judge) for work in some], (rubric, judge))
            for some in (works, shared)
        )
        if mean.items:
            found[judge] = JudgeMean(mean, common)
    return found


def _by(outcome: StudyOutcome, work: CellWork, judge: str) -> StudyCell:
    return cell_of(work, outcome.study, (outcome.scale[0], judge))


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


@dataclass(frozen=True, slots=True)
class JudgeAgreement(InJson):
    """Agreement of two judges on the same trials by one rubric.

    It consists of Kendall's tau for their scores and for their means by column, and of the mean difference, right minus
    left.
    """

    left: str
    right: str
    trials: int
    tau: float | None
    difference: float
    columns_tau: float | None


def judge_agreement(outcome: StudyOutcome) -> tuple[JudgeAgreement, ...]:
    """Return the agreement of each pair of judges that scored the same trials of a study by its rubric."""
    rubric = outcome.scale[0]
    by_column = {
        column.name: [trial for row in outcome.rows for trial in outcome.cell(row, column).work.trials]
        for column in outcome.columns
    }
    found = []
    for left, right in itertools.combinations(_judges(outcome), 2):
        both: dict[str, list[tuple[float, float]]] = {}
        for column, trials in by_column.items():
            for trial in trials:
                a, b = score_of(trial, (rubric, left)), score_of(trial, (rubric, right))
                if a is not None and b is not None:
                    both.setdefault(column, []).append((a, b))
        pairs = [pair for mine in both.values() for pair in mine]
        if pairs:
            means = [tuple(statistics.fmean(side) for side in zip(*mine, strict=True)) for mine in both.values()]
            found.append(
                JudgeAgreement(
                    left,
                    right,
                    len(pairs),
                    kendall_tau([a for a, _ in pairs], [b for _, b in pairs]),
                    statistics.fmean(b - a for a, b in pairs),
                    kendall_tau([one[0] for one in means], [one[1] for one in means]) if len(means) > 1 else None,
                )
            )
    return tuple(found)
