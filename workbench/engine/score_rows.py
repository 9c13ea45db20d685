"""A scorecard as the session has it: the row by which trials are sorted and compared, beside the card itself."""

from __future__ import annotations

from workbench.rubric.scorecard import Scorecard
from workbench.session.rows import ScoreRow


def score_row(trial: str, card: Scorecard, blob: str, at: float, problem: str | None) -> ScoreRow:
    tiers = {number: tier.points for number, tier in card.tiers.items()}
    return ScoreRow(
        trial, card.rubric, card.judge, card.total, card.out_of,
        tiers.get(1), tiers.get(2), tiers.get(3), tiers.get(4), blob, at, problem,
    )  # fmt: skip
