"""What a rubric is made of: rules, each an entry with its function, and questions for a judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workbench.rubric.judging import FactsLike, Question, ViewLike
from workbench.rubric.scorecard import Criterion, Evidence
from workbench.session.json_forms import TIER_NAMES

_UNPARSED = "not looked at: the answer does not parse"


@dataclass(frozen=True, slots=True)
class Document:
    """What a rule may look at.

    Attributes:
        readme: The README; "" where there is none.
        metadata: The metadata as it was parsed, of any kind.
        parsed: Whether the agent's answer parsed as JSON.
        facts: The case's hidden facts, None if it has none.
        view: The repository, None if it is not at hand.
    """

    readme: str
    metadata: object
    parsed: bool
    facts: FactsLike | None = None
    view: ViewLike | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a rule found: points (None for unscored, which is never 0), why, and what they rest on."""

    points: float | None
    reason: str
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """A criterion that a function scores.

    Attributes:
        tier: Number of the tier that it belongs to, see :data:`workbench.session.json_forms.TIER_NAMES`.
        key: Its name in scorecards, unique in its tier.
        title: Its name for a person.
        maximum: The most points that it gives; 0 for a remark.
        function: Looks at the document and returns points from 0 to ``maximum``.
        needs_answer: Whether an answer that does not parse gets 0 points without being looked at.
    """

    tier: int
    key: str
    title: str
    maximum: float
    function: Callable[[Document], Found]
    needs_answer: bool = True

    def apply(self, document: Document) -> Criterion:
        """Return the criterion with what the function found."""
        looked = document.parsed or not self.needs_answer
        found = self.function(document) if looked else Found(0.0, _UNPARSED)
        return Criterion(self.tier, self.key, self.title, found.points, self.maximum, found.reason, found.evidence)


@dataclass(frozen=True, slots=True)
class Rubric:
    """A list of criteria; to add one, add its entry.

    Attributes:
        name: Its name on the command line and in sessions.
        title: Its name for a person.
        description: What it asks for, one line.
        criteria: In the order in which they are shown within their tier.
        accuracy_limit: Characters of the README that a model judge sees for tier 3.
        quality_limit: Characters of the README that it sees for tier 4.
        reference_limit: Characters of the reference README that it sees.
        credits_missing_facts: Whether a case without facts gets the original's points for tier 3.
    """

    name: str
    title: str
    description: str
    criteria: tuple[Rule | Question, ...]
    accuracy_limit: int
    quality_limit: int
    reference_limit: int
    credits_missing_facts: bool = False

    @property
    def tiers(self) -> tuple[tuple[int, str, float], ...]:
        """Number, title and most points of each tier."""
        return tuple(
            (number, title, sum(entry.maximum for entry in self.criteria if entry.tier == number))
            for number, title in TIER_NAMES.items()
        )

    @property
    def maximum(self) -> float:
        return sum(entry.maximum for entry in self.criteria)

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(entry for entry in self.criteria if isinstance(entry, Rule))

    def questions(self, tier: int) -> tuple[Question, ...]:
        """Return the criteria of a tier that a judge scores."""
        return tuple(entry for entry in self.criteria if isinstance(entry, Question) and entry.tier == tier)
