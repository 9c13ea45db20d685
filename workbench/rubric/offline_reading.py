"""A README read once for the offline judge, and the form of its verdicts."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.rubric import commands, terms
from workbench.rubric.grounding import Grounding
from workbench.rubric.judging import Brief, Question
from workbench.rubric.markdown import Outline
from workbench.rubric.project import Project
from workbench.rubric.scorecard import Criterion, Evidence
from workbench.rubric.sources import sources_of
from workbench.session.judges import RULE

JUDGE = RULE
"""The judge's name in a scorecard. Raised with every change of its rules: points of two rules must not be mixed.

``offline`` was the first; people ask for the newest by ``offline``.
"""
GUESSED = 0.4
"""What is left of the points for something true that anybody could have guessed, in a README that shows no knowledge."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A README read once for all the questions of a tier."""

    readme: str
    outline: Outline
    words: list[terms.Token]
    commands: tuple[commands.Command, ...]
    project: Project
    grounding: Grounding

    @property
    def guess(self) -> float:
        """The factor (0.4–1) for what a stranger could have guessed: all of it where the README knows its project."""
        return GUESSED + (1 - GUESSED) * self.grounding.trust


def read(brief: Brief, outline: Outline) -> Reading:
    """Read the README of a brief."""
    found = commands.commands(outline)
    project = Project.known_from(brief.facts, brief.view)
    grounding = Grounding(brief.readme, outline, project, sources_of(brief.view, brief.facts))
    return Reading(brief.readme, outline, terms.tokens(outline.text), found, project, grounding)


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
