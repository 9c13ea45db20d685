"""The deterministic judge that needs no model, and its measures for tier 4.

Clarity, completeness and formatting are sums of small measures. The sum is scaled by how well the repository supports
the README's statements (`workbench.rubric.reading`). A README that repeats itself (as small models do) or says almost
nothing cannot earn the remaining points either.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from workbench.base.text import plural
from workbench.claims import similarity
from workbench.claims.page import SHELL
from workbench.rubric import offline_accuracy, word_order
from workbench.rubric.judging import JudgeRequest, Question, unscored
from workbench.rubric.reading import JUDGE, ReadmeReading, verdict
from workbench.rubric.scorecard import Criterion, Evidence

_PLACEHOLDER = re.compile(
    r"\b(?:TODO|TBD|FIXME|lorem ipsum)\b|\[insert[^\]]{0,60}\]|<(?:project|your|repo|insert|name)[\w\s-]{0,30}>|"
    r"your[-_ ]?(?:user)?name|yourusername|your-?repo|example/repo|\[?project name\]?(?![a-z])|coming soon",
    re.I,
)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\s|$)|\n|$)")
_LINK = re.compile(r"\[[^\[\]\n]{0,300}\]\(([^()\n]{0,500})\)")
_INSTALL = re.compile(r"install|set\s?up|getting started|quick\s?start|requirement|prerequisite|dependenc", re.I)
_USAGE = re.compile(r"usage|use|run|quick\s?start|getting started|command|how to|cli", re.I)
_BADGE = re.compile(r"\[?!\[[^\]\n]{0,200}\]\([^)\n]{0,400}\)(?:\]\([^)\n]{0,400}\))?")
_SHINGLE = 8
EXTENT = 6.0
"""Number of project names (words count half) that earns half of the points for extent."""
SHAPE = 0.15
"""Share of tier 4 that a well-formed README earns without showing any knowledge of its project."""
FULL_WORDS = 80
"""Number of distinct content stems at which a README has enough substance for full points."""


@dataclass(frozen=True, slots=True)
class _Measure:
    share: float
    maximum: float
    note: str
    evidence: Evidence | None = None


def clarity(question: Question, reading: ReadmeReading) -> Criterion:
    """Score title, opening, sentences, statements about this project, repetition and placeholders (12 points)."""
    repeated, place = repetition(reading)
    measures = [
        _title(reading),
        _opening(reading),
        _sentences(reading),
        _order(reading),
        _informed(reading),
        _Measure(max(0.0, 1 - repeated * 2.5), 1.5, f"{repeated:.0%} repeats earlier text", place),
        _placeholders(reading),
    ]
    return _sum(question, measures, reading, min(substance(reading), max(0.1, 1 - 1.6 * repeated)))


def completeness(question: Question, reading: ReadmeReading) -> Criterion:
    """Score what a new user needs: installation, usage, examples, coverage of the project and a reference."""
    measures = [
        _covered(reading, _INSTALL, "installation", 1.5, needs_code=False),
        _covered(reading, _USAGE, "usage", 1.5, needs_code=True),
        _examples(reading),
        _extent(reading),
        _reference(reading),
    ]
    repeated, _ = repetition(reading)
    return _sum(question, measures, reading, min(substance(reading), max(0.1, 1 - 1.2 * repeated)))


def formatting(question: Question, reading: ReadmeReading) -> Criterion:
    repeated, _ = repetition(reading)
    measures = [_headings(reading), _fences(reading), _lists(reading), _links(reading)]
    return _sum(question, measures, reading, min(substance(reading) ** 0.5, max(0.1, 1 - repeated)))


def substance(reading: ReadmeReading) -> float:
    """Return the number of distinct content stems relative to the 80 wanted, from 0 to 1."""
    return float(min(1.0, (len({token.stem for token in reading.words}) / FULL_WORDS) ** 0.8))


def repetition(reading: ReadmeReading) -> tuple[float, Evidence | None]:
    """Return the share of repeated eight-word sequences in the prose, and the first of them."""
    seen: set[tuple[str, ...]] = set()
    total = again = 0
    first: Evidence | None = None
    lines: Counter[str] = Counter()
    doubled = long_lines = 0
    # Repetition in a changelog ("fixed", "added") is not a fault.
    spoken = {start for _, start, _ in reading.statements}
    for block in reading.page.blocks:
        if block.start not in spoken:
            continue
        words = block.text.lower().split()
        for index in range(max(0, len(words) - _SHINGLE + 1)):
            shingle = tuple(words[index : index + _SHINGLE])
            total += 1
            if shingle in seen:
                again += 1
                first = first or reading.mark(block)
            seen.add(shingle)
        if len(words) >= 3 and block.kind == "prose":
            long_lines += 1
            line = " ".join(words)
            doubled += lines[line] > 0
            lines[line] += 1
            if lines[line] > 1:
                first = first or reading.mark(block)
    titles = Counter(heading.text.lower() for heading in reading.page.headings)
    heads = sum(count - 1 for count in titles.values()) / max(4, titles.total())
    shares = (again / total if total >= 10 else 0.0, doubled / long_lines if long_lines >= 3 else 0.0, heads)
    return max(shares), first


def _sum(question: Question, measures: list[_Measure], reading: ReadmeReading, factor: float) -> Criterion:
    scale = question.maximum / sum(measure.maximum for measure in measures)
    trust = SHAPE + (1 - SHAPE) * reading.trust
    untrue, what, places = reading.untrue(question.key)
    points = sum(measure.share * measure.maximum for measure in measures) * scale * factor * trust * untrue
    note = "; ".join(f"{m.note} {m.share * m.maximum * scale:.1f}/{m.maximum * scale:.1f}" for m in measures)
    if factor < 0.995:
        note += f"; all × {factor:.2f} for little substance or repetition"
    if trust < 0.995:
        note += f"; all × {trust:.2f} for the knowledge of the project that it shows: {reading.why()}"
    note += what
    evidence = [*(measure.evidence for measure in measures if measure.evidence is not None), *places]
    if trust < 0.995:
        evidence += [place for _, place in reading.examples[1][:2]]
        evidence += [reading.mark(use) for use in reading.uses[1][:3]]
    return verdict(question, points, note, evidence)


def _title(reading: ReadmeReading) -> _Measure:
    heads = reading.page.headings
    if heads and heads[0].level == 1 and heads[0].text:
        return _Measure(1.0, 1, "has a title", reading.mark(heads[0]))
    return _Measure(0.0, 1, "no title")


def _lead(reading: ReadmeReading) -> tuple[int, int] | None:
    """Return the span of the first paragraph before the third section that has at least five words, ignoring badges."""
    heads = [heading for heading in reading.page.headings if heading.level <= 2]
    stop = heads[2].start if len(heads) > 2 else len(reading.page.text)
    for block in reading.page.paragraphs:
        words = re.sub(r"!\[[^\]]*\]|\|[^|\n]+\|", "", word_order.plain(_BADGE.sub("", block.text))).split()
        if block.start < stop and len(words) >= 5:
            return block.start, block.end
    return None


def _opening(reading: ReadmeReading) -> _Measure:
    """Measure the opening: a paragraph about this project that says what the project is, not what it is not."""
    lead = _lead(reading)
    if lead is None:
        return _Measure(0.0, 3, "no opening paragraph")
    place = reading.at(*lead)
    denied = reading.negated(*lead)
    if denied is not None:
        return _Measure(0.0, 3, f"opens with what it is not ({denied.text!r})", denied)
    stems = {token.stem for token in similarity.tokens(reading.page.text[slice(*lead)])}
    own = (stems & reading.project.salient.keys()) - reading.title_stems
    described = (stems & reading.project.vocabulary.described) - reading.title_stems
    if len(own) >= 2 or len(described) >= 3 or not reading.project.vocabulary.names:
        return _Measure(1.0, 3, "opens with a paragraph on the project", place)
    if own or len(described) == 2:
        return _Measure(0.7, 3, "opens with a paragraph that hardly uses the project's own words", place)
    return _Measure(0.3, 3, "opens with a paragraph that would fit any project", place)


def _order(reading: ReadmeReading) -> _Measure:
    order = reading.order
    return _Measure(order.share, 2.5, f"{order.share:.0%} of it in sentence order")


def _informed(reading: ReadmeReading) -> _Measure:
    share, place = reading.informed
    note = f"{share:.0%} of the statements mention something specific to the project"
    return _Measure(min(1.0, share / 0.4), 2, note, place if share < 0.4 else None)


def _extent(reading: ReadmeReading) -> _Measure:
    """Measure how much of the project the README mentions, with diminishing returns."""
    amount = reading.amount
    own, topics = len(reading.uses[0]), len(reading.topics)
    note = f"mentions {plural(own, 'name')} and {plural(topics, 'word')} specific to the project"
    return _Measure(amount / (amount + EXTENT), 4, note)


def _sentences(reading: ReadmeReading) -> _Measure:
    lengths = [
        len(match.group().split())
        for block in reading.page.paragraphs
        for match in _SENTENCE.finditer(block.text)
        if len(match.group().split()) >= 3
    ]
    if not lengths:
        return _Measure(0.0, 1, "no sentences")
    mean = sum(lengths) / len(lengths)
    share = 1.0 if 5 <= mean <= 24 else max(0.0, 1 - (mean - 24) / 20 if mean > 24 else mean / 5)
    return _Measure(share, 1, f"sentences of {mean:.0f} words on average")


def _placeholders(reading: ReadmeReading) -> _Measure:
    places = list(_PLACEHOLDER.finditer(reading.page.text))
    if not places:
        return _Measure(1.0, 1, "no placeholder text")
    first = reading.at(*places[0].span())
    return _Measure(
        max(0.0, 1 - 0.5 * len(places)), 1, f"{plural(len(places), 'placeholder')} such as {first.text!r}", first
    )


def _covered(
    reading: ReadmeReading, pattern: re.Pattern[str], name: str, maximum: float, *, needs_code: bool
) -> _Measure:
    best = _Measure(0.0, maximum, f"no section on {name}")
    for heading in reading.page.headings[1:]:
        if not pattern.search(heading.text):
            continue
        start, end = reading.page.section(heading)
        code = any(start <= fence.start < end for fence in reading.page.codes)
        words = len(reading.page.text[start:end].split())
        share = 1.0 if words >= 5 and (code or not needs_code) else 0.5 if words >= 3 else 0.1
        if share > best.share:
            thin = "" if share == 1.0 else ", thin"
            best = _Measure(share, maximum, f"section on {name}{thin}", reading.mark(heading))
    return best


def _examples(reading: ReadmeReading) -> _Measure:
    good, _ = reading.examples
    fences = [fence for fence in reading.page.codes if fence.code.strip()]
    if not reading.project.vocabulary.names:
        good = tuple(fences)
    if not good:
        note = (
            f"none of {plural(len(fences), 'code block')} uses the project's own names"
            if fences
            else "no code examples"
        )
        return _Measure(0.0, 2, note)
    evidence = reading.mark(good[0])
    share = len(good) / (len(good) + 1.0)
    return _Measure(share, 2, f"{plural(len(good), 'example')} with the project's own names", evidence)


def _reference(reading: ReadmeReading) -> _Measure:
    if not (reference := reading.reference):
        return _Measure(substance(reading), 1, "length (there is no reference README)")
    counts = Counter(token.stem for token in similarity.tokens(reference[:100_000]))
    wanted = {stem: 1.0 for stem, count in counts.most_common(60) if count > 1} or dict.fromkeys(counts, 1.0)
    share = similarity.coverage(wanted, reading.words).share
    return _Measure(min(1.0, share / 0.6), 1, f"has {share:.0%} of the reference README's main words")


def _headings(reading: ReadmeReading) -> _Measure:
    heads = reading.page.headings
    if len(heads) < 2:
        return _Measure(0.3 if heads else 0.0, 3, "hardly any headings")
    jumps = [b for a, b in pairwise(heads) if b.level > a.level + 1]
    tops = sum(heading.level == 1 for heading in heads)
    empty = sum(not heading.text for heading in heads)
    share = min(1.0, len(heads) / 4) - 0.2 * min(2, len(jumps)) - (0.2 if tops != 1 else 0) - 0.2 * min(2, empty)
    note = plural(len(heads), "heading") + (f", {plural(len(jumps), 'level jump')}" if jumps else "")
    note += "" if tops == 1 else f", {plural(tops, 'title')}"
    return _Measure(max(0.0, share), 3, note, reading.mark(jumps[0]) if jumps else None)


def _fences(reading: ReadmeReading) -> _Measure:
    fences = reading.page.codes
    if not fences:
        return _Measure(0.0, 2.5, "no code blocks")
    opened = [fence for fence in fences if not fence.closed]
    if opened:
        place = reading.at(opened[0].start, opened[0].start + 80)
        return _Measure(0.2, 2.5, "a code fence is never closed", place)
    named = sum(bool(fence.language) for fence in fences) / len(fences)
    return _Measure(0.6 + 0.4 * named, 2.5, f"{plural(len(fences), 'closed code block')}, {named:.0%} with a language")


def _lists(reading: ReadmeReading) -> _Measure:
    outline = reading.page
    if outline.lists or outline.tables:
        return _Measure(1.0, 1.25, f"{plural(outline.lists, 'list item')}, {plural(outline.tables, 'table')}")
    shells = sum(fence.language in SHELL for fence in outline.codes)
    return _Measure(0.3 if shells else 0.0, 1.25, "no lists or tables")


def _links(reading: ReadmeReading) -> _Measure:
    targets = [(match, match.group(1).strip()) for block in reading.page.blocks for match in _LINK.finditer(block.text)]
    bad = [
        target for _, target in targets if not target or " " in target.split(' "')[0] or target in {"#", "url", "link"}
    ]
    if not targets:
        return _Measure(0.8, 1.25, "no links")
    return _Measure(
        1 - len(bad) / len(targets), 1.25, plural(len(targets), "link") + (f", {len(bad)} broken" if bad else "")
    )


class OfflineJudge:
    """Compares the README with the facts (tier 3) and with the repository (tier 4), deterministically."""

    name = JUDGE

    async def judge_tier(self, tier: int, brief: JudgeRequest) -> list[Criterion]:
        """Return one criterion for each question; questions that need facts are unscored if there are none."""
        # Reading a repository takes seconds, during which the engine serves other trials.
        return await asyncio.to_thread(self._answers, tier, brief)

    def _answers(self, tier: int, brief: JudgeRequest) -> list[Criterion]:
        reading = ReadmeReading(brief)
        return [self._answer(tier, question, brief, reading) for question in brief.questions]

    def _answer(self, tier: int, question: Question, brief: JudgeRequest, reading: ReadmeReading) -> Criterion:
        if of_readme := _OF_THE_README.get(question.key):
            return of_readme(question, reading)
        if brief.facts is None:
            return unscored(tier, (question,), "offline judge: there are no facts to compare with", self.name)[0]
        if of_facts := _OF_FACTS.get(question.key):
            return of_facts(question, brief.facts, reading)
        return unscored(tier, (question,), f"the offline judge has no rule for {question.key}", self.name)[0]


_OF_THE_README = {"clarity": clarity, "completeness": completeness, "formatting": formatting}
_OF_FACTS = {
    "purpose": offline_accuracy.purpose,
    "dependencies": offline_accuracy.dependencies,
    "run_command": offline_accuracy.run_command,
    "key_features": offline_accuracy.key_features,
}
