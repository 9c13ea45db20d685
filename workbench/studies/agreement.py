"""Do judges of the same trials agree? Kendall's tau over trials, the mean difference, and whether they rank agents alike."""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass
from typing import Any

from workbench.statistics.rankings import kendall_tau
from workbench.studies.outcome import StudyOutcome
from workbench.studies.values import score_of


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """Two judges by one rubric.

    Attributes:
        left: One judge.
        right: The other.
        trials: Trials that both scored.
        tau: Kendall's tau of their scores of these; None where one has no order.
        difference: Mean points of the right one minus those of the left.
        columns_tau: Kendall's tau of their means by column.
    """

    left: str
    right: str
    trials: int
    tau: float | None
    difference: float
    columns_tau: float | None

    def to_json(self) -> dict[str, Any]:
        return {
            "left": self.left,
            "right": self.right,
            "trials": self.trials,
            "tau": self.tau,
            "difference": self.difference,
            "columns_tau": self.columns_tau,
        }


def judge_agreement(outcome: StudyOutcome) -> tuple[JudgeAgreement, ...]:
    """Return each two judges that scored the same trials of a study by its rubric."""
    rubric = outcome.scale[0]
    by_column = {
        column.name: [trial for row in outcome.rows for trial in outcome.cell(row, column).work.trials]
        for column in outcome.columns
    }
    every = [trial for trials in by_column.values() for trial in trials]
    judges = sorted({judge for trial in every for of, judge in trial.scores if of == rubric})
    found = []
    for left, right in itertools.combinations(judges, 2):
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
