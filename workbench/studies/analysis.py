"""The analysis of the doc-to-code paper for a study of one's own: metrics and correlations, leaking docs, strata, stable rankings.

What a report says beside the matrix, its comparisons and rankings; computed once here. Imports numpy and scipy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.errors import UsageError
from workbench.metrics.packages import MetricUnavailable, needed
from workbench.session.reader import SessionReader
from workbench.studies.beside_paper import BesidePaper, beside_paper
from workbench.studies.declaration import DOCS
from workbench.studies.outcome import StudyOutcome
from workbench.studies.strata import LeakLine, RankedPart, Stratum, leaks, stability, strata
from workbench.studies.task_facts import function_facts
from workbench.studies.text_metrics import TextMetrics, text_metrics

NO_TEXTS = "Metrics of texts are of studies of docs; this one has none."


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a study of docs says of its functions.

    Attributes:
        leaks: Docs that carry the code, by column.
        strata: Means by kinds of functions.
        stability: Rankings on parts of the functions, beside that on all.
        metrics: Metrics of texts and how they go with pass@k; None where scipy is missing.
        problem: Why there are no metrics, "" where there are.
        beside: The paper's figures beside this study's; None where they have no two doc systems in common.
    """

    leaks: tuple[LeakLine, ...]
    strata: tuple[Stratum, ...]
    stability: tuple[RankedPart, ...]
    metrics: TextMetrics | None
    problem: str = ""
    beside: BesidePaper | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "leaks": [one.to_json() for one in self.leaks],
            "strata": [one.to_json() for one in self.strata],
            "stability": [one.to_json() for one in self.stability],
            "metrics": None if self.metrics is None else self.metrics.to_json(),
            "problem": self.problem,
            "beside_the_paper": None if self.beside is None else self.beside.to_json(),
        }


def analyse(
    reader: SessionReader, outcome: StudyOutcome, metrics: Sequence[str] = (), *, model: Path | None = None
) -> Analysis | None:
    """Return the analysis of a study; None of one of agents, or without a task.

    Args:
        reader: The session that has it.
        outcome: The study.
        metrics: Metrics of texts by name; without any, the usual ones as far as their packages are installed.
        model: Folder with the weights of ``codebertscore``.

    Raises:
        UsageError: there is no metric of such a name, or one was named for a study of agents.
        MetricUnavailable: a package or model of a metric that was named is missing.
        SessionError: a session cannot be read.
    """
    if outcome.study.kind != DOCS:
        if metrics:
            raise UsageError(NO_TEXTS)
        return None
    functions = function_facts(reader, outcome)
    if not functions:
        return None
    problem, found = "", None
    try:
        needed("scipy", "how metrics go with pass@k")
    except MetricUnavailable as error:
        if metrics:
            raise
        problem = str(error)
    else:
        found = text_metrics(reader, outcome, functions, metrics, model=model)
    return Analysis(
        leaks(outcome, functions),
        strata(outcome, functions),
        stability(outcome, functions),
        found,
        problem,
        beside_paper(outcome),
    )
