"""The use of READMEs beside their scores, with their rank correlation. Imports numpy and scipy."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.results.contents import Contents
from workbench.results.usage import ReaderUse
from workbench.statistics.correlations import Pair, correlation


@dataclass(frozen=True, slots=True)
class ScoredUse:
    """A trial with a score and a measured README."""

    agent: str
    page: str
    points: float  # of 100, by the session's preferred rubric and judge
    use: float  # use@1


@dataclass(frozen=True, slots=True)
class UseAndScores:
    """Trials with both a score by one rubric and judge and a use@1, and Kendall's tau-b, or None if undefined."""

    judged: str
    trials: tuple[ScoredUse, ...]
    tau: float | None


def use_and_scores(contents: Contents, used: ReaderUse) -> UseAndScores | None:
    """Return the scored trials whose READMEs a reader used; trials without a complete score or use@1 are left out."""
    if not contents.judged:
        return None
    uses = {page.page: (page.context, page.use_at[0].value) for page in used.pages if page.use_at}
    found, pairs = [], []
    for trial in contents.trials:
        score = trial.score(contents.judged[0])
        context, value = uses.get(trial.row.readme_blob, ("", None))
        if score is not None and score.points is not None and value is not None:
            found.append(ScoredUse(trial.row.agent, context, score.points, value))
            pairs.append(Pair(trial.row.case_id, trial.row.id, score.points, value))
    if not found:
        return None
    rubric, judge = contents.judged[0]
    tau = correlation(pairs, "kendall").value if len(pairs) > 1 else None
    return UseAndScores(f"{rubric} ({judge})", tuple(found), tau)
