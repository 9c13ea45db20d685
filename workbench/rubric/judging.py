"""What a judge is asked, and the protocol that every judge follows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, cast

from workbench.base.errors import UsageError
from workbench.base.extensions import failure, is_dotted, load, make
from workbench.claims.claim import CheckedClaim
from workbench.rubric.scorecard import Criterion, Evidence, Scorecard
from workbench.session.json_forms import TIER_NAMES
from workbench.session.judges import OFFLINE, RULE

if TYPE_CHECKING:
    from workbench.catalog import Facts
    from workbench.models.types import Asker
    from workbench.repository import View


@dataclass(frozen=True, slots=True)
class Question:
    """One criterion that a judge scores: from 0 to ``maximum``, by the rule in ``guidance``."""

    key: str
    title: str
    maximum: float
    guidance: str
    tier: int = 3


@dataclass(frozen=True, slots=True)
class Brief:
    """Everything that a judge may look at for one tier."""

    rubric: str
    questions: tuple[Question, ...]
    readme: str
    metadata: object
    facts: Facts | None
    reference_readme: str | None
    view: View | None
    readme_limit: int  # characters for a model judge; the offline judge reads all
    reference_limit: int  # likewise
    untrue: tuple[CheckedClaim, ...] = ()  # looked up by the caller, no judge does


class Judge(Protocol):
    """Scores the questions of one tier. A question that cannot be scored comes back with points None, never 0."""

    @property
    def name(self) -> str: ...

    async def judge_tier(self, tier: int, brief: Brief) -> list[Criterion]: ...


#: How the reason of a criterion begins that has no points because the judge gave no usable answer. What is unscored by
#: design (a case without facts) says something else: only a failure can be asked for again.
FAILED = "judge failed: "


def unscored(tier: int, questions: Sequence[Question], reason: str, judge: str) -> list[Criterion]:
    return [Criterion(tier, q.key, q.title, None, q.maximum, reason, (), judge) for q in questions]


class Kept:
    """A judge that reuses an earlier card, and asks only for the tiers that failed there."""

    def __init__(self, judge: Judge, card: Scorecard) -> None:
        self.name = judge.name
        self._judge = judge
        self._card = card

    async def judge_tier(self, tier: int, brief: Brief) -> list[Criterion]:
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


#: What before a colon belongs to a model's name: a recorded session, a fine-tuned model.
_MODELS = frozenset({"replay", "ft"})


@dataclass(frozen=True, slots=True)
class JudgeName:
    """A parsed ``--judge``; ``rest`` is the session of a replay, else the whole text."""

    kind: Literal["offline", "replay", "extension", "model"]
    text: str
    rest: str


def parse_judge(text: str) -> JudgeName:
    """Parse a judge's name: ``offline``, ``replay:SESSION``, ``package.module:Class`` or a model."""
    text = text.strip()
    if text in (OFFLINE, RULE):
        return JudgeName("offline", text, text)
    if text.startswith("replay:"):
        return JudgeName("replay", text, text.removeprefix("replay:"))
    if is_dotted(text, _MODELS):
        return JudgeName("extension", text, text)
    return JudgeName("model", text, text)


def make_judge(
    name: str, asker: Asker | None, *, repeats: int = 1, scope: str = "", folders: Sequence[str] = ()
) -> Judge:
    """Return a judge by its name; only ``offline`` and classes that take no ``asker`` can do without one.

    Recorded answers of models are found by ``scope``, the work item; a dotted path is imported from ``folders`` first.
    UsageError: there is no such class, or a model is named and ``asker`` is None.
    """
    from workbench.rubric.llm_judge import LLMJudge
    from workbench.rubric.offline_judge import OfflineJudge

    match parse_judge(name).kind:
        case "offline":
            return OfflineJudge()
        case "extension":
            offered = {"asker": asker, "scope": scope}
            return Checked(cast(Judge, make("judge", load("judge", name, Judge, folders), offered)))
    if asker is None:
        raise UsageError(f"The judge {name} is a model, and no model can be asked here.")
    return LLMJudge(asker, name, repeats=repeats, scope=scope)


class Checked:
    """A judge from outside whose answers are checked before they count; an invalid one leaves its tier unscored."""

    def __init__(self, judge: Judge) -> None:
        self.name = judge.name
        self._judge = judge

    async def judge_tier(self, tier: int, brief: Brief) -> list[Criterion]:
        try:
            criteria = await self._judge.judge_tier(tier, brief)
        except Exception as error:
            return unscored(tier, brief.questions, FAILED + failure("judge", self.name, error), self.name)
        problem = _problem(tier, brief.questions, criteria)
        return unscored(tier, brief.questions, FAILED + problem, self.name) if problem else list(criteria)


def _problem(tier: int, questions: Sequence[Question], criteria: object) -> str:
    if not isinstance(criteria, list | tuple) or not all(isinstance(one, Criterion) for one in criteria):
        return "it did not return a list of Criterion."
    asked, given = [(tier, question.key) for question in questions], [(one.tier, one.key) for one in criteria]
    if asked != given:
        return f"it was asked for {', '.join(key for _, key in asked)} of tier {tier} and gave something else."
    for one, question in zip(criteria, questions, strict=True):
        points = one.points
        if one.maximum != question.maximum or (
            points is not None and not (math.isfinite(points) and 0 <= points <= question.maximum)
        ):
            return f"for {one.key} it gave {points} of {one.maximum}, where 0 to {question.maximum:g} are possible."
    return ""


_UNPARSED = "not looked at: the answer does not parse"


@dataclass(frozen=True, slots=True)
class Document:
    """The input of a rule; ``metadata`` is of any kind, ``parsed`` whether the agent's answer parsed as JSON."""

    readme: str
    metadata: object
    parsed: bool
    facts: Facts | None = None
    view: View | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a rule: points (None for unscored, which is never 0), reason and evidence."""

    points: float | None
    reason: str
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """A criterion that a function scores, from 0 to ``maximum`` points (0 for a remark)."""

    tier: int
    key: str
    title: str
    maximum: float
    function: Callable[[Document], Found]
    needs_answer: bool = True  # an unparsed answer gets 0 points without being looked at

    def apply(self, document: Document) -> Criterion:
        looked = document.parsed or not self.needs_answer
        found = self.function(document) if looked else Found(0.0, _UNPARSED)
        return Criterion(self.tier, self.key, self.title, found.points, self.maximum, found.reason, found.evidence)


@dataclass(frozen=True, slots=True)
class Rubric:
    """A list of criteria; to add one, add its entry."""

    name: str
    title: str
    description: str
    criteria: tuple[Rule | Question, ...]
    accuracy_limit: int  # characters of the README for a model judge, tier 3
    quality_limit: int  # the same for tier 4
    reference_limit: int
    credits_missing_facts: bool = False

    @property
    def tiers(self) -> tuple[tuple[int, str, float], ...]:
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
        return tuple(entry for entry in self.criteria if isinstance(entry, Question) and entry.tier == tier)
