"""A README read once for the offline judge, and the form of its verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.base.text import plural
from workbench.claims import shell, terms
from workbench.claims.page import Page
from workbench.rubric.grounding import Grounding
from workbench.rubric.judging import Brief, Question, UntrueClaim
from workbench.rubric.scorecard import Criterion, Evidence
from workbench.rubric.sources import OwnNames, sources_of
from workbench.session.judges import RULE

JUDGE = RULE
"""The judge's name in a scorecard. Raised with every change of its rules: points of two rules must not be mixed.

``offline`` was the first; people ask for the newest by ``offline``.
"""
CRITERIA_OF_CLAIMS = {"dependencies": ("extra", "python", "version"), "run_command": ("option", "command")}
"""Which criterion an untrue claim costs, by its kind; any other, and all where there are no facts, costs completeness."""
GUESSED = 0.4
"""What is left of the points for something true that anybody could have guessed, in a README that shows no knowledge."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A README read once for all the questions of a tier."""

    readme: str
    outline: Page
    words: list[terms.Token]
    commands: list[shell.Started]
    project: OwnNames
    grounding: Grounding
    claims: Mapping[str, Sequence[UntrueClaim]]

    @property
    def guess(self) -> float:
        """The factor (0.4–1) for what a stranger could have guessed: 1 if the README knows its project."""
        return GUESSED + (1 - GUESSED) * self.grounding.trust

    def untrue(self, key: str) -> tuple[float, str, list[Evidence]]:
        """Return the factor that untrue claims leave of a criterion, the reason, and evidence."""
        mine = self.claims.get(key, ())
        if not mine:
            return 1.0, "", []
        factor = 1 / (1 + 0.25 * len(mine))
        said = f"; all × {factor:.2f} for {plural(len(mine), 'untrue claim')}: {mine[0].reason}"
        return factor, said, [one.place for one in mine[:3]]


def read(brief: Brief, outline: Page) -> Reading:
    found = shell.started_by(outline)
    project = OwnNames.of(brief.facts, brief.view)
    grounding = Grounding(brief.readme, outline, project, sources_of(brief.view, brief.facts))
    claims: dict[str, list[UntrueClaim]] = {}
    for claim in brief.untrue:
        of_kind = (key for key, kinds in CRITERIA_OF_CLAIMS.items() if claim.kind in kinds)
        key = next(of_kind, "completeness") if brief.facts is not None else "completeness"
        claims.setdefault(key, []).append(claim)
    return Reading(brief.readme, outline, terms.tokens(outline.text), found, project, grounding, claims)


def verdict(question: Question, points: float | None, reason: str, evidence: list[Evidence] | None = None) -> Criterion:
    given, reason = None if points is None else round(points, 1), f"offline judge: {reason}"
    return Criterion(
        question.tier, question.key, question.title, given, question.maximum, reason, tuple(evidence or ()), JUDGE
    )
