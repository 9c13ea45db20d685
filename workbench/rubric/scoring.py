"""Score one document: a document in, a scorecard out."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.base.errors import UsageError
from workbench.rubric import aeo_bench, strict
from workbench.rubric.judging import Brief, Document, Judge, Question, Rubric, UntrueClaim, unscored
from workbench.rubric.offline_judge import OfflineJudge
from workbench.rubric.scorecard import Criterion, Scorecard, Spread

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


@dataclass(frozen=True, slots=True)
class Skeleton:
    """What the grammar writes by itself."""

    readme: str
    metadata: object


def skeleton(shape: str) -> Skeleton | None:
    """Return the shortest submission that a GBNF grammar with rules ``readme`` and ``metadata`` allows."""
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
    return Skeleton(str(readme), metadata)


def _shortest(name: str, rules: dict[str, str], depth: int) -> str:
    """Return the text of a rule with the first of its alternatives, no free characters and the fewest repeats."""
    if name not in rules or depth > _DEEPEST:
        raise _Unreadable
    tokens = _tokens(rules[name])
    text, rest = _alternatives(tokens, 0, rules, depth)
    if rest != len(tokens) or len(text) > _LONGEST:
        raise _Unreadable
    return text


def _tokens(body: str) -> list[re.Match[str]]:
    found: list[re.Match[str]] = []
    at = 0
    while at < len(body):
        match = _TOKEN.match(body, at)
        if match is None:
            raise _Unreadable
        if match.group().strip():
            found.append(match)
        at = match.end()
    return found


def _alternatives(tokens: list[re.Match[str]], at: int, rules: dict[str, str], depth: int) -> tuple[str, int]:
    first, at = _sequence(tokens, at, rules, depth)
    while at < len(tokens) and tokens[at]["sign"] == "|":
        at = _past(tokens, at + 1)
    return first, at


def _past(tokens: list[re.Match[str]], at: int) -> int:
    open_groups = 0
    while at < len(tokens) and (open_groups or tokens[at]["sign"] not in ("|", ")")):
        open_groups += {"(": 1, ")": -1}.get(tokens[at]["sign"] or "", 0)
        at += 1
    return at


def _sequence(tokens: list[re.Match[str]], at: int, rules: dict[str, str], depth: int) -> tuple[str, int]:
    parts: list[str] = []
    while at < len(tokens) and tokens[at]["sign"] not in ("|", ")"):
        token = tokens[at]
        at += 1
        if token["sign"] == "(":
            item, at = _alternatives(tokens, at, rules, depth)
            if at >= len(tokens) or tokens[at]["sign"] != ")":
                raise _Unreadable
            at += 1
        elif token["name"]:
            item = _shortest(token["name"], rules, depth + 1)
        elif token["text"] is not None:
            item = re.sub(
                r"\\(.)", lambda match: _ESCAPES.get(match.group(1), match.group(1)), token["text"], flags=re.S
            )
        elif token["one"]:
            item = ""
        else:
            raise _Unreadable
        if at < len(tokens) and tokens[at]["times"]:
            times = tokens[at]
            item *= min(int(times["least"]), 1_000) if times["least"] else 1 if times["times"] == "+" else 0
            at += 1
        parts.append(item)
        if sum(map(len, parts)) > _LONGEST:
            raise _Unreadable
    return "".join(parts), at


#: Every rubric, the comparable one first.
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
    untrue: Sequence[UntrueClaim] = (),
) -> Scorecard:
    """Score one document.

    Args:
        readme: Anything that is not text counts as empty.
        metadata: As it was parsed, of any kind.
        parsed: Whether the agent's answer parsed as JSON (True for a document that no agent wrapped in an answer).
        rubric: Name of one of :data:`RUBRICS`; UsageError if there is none.
        facts: None leaves the criteria that need them unscored.
        reference_readme: The README that people wrote, for tier 4.
        view: The repository, to tell files that exist from inventions.
        judge: Scores tiers 3 and 4.
        without_facts: Points for tier 3 of ``aeo-bench`` without ``facts``: the original gives 15
            (``NO_FACTS_POINTS``). None leaves the tier unscored.
        shape: The grammar of the answer, to count the points that it earned by itself. Of a model judge these are only
            the rules' tiers: it is not asked about a document that nobody wrote.
        untrue: Claims of the README that were looked up and are wrong; each costs its criterion by the offline judge.
    """
    readme = readme if isinstance(readme, str) else ""
    chosen = rubric_named(rubric)
    brief = Brief(rubric, (), readme, metadata, facts, reference_readme, view, 0, chosen.reference_limit, tuple(untrue))
    document = Document(readme, metadata, parsed, facts, view)
    criteria = [rule.apply(document) for rule in chosen.rules]
    accuracy, quality = chosen.questions(3), chosen.questions(4)
    without_facts = without_facts if chosen.credits_missing_facts else None
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
            third = replace(brief, questions=accuracy, readme_limit=chosen.accuracy_limit)
            criteria += await judge.judge_tier(3, third)
        fourth = replace(brief, questions=quality, readme_limit=chosen.quality_limit)
        criteria += await judge.judge_tier(4, fourth)
    bare = skeleton(shape) if shape and parsed else None
    if bare is not None:
        asked = judge if isinstance(judge, OfflineJudge) else _NotAsked()
        known: dict[str, Any] = {
            "facts": facts,
            "reference_readme": reference_readme,
            "view": view,
            "without_facts": without_facts,
        }
        alone = await score(bare.readme, bare.metadata, parsed=True, rubric=rubric, judge=asked, **known)
        criteria = [_with_given(criterion, alone) for criterion in criteria]
    places = {(entry.tier, entry.key): place for place, entry in enumerate(chosen.criteria)}
    criteria.sort(key=lambda criterion: (criterion.tier, places[criterion.tier, criterion.key]))
    return Scorecard(rubric, judge.name, tuple(criteria), _spread(criteria))


class _NotAsked:
    name = "not asked"

    async def judge_tier(self, tier: int, brief: Brief) -> list[Criterion]:
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


def _spread(criteria: Sequence[Criterion]) -> tuple[Spread, ...]:
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
