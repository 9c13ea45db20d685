"""What a judge is asked and the protocol that every judge follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from workbench.rubric.scorecard import Criterion, Evidence, Scorecard


class FactsLike(Protocol):
    """The hidden facts of a test case, as ``workbench.catalog.Facts`` has them."""

    @property
    def main_purpose(self) -> str:
        """What the program is for, in a sentence."""

    @property
    def dependencies(self) -> tuple[str, ...]:
        """Third-party packages that it needs to run."""

    @property
    def run_command(self) -> str:
        """How it is run."""

    @property
    def key_features(self) -> tuple[str, ...]:
        """What it can do."""

    @property
    def must_mention(self) -> tuple[str, ...]:
        """Words that a README has to contain."""

    @property
    def main_file(self) -> str:
        """The file that is run or imported."""


class FileLike(Protocol):
    """One visible file of the repository."""

    @property
    def path(self) -> str:
        """Relative, with forward slashes."""


class ViewLike(Protocol):
    """The repository as the agent saw it, as ``workbench.repository.View`` has it."""

    @property
    def files(self) -> Sequence[FileLike]:
        """All visible files."""


@dataclass(frozen=True, slots=True)
class Question:
    """One criterion that a judge scores: from 0 to ``maximum``, by the rule in ``guidance``."""

    key: str
    title: str
    maximum: float
    guidance: str
    tier: int = 3


@dataclass(frozen=True, slots=True)
class UntrueClaim:
    """A claim of the README that was looked up in the repository and is not so.

    Attributes:
        kind: See :class:`workbench.checking.ClaimResult`.
        reason: Why, in a few words.
        place: Where it stands.
    """

    kind: str
    reason: str
    place: Evidence


@dataclass(frozen=True, slots=True)
class Brief:
    """Everything that a judge may look at for one tier.

    ``readme_limit`` and ``reference_limit`` are the characters that a model judge is shown; the offline judge reads
    the whole README. ``untrue`` is what was looked up by whoever asks; no judge looks anything up by itself.
    """

    rubric: str
    questions: tuple[Question, ...]
    readme: str
    metadata: object
    facts: FactsLike | None
    reference_readme: str | None
    view: ViewLike | None
    readme_limit: int
    reference_limit: int
    untrue: tuple[UntrueClaim, ...] = ()


class Judge(Protocol):
    """Scores the questions of one tier. A question that cannot be scored comes back with points None, never 0."""

    @property
    def name(self) -> str:
        """Return what stands beside the points: ``offline`` or the model's name."""

    async def judge_tier(self, tier: int, brief: Brief) -> list[Criterion]:
        """Return one criterion for each question of the brief, in its order."""


#: How the reason of a criterion begins that has no points because the judge gave no usable answer. What is unscored by
#: design (a case without facts) says something else: only a failure can be asked for again.
FAILED = "judge failed: "


def unscored(tier: int, questions: Sequence[Question], reason: str, judge: str) -> list[Criterion]:
    """Return the questions with points None and one reason."""
    return [Criterion(tier, q.key, q.title, None, q.maximum, reason, (), judge) for q in questions]


class Kept:
    """A judge that keeps what an earlier card has of it, and is asked only for the tiers on which it failed.

    Args:
        judge: Who is asked.
        card: The earlier card.
    """

    def __init__(self, judge: Judge, card: Scorecard) -> None:
        self.name = judge.name
        self._judge = judge
        self._card = card

    async def judge_tier(self, tier: int, brief: Brief) -> list[Criterion]:
        """Return one criterion for each question of the brief."""
        had = {criterion.key: criterion for criterion in self._card.criteria if criterion.tier == tier}
        kept = [had.get(question.key) for question in brief.questions]
        whole = [one for one in kept if one is not None and not one.reason.startswith(FAILED)]
        return whole if len(whole) == len(kept) else await self._judge.judge_tier(tier, brief)


PURPOSE = "Does the README describe the main purpose correctly?"
DEPENDENCIES = "Are the dependencies that it names the right ones, with none missing and none invented?"
RUN_COMMAND = "Does it give the right run command, or one that works the same way?"

AEO_ACCURACY = (
    Question("purpose", "Main purpose", 12, PURPOSE),
    Question("dependencies", "Dependencies", 10, DEPENDENCIES),
    Question("run_command", "Run command", 8, RUN_COMMAND),
)
STRICT_ACCURACY = (
    Question("purpose", "Main purpose", 9, PURPOSE),
    Question("dependencies", "Dependencies", 6, DEPENDENCIES),
    Question("run_command", "Run command", 6, RUN_COMMAND),
    Question("key_features", "Key features", 5, "Which share of the key features does it describe?"),
)
"""The strict rubric's judged part of tier 3; the must-mention items (4 points) are scored by rule."""

QUALITY = (
    Question("clarity", "Clarity", 12, "Is it easy to understand, well organised, explained in clear words?", tier=4),
    Question("completeness", "Completeness", 10, "Could a new user start from this README alone?", tier=4),
    Question(
        "formatting", "Formatting", 8, "Is Markdown used well: headings, code blocks, lists, tables, links?", tier=4
    ),
)
