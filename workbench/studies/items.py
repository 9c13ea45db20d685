"""One trial or task of a study under one cell, and what it has by a measure, or why it has nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from workbench.regeneration.passk import pass_at_k
from workbench.rubric.spread import Total
from workbench.session.rows import ScoreRow
from workbench.session.task_names import readable_id

POINTS = 100.0
"""Points of a trial are of so many, whatever its rubric's sum is."""
UNSCORED = "unscored"
SHARES = ("works", "claims")
"""Measures of agents that are shares of what was judged."""
DOUBTFUL, REPAIRED, CUT = "doubtful", "repaired", "cut"
"""What of candidates is counted beside pass@k, and what rankings stand without; answers of agents are cut, too."""
CREDITED, FORMATTED = "credited for missing facts", "with points from the format"
"""What of trials is counted beside their score: tier 3 is by rule, or the answer's format gave more than a tenth."""

pass_at = lru_cache(maxsize=100_000)(pass_at_k)
Scale = tuple[str, str]
"""Rubric and judge."""


class Missing(NamedTuple):
    """Items that are in no figure: how they stand (``unscored``, ``failed``, ``queued``…), why, and how many they are."""

    kind: str
    why: str
    items: int

    @property
    def brief(self) -> str:
        return f"{self.items:,} {self.kind}"

    @property
    def words(self) -> str:
        """Return ``3 unscored: The judge gave no answer.``."""
        return self.brief + (f": {self.why}" if self.why else "")


def brief(missing: Iterable[Missing]) -> str:
    kinds: Counter[str] = Counter()
    for one in missing:
        kinds[one.kind] += one.items
    return ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())


def counted_missing(found: Iterable[tuple[str, str] | Missing]) -> tuple[Missing, ...]:
    """Return what is missing with equal kinds and reasons counted together."""
    counts: Counter[tuple[str, str]] = Counter()
    for one in found:
        counts[one[0], one[1]] += one.items if isinstance(one, Missing) else 1
    return tuple(Missing(kind, why, count) for (kind, why), count in counts.items())


class TaskTally(NamedTuple):
    """One task under one cell.

    Of ``samples`` candidates ``waiting`` have no verdict, ``counted`` count and ``passed`` passed; ``doubtful`` and
    ``repaired`` are passes. ``cut`` of those that count were cut at the token limit, ``cut_passed`` of these passed.
    """

    task: str
    file: str
    function: str
    occurrence: int
    tests: int
    documented: int
    samples: int
    waiting: int
    counted: int
    passed: int
    doubtful: int = 0
    repaired: int = 0
    cut: int = 0
    cut_passed: int = 0

    @property
    def name(self) -> str:
        """Its readable id, by which the same function under another doc system is found."""
        return readable_id(self.file, self.function, self.occurrence)


@dataclass(frozen=True, slots=True)
class TrialTally:
    """One trial under one cell, with its scorecards and totals by rubric and judge.

    ``checks`` has what its check says by measure, as (good, judged, all): blocks that work of those that were run (``works``), claims
    that are true of those that can be said (``claims``). ``cut`` says that an answer was cut at the token limit.
    """

    trial: str
    repeat: int
    state: str
    error: str
    steps: int
    tokens: int
    cost_usd: float | None
    seconds: float
    scores: Mapping[tuple[str, str], ScoreRow] = field(default_factory=dict)
    checks: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    cut: bool = False
    readme: bool = True
    totals: Mapping[tuple[str, str], Total] = field(default_factory=dict)


def score_of(trial: TrialTally, scale: Scale) -> float | None:
    """Return the points of 100 of a trial, None where it has none by that rubric and judge: all tiers must be scored."""
    card = trial.scores.get(scale)
    return card.points if card is not None and trial.state == "done" else None


def value_of(trial: TrialTally, measure: str, scale: Scale) -> float | None:
    """Return what a trial has by a measure of agents, in points of 100, of its check too; None where it has none."""
    if measure == "score":
        return score_of(trial, scale)
    good, of, _ = trial.checks.get(measure, (0, 0, 0))
    return POINTS * good / of if of else None


def missing_of(trial: TrialTally, measure: str, scale: Scale) -> tuple[str, str] | None:
    """Return how a trial stands that has nothing by a measure, and why; None where it has."""
    if value_of(trial, measure, scale) is not None:
        return None
    if trial.state != "done":
        return trial.state, trial.error
    if measure == "score":
        return UNSCORED, _unscored(trial, scale)
    if measure in trial.checks:
        return "without a share", "no block was run" if measure == "works" else "nothing can be said of its claims"
    return "not checked", "" if trial.readme else "no README was handed in"


def _unscored(trial: TrialTally, scale: Scale) -> str:
    rubric, judge = scale
    card = trial.scores.get(scale)
    if card is not None:
        tiers = ", ".join(map(str, card.unscored))
        return card.problem or f"tier{'s' if len(card.unscored) > 1 else ''} {tiers} without points"
    others = sorted(trial.scores)
    if not others:
        return "it has no scores"
    same = [by for of, by in others if of == rubric]
    by = ", ".join(same) if same else ", ".join(f"{of} by {by}" for of, by in others)
    mine = judge if same else f"{rubric} by {judge}"
    return f"scored by {by}, this study by {mine}: rescore"


def pass_of(task: TaskTally, k: int, without: str = "") -> float | None:
    """Return pass@k of a task, None with fewer than k counted samples; ``without`` cut answers these are no samples, else no passes."""
    counted, passed = task.counted, task.passed
    if without == CUT:
        counted, passed = counted - task.cut, passed - task.cut_passed
    elif without:
        passed -= task.doubtful if without == DOUBTFUL else task.repaired
    return pass_at(counted, passed, k)
