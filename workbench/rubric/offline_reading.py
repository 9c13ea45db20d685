"""A README read once for the offline judge, and the form of its verdicts."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.rubric import commands, terms
from workbench.rubric.judging import Brief, Question
from workbench.rubric.markdown import Outline
from workbench.rubric.project import Project
from workbench.rubric.scorecard import Criterion, Evidence

JUDGE = "offline"


@dataclass(frozen=True, slots=True)
class Reading:
    """A README read once for all the questions of a tier."""

    readme: str
    outline: Outline
    words: list[terms.Token]
    commands: tuple[commands.Command, ...]
    project: Project


def read(brief: Brief, outline: Outline) -> Reading:
    """Read the README of a brief."""
    found = commands.commands(outline)
    return Reading(
        brief.readme, outline, terms.tokens(outline.text), found, Project.known_from(brief.facts, brief.view)
    )


def verdict(question: Question, points: float | None, reason: str, evidence: list[Evidence] | None = None) -> Criterion:
    """Return a criterion of tier 3 with its points rounded to a tenth and the judge named."""
    given = None if points is None else round(points, 1)
    return Criterion(
        3,
        question.key,
        question.title,
        given,
        question.maximum,
        f"offline judge: {reason}",
        tuple(evidence or ()),
        JUDGE,
    )
