"""The names that ``--judge`` takes, read in one place, and the judge that each of them means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from workbench.errors import UsageError
from workbench.extensions import failure, is_dotted, load, make
from workbench.rubric.judging import FAILED, Brief, Judge, Question, unscored
from workbench.rubric.scorecard import Criterion
from workbench.session.judges import OFFLINE, RULE

if TYPE_CHECKING:
    from workbench.rubric.llm_judge import Asker

#: What before a colon belongs to a model's name: a recorded session, a fine-tuned model.
_MODELS = frozenset({"replay", "ft"})


@dataclass(frozen=True, slots=True)
class JudgeName:
    """What a text of ``--judge`` names; ``rest`` is the session of a replay, else the whole text."""

    kind: Literal["offline", "replay", "extension", "model"]
    text: str
    rest: str


def parse_judge(text: str) -> JudgeName:
    """Return what a judge's name means: ``offline``, ``replay:SESSION``, ``package.module:Class`` or a model."""
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
    """Return the judge that a name means.

    Args:
        name: See :func:`parse_judge`.
        asker: The gateway; only ``offline`` and classes that take none can do without.
        repeats: Times that a model judges each tier.
        scope: The work item for which models are asked; recorded answers are found by it.
        folders: Folders from which a dotted path is imported first.

    Raises:
        UsageError: There is no such class, or a model is named where none can be asked.
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
    """A judge from outside whose answers are checked before they count; what is wrong with them leaves a tier unscored."""

    def __init__(self, judge: Judge) -> None:
        self.name = judge.name
        self._judge = judge

    async def judge_tier(self, tier: int, brief: Brief) -> list[Criterion]:
        """Return one criterion for each question, unscored with the reason where the judge failed."""
        try:
            criteria = await self._judge.judge_tier(tier, brief)
        except Exception as error:
            return unscored(tier, brief.questions, FAILED + failure("judge", self.name, error), self.name)
        problem = _problem(tier, brief.questions, criteria)
        return unscored(tier, brief.questions, FAILED + problem, self.name) if problem else list(criteria)


def _problem(tier: int, questions: Sequence[Question], criteria: object) -> str:
    """Return what is wrong with the criteria that a judge gave, "" if nothing is."""
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
