"""Score one document: turn a document into a scorecard."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.base.errors import UsageError
from workbench.claims.claim import CheckedClaim
from workbench.rubric import aeo_bench, strict
from workbench.rubric.judging import Judge, JudgeRequest, Question, Rubric, ScoredDocument, unscored
from workbench.rubric.offline_judge import OfflineJudge
from workbench.rubric.scorecard import Criterion, Scorecard

if TYPE_CHECKING:
    from workbench.catalog import Facts
    from workbench.repository import View

_TOKEN = re.compile(
    r'"(?P<text>(?:[^"\\]|\\.)*)"|(?P<one>\[(?:[^\]\\]|\\.)*\])|(?P<times>\{(?P<least>\d+)(?:,\d*)?\}|[*+?])|'
    r"(?P<name>[A-Za-z][\w-]*)|(?P<sign>[()|])|\s+"
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_DEEPEST = 40
_LONGEST = 100_000


class _Unreadable(Exception): ...


def skeleton(shape: str) -> tuple[str, object] | None:
    """Return the README and metadata of the shortest submission that a GBNF grammar with rules of these names allows.

    Return None if the grammar does not describe a submission.
    """
    rules: dict[str, str] = {}
    for line in shape.splitlines():
        name, found, body = line.partition("::=")
        if found:
            rules[name.strip()] = body
    if "readme" not in rules:
        return None
    try:
        readme = json.loads(f'"{_shortest("readme", rules, 0)}"', strict=False)
        metadata = json.loads(_shortest("metadata", rules, 0), strict=False) if "metadata" in rules else None
    except (_Unreadable, ValueError, RecursionError):
        return None
    return str(readme), metadata


def _shortest(name: str, rules: dict[str, str], depth: int) -> str:
    """Return the shortest text of a rule: its first alternatives, no free characters and the fewest repetitions."""
    if name not in rules or depth > _DEEPEST:
        raise _Unreadable
    tokens = list(_TOKEN.finditer(rules[name]))
    if "".join(token[0] for token in tokens) != rules[name]:
        raise _Unreadable
    left = [token for token in reversed(tokens) if token[0].strip()]
    text = _first(left, rules, depth)
    if left:
        raise _Unreadable
    return text


def _first(left: list[re.Match[str]], rules: dict[str, str], depth: int, *, read: bool = True) -> str:
    """Consume the alternatives up to the end of their group, and return the text of the first one.

    Nothing is looked up unless ``read`` is true.
    """
    text = ""
    while left and left[-1]["sign"] != ")":
        token = left.pop()
        item = ""
        if token["sign"] == "|":
            read = False
            continue
        if token["sign"] == "(":
            item = _first(left, rules, depth, read=read)
            if not left:
                raise _Unreadable
            left.pop()
        elif token["name"]:
            item = _shortest(token["name"], rules, depth + 1) if read else ""
        elif token["text"] is not None:
            item = re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), token["text"], flags=re.S)
        elif token["times"] and read:
            raise _Unreadable
        if left and left[-1]["times"]:
            times = left.pop()
            item *= min(int(times["least"]), 1_000) if times["least"] else 1 if times["times"] == "+" else 0
        text += item if read else ""
        if len(text) > _LONGEST:
            raise _Unreadable
    return text


#: Every rubric, starting with the one that is comparable with published scores.
RUBRICS = (aeo_bench.RUBRIC, strict.RUBRIC)


def rubrics() -> tuple[Rubric, ...]:
    return RUBRICS


def rubric_named(name: str) -> Rubric:
    for rubric in RUBRICS:
        if rubric.name == name:
            return rubric
    raise UsageError(f"There is no rubric {name!r}; use {' or '.join(rubric.name for rubric in RUBRICS)}.")


async def score(
    readme: str,
    metadata: object,
    *,
    parsed: bool,
    rubric: str,
    facts: Facts | None,
    reference_readme: str | None,
    view: View | None,
    judge: Judge,
    without_facts: float | None = None,
    shape: str | None = None,
    untrue: Sequence[CheckedClaim] = (),
) -> Scorecard:
    """Score one document.

    Args:
        readme: The README; anything that is not text counts as empty.
        metadata: The metadata as parsed, of any type.
        parsed: Whether the agent's answer was valid JSON (True for a document that no agent wrapped in an answer).
        rubric: Name of one of :data:`RUBRICS`.
        facts: The ground truth; None leaves the criteria that need facts unscored.
        reference_readme: The human-written README, for tier 4.
        view: The repository, which tells existing files from invented ones.
        judge: The judge that scores tiers 3 and 4.
        without_facts: Points for tier 3 of ``aeo-bench`` without ``facts``: the original awards 15
            (``NO_FACTS_POINTS``). None leaves the tier unscored.
        shape: The grammar of the answer, to determine the points that the grammar itself earned. With a model judge, only
            the rule-based tiers count, because the model is not asked to score a document that nobody wrote.
        untrue: Claims of the README that were found to be wrong; the offline judge deducts points for each.

    Raises:
        UsageError: There is no rubric of this name.
    """
    readme = readme if isinstance(readme, str) else ""
    chosen = rubric_named(rubric)
    brief = JudgeRequest(
        rubric, (), readme, metadata, facts, reference_readme, view, 0, chosen.reference_limit, tuple(untrue)
    )
    document = ScoredDocument(readme, metadata, parsed, facts, view)
    criteria = [rule.apply(document) for rule in chosen.rules]
    accuracy, quality = chosen.questions(3), chosen.questions(4)
    without_facts = without_facts if chosen.credits_missing_facts else None
    absent = "the answer does not parse" if not parsed else "" if readme.strip() else "the README is empty"
    # Without facts, not even an empty README can be contradicted.
    if absent and not (parsed and facts is None and without_facts is None):
        criteria += _zero(3, accuracy, absent)
    elif facts is None:
        criteria += _no_facts(accuracy, without_facts, judge.name)
    else:
        third = replace(brief, questions=accuracy, readme_limit=chosen.accuracy_limit)
        criteria += await judge.judge_tier(3, third)
    if absent:
        criteria += _zero(4, quality, absent)
    else:
        fourth = replace(brief, questions=quality, readme_limit=chosen.quality_limit)
        criteria += await judge.judge_tier(4, fourth)
    bare = skeleton(shape) if shape and parsed else None
    if bare is not None:
        alone = await score(
            *bare, parsed=True, rubric=rubric, facts=facts, reference_readme=reference_readme, view=view,
            without_facts=without_facts, judge=judge if isinstance(judge, OfflineJudge) else _NotAsked(),
        )  # fmt: skip
        criteria = [_with_given(criterion, alone) for criterion in criteria]
    places = {(entry.tier, entry.key): place for place, entry in enumerate(chosen.criteria)}
    criteria.sort(key=lambda criterion: (criterion.tier, places[criterion.tier, criterion.key]))
    return Scorecard(rubric, judge.name, tuple(criteria))


class _NotAsked:
    name = "not asked"

    async def judge_tier(self, tier: int, brief: JudgeRequest) -> list[Criterion]:
        return unscored(tier, brief.questions, "not asked", self.name)


def _with_given(criterion: Criterion, alone: Scorecard) -> Criterion:
    if criterion.points is None or not criterion.maximum:
        return criterion
    same = next((c.points for c in alone.criteria if (c.tier, c.key) == (criterion.tier, criterion.key)), None)
    return criterion if same is None else replace(criterion, given=min(criterion.points, same))


def _zero(tier: int, questions: Sequence[Question], reason: str) -> list[Criterion]:
    return [Criterion(tier, q.key, q.title, 0.0, q.maximum, f"nothing to judge: {reason}") for q in questions]


def _no_facts(questions: Sequence[Question], points: float | None, judge: str) -> list[Criterion]:
    if points is None:
        return unscored(3, questions, "there are no facts to compare with", judge)
    whole = sum(question.maximum for question in questions)
    reason = f"the case has no facts: {points:g} of {whole:g} for the tier, as in the original"
    return [Criterion(3, q.key, q.title, points * q.maximum / whole, q.maximum, reason) for q in questions]
