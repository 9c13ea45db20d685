"""A study as JSON values: the matrix with intervals, comparisons with tests, rankings, the leaderboard."""

from __future__ import annotations

from typing import Any

from workbench.statistics.permutation import RESAMPLES
from workbench.studies.analysis import Analysis
from workbench.studies.chances import chances, every_pair, resampled_orders
from workbench.studies.comparing import rankings, taus
from workbench.studies.declaration import AGENTS
from workbench.studies.leaderboard import judge_agreement, leaderboard
from workbench.studies.outcome import StudyOutcome


def study_json(
    outcome: StudyOutcome, *, analysis: Analysis | None = None, resamples: int = RESAMPLES
) -> dict[str, Any]:
    """Return a study with its comparisons, rankings and analysis as JSON values."""
    found = rankings(outcome)
    orders = resampled_orders(outcome, resamples=resamples)
    return {
        **outcome.to_json(),
        "declaration": outcome.study.to_json(),
        "comparisons": [
            one.to_json()
            for measure in outcome.study.measures
            for one in chances(outcome, every_pair(outcome), measure, resamples=resamples)
        ],
        "rankings": [one.to_json() for one in found],
        "taus": [
            {"left": left.words, "right": right.words, "tau": tau} for (left, right), tau in taus(found).items()
        ],
        "orders": [
            {
                "model": model, "measure": measure, "better": one.better, "worse": one.worse, "rows": one.repositories,
                "ties": one.ties, "of": one.of, "resampled": one.resampled,
            }
            for (model, measure), pairs in orders.items()
            for one in pairs
        ],
        **({} if analysis is None else {"analysis": analysis.to_json()}),
        **(
            {
                "leaderboard": [one.to_json() for one in leaderboard(outcome)],
                "judges": [one.to_json() for one in judge_agreement(outcome)],
            }
            if outcome.study.kind == AGENTS
            else {}
        ),
    }  # fmt: skip
