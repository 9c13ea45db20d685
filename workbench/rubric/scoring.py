"""The front door of the room: one document in, one scorecard out."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.errors import UsageError
from workbench.rubric import aeo_bench, judging, strict
from workbench.rubric.judging import Brief, FactsLike, Judge, Question, ViewLike, unscored
from workbench.rubric.scorecard import Criterion, Scorecard, Spread

NO_FACTS_POINTS = 15.0
"""What the original gives tier 3 of a case that has no facts (pass it as ``without_facts`` when scoring such a case)."""


@dataclass(frozen=True, slots=True)
class RubricInfo:
    """One rubric for lists and menus; ``tiers`` is (number, title, maximum)."""

    name: str
    title: str
    description: str
    maximum: float
    tiers: tuple[tuple[int, str, float], ...]


_TIERS = ((1, "Structural", 15.0), (2, "Sections", 25.0), (3, "Accuracy", 30.0), (4, "Quality", 30.0))


def rubrics() -> tuple[RubricInfo, ...]:
    """Return the rubrics, the comparable one first."""
    return (
        RubricInfo(
            aeo_bench.NAME,
            "AEO-Bench",
            "the original's rules, weak ones included, so that scores compare with published ones",
            100.0,
            _TIERS,
        ),
        RubricInfo(
            strict.NAME,
            "Strict",
            "real headings with content, runnable fenced examples, every fact scored, metadata checked against schema.org",
            100.0,
            _TIERS,
        ),
    )


async def score(
    readme: str,
    metadata: object,
    *,
    parsed: bool,
    rubric: str,
    facts: FactsLike | None,
    reference_readme: str | None,
    view: ViewLike | None,
    judge: Judge,
    without_facts: float | None = None,
) -> Scorecard:
    """Score one document.

    Args:
        readme: The README; anything that is not text counts as empty.
        metadata: The metadata as it was parsed, of any kind.
        parsed: Whether the agent's answer parsed as JSON (True for a document that no agent wrapped in an answer).
        rubric: ``aeo-bench`` or ``strict``.
        facts: The case's hidden facts; None leaves the criteria that need them unscored.
        reference_readme: The README that people wrote, for tier 4; None if there is none.
        view: The repository, to tell files that exist from inventions; None if it is not at hand.
        judge: Who scores tiers 3 and 4.
        without_facts: Points for tier 3 of ``aeo-bench`` when ``facts`` is None: the original gives 15 to a case
            without facts (``NO_FACTS_POINTS``). None leaves the tier unscored.

    Raises:
        UsageError: there is no such rubric.
    """
    readme = readme if isinstance(readme, str) else ""
    accuracy: tuple[Question, ...]
    brief = Brief(rubric, (), readme, metadata, facts, reference_readme, view, 0, 0)
    if rubric == aeo_bench.NAME:
        criteria = aeo_bench.structural(readme, metadata, parsed=parsed) + aeo_bench.sections(readme, parsed=parsed)
        accuracy = judging.AEO_ACCURACY
        limits = (2_000, 2_500, 1_500)
    elif rubric == strict.NAME:
        criteria = strict.structural(brief, parsed=parsed) + strict.sections(brief, parsed=parsed)
        accuracy = judging.STRICT_ACCURACY
        limits = (20_000, 20_000, 10_000)
        without_facts = None
    else:
        known = " or ".join(info.name for info in rubrics())
        raise UsageError(f"There is no rubric {rubric!r}; use {known}.")
    quality = judging.QUALITY
    absent = (
        None if parsed and readme.strip() else ("the answer does not parse" if not parsed else "the README is empty")
    )
    if absent is not None:
        no_third = (
            parsed and facts is None and without_facts is None
        )  # with nothing to compare with, even silence is no mistake
        criteria += _no_facts(accuracy, None, judge.name) if no_third else _zero(3, accuracy, absent)
        criteria += _zero(4, quality, absent)
    else:
        if facts is None:
            criteria += _no_facts(accuracy, without_facts, judge.name)
        else:
            third = _brief(brief, accuracy, limits[0], limits[2])
            criteria += await judge.judge_tier(3, third)
        fourth = _brief(brief, quality, limits[1], limits[2])
        criteria += await judge.judge_tier(4, fourth)
    if rubric == strict.NAME:
        criteria += strict.must_mention(brief, parsed=parsed)
    criteria.sort(key=lambda criterion: criterion.tier)
    return Scorecard(rubric, judge.name, tuple(criteria), _spread(criteria))


def _brief(brief: Brief, questions: tuple[Question, ...], readme_limit: int, reference_limit: int) -> Brief:
    return Brief(
        brief.rubric,
        questions,
        brief.readme,
        brief.metadata,
        brief.facts,
        brief.reference_readme,
        brief.view,
        readme_limit,
        reference_limit,
    )


def _zero(tier: int, questions: Sequence[Question], reason: str) -> list[Criterion]:
    return [Criterion(tier, q.key, q.title, 0.0, q.maximum, f"nothing to judge: {reason}") for q in questions]


def _no_facts(questions: Sequence[Question], points: float | None, judge: str) -> list[Criterion]:
    if points is None:
        return unscored(3, questions, "there are no facts to compare with", judge)
    whole = sum(question.maximum for question in questions)
    reason = f"the case has no facts: {points:g} of {whole:g} for the tier, as in the original"
    return [Criterion(3, q.key, q.title, points * q.maximum / whole, q.maximum, reason) for q in questions]


def _spread(criteria: Sequence[Criterion]) -> tuple[Spread, ...]:
    """Return how far the repeats lie apart, for each judged criterion, tier and the total."""
    judged = [criterion for criterion in criteria if len(criterion.samples) > 1]
    repeats = min((len(criterion.samples) for criterion in judged), default=0)
    if repeats < 2:
        return ()
    found = [_spread_of(f"{c.tier}.{c.key}", c.samples) for c in judged]
    for tier in sorted({criterion.tier for criterion in judged}):
        mine = [criterion for criterion in criteria if criterion.tier == tier]
        if all(criterion.points is not None for criterion in mine):
            found.append(_spread_of(f"tier {tier}", _summed(mine, repeats)))
    if all(criterion.points is not None for criterion in criteria):
        found.append(_spread_of("total", _summed(criteria, repeats)))
    return tuple(found)


def _summed(criteria: Sequence[Criterion], repeats: int) -> tuple[float, ...]:
    return tuple(sum(c.samples[i] if len(c.samples) > 1 else c.points or 0.0 for c in criteria) for i in range(repeats))


def _spread_of(name: str, values: Sequence[float]) -> Spread:
    return Spread(name, len(values), statistics.fmean(values), min(values), max(values), statistics.stdev(values))
