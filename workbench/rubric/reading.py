"""A README parsed once for the offline judge: its names, statements and examples, compared with the project.

A README written without opening the repository may be well formed and even true. It is therefore compared with the
repository (`workbench.rubric.sources`): whether its names exist, its sentences have a natural word order, and its calls
match the signatures. Whether a sentence about a name is true is not judged, because neither shared words with a
docstring nor their absence prove anything.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from workbench.base.text import one_line, plural
from workbench.claims import known, similarity
from workbench.claims.claim import CheckedClaim
from workbench.claims.page import SHELL, Code, outline
from workbench.claims.python import example_of, imports_of, is_python
from workbench.claims.shell import package_name, started_by
from workbench.rubric import word_order
from workbench.rubric.judging import JudgeRequest, Question
from workbench.rubric.scorecard import Criterion, Evidence, quote, quoted
from workbench.rubric.sources import COMMON, KnownProject
from workbench.session.judges import RULE

JUDGE = RULE
"""The judge's name in a scorecard; its number is incremented with every rule change so that points are never mixed."""
CRITERIA_OF_CLAIMS = {"dependencies": ("extra", "python", "version"), "run_command": ("option", "command")}
"""The criterion that loses points for an untrue claim, by kind of claim. All other kinds, and without facts all kinds,
count against completeness.
"""
GUESSED = 0.4
"""Share of the points for a true but guessable statement in a README that shows no knowledge of the project."""


ENOUGH = 3.0
"""Number of project names and words that counts as half of the possible knowledge."""
UNCHECKED = 0.45
"""Knowledge that is assumed if there is neither a repository nor facts to compare with."""
_INLINE_WEIGHT = 0.3
"""Weight of an unknown name in inline code, which may belong to another program."""
_INLINE = re.compile(r"`{1,2}([^`\n]{2,80})`{1,2}")
_NAME = re.compile(r"(?<![\w./@-])(--[a-zA-Z][\w-]+|[A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)*)")
_OPTION = re.compile(r"(?<![\w-])--[a-zA-Z][\w-]+")
_SPELLED = re.compile(r"[_\d]|--|[a-z][A-Z]|\.")
_NEGATED = re.compile(
    r"\b(?:is|are|was|were|does|do|did|can|could|will|would|should|has|have)\s+not\b|\w+n[’']t\b|\bcannot\b|\bnever\b|"
    r"\bby no means\b|\bfar from\b|\bno longer\b",
    re.I,
)
_MEANT = re.compile(r"\bnot (?:only|just|merely|limited to)\b", re.I)
_ASIDE = re.compile(
    r"change\s?log|history|release|what'?s new|licen[cs]e|contribut|author|acknowledg|credit|thanks|badge|status", re.I
)
_VERSION = re.compile(r"^v?\d+\.\d+")
_OF_ANY_COMMAND = "python -m -c --help -h --version main.py app.py cli.py run.py pip install"
_GUESSED = frozenset(_OF_ANY_COMMAND.split())


@dataclass(frozen=True, slots=True)
class Use:
    """A name in a README, and its position."""

    name: str
    start: int
    end: int


class _Part(Protocol):
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class ReadmeReading:
    """A README and its project; every measure is computed on demand."""

    def __init__(self, brief: JudgeRequest) -> None:
        self.readme, self.reference = brief.readme, brief.reference_readme
        self.page = outline(brief.readme)
        self.words = similarity.tokens(self.page.text)
        self.commands = started_by(self.page)
        self.project = KnownProject(brief.view, brief.facts)
        self._claims: dict[str, list[CheckedClaim]] = {}
        for claim in brief.untrue:
            of_kind = (key for key, kinds in CRITERIA_OF_CLAIMS.items() if claim.kind in kinds)
            key = next(of_kind, "completeness") if brief.facts is not None else "completeness"
            self._claims.setdefault(key, []).append(claim)

    def at(self, start: int, end: int) -> Evidence:
        return quoted(self.readme, start, end)

    def mark(self, part: _Part) -> Evidence:
        return quoted(self.readme, part.start, part.end)

    def _line(self, number: int) -> Evidence:
        lines = self.readme.split("\n")
        start = sum(len(one) + 1 for one in lines[: number - 1])
        return self.at(start, start + len(lines[number - 1] if number <= len(lines) else ""))

    @property
    def guess(self) -> float:
        """Return the factor (0.4 to 1) for guessable facts, which is 1 if the README shows knowledge of its project."""
        return GUESSED + (1 - GUESSED) * self.trust

    def untrue(self, key: str) -> tuple[float, str, list[Evidence]]:
        """Return the factor by which untrue claims reduce a criterion, with the reason and the evidence."""
        mine = self._claims.get(key, ())
        if not mine:
            return 1.0, "", []
        factor = 1 / (1 + 0.25 * len(mine))
        note = f"; all × {factor:.2f} for {plural(len(mine), 'untrue claim')}: {one_line(mine[0].lookup.reason, 120)}"
        return factor, note, [self._line(one.line) for one in mine[:3]]

    # -- names

    @cached_property
    def _named(self) -> tuple[tuple[Use, ...], tuple[Use, ...], float]:
        own: dict[str, Use] = {}
        absent: dict[str, Use] = {}
        weights: dict[str, float] = {}
        for use, weight in self._shown():
            low = use.name.lower()
            if low in self.titles or low in COMMON:
                continue
            if self.project.own(use.name) or self.project.own(low.replace("--no-", "--", 1)):
                own.setdefault(low, use)
            elif weight and self.project.vocabulary.complete and not self._excused(low):
                absent.setdefault(low, use)
                weights[low] = max(weight, weights.get(low, 0.0))
        return tuple(own.values()), tuple(absent.values()), sum(weights.values())

    @property
    def uses(self) -> tuple[tuple[Use, ...], tuple[Use, ...]]:
        return self._named[0], self._named[1]

    def _excused(self, low: str) -> bool:
        """Return whether a name that the project does not define is nevertheless legitimate in its README."""
        there = self.project.vocabulary.identifiers
        # Several option parsers derive ``--no-color`` from ``color``, so accept it.
        made = low.startswith("--no-") and low.removeprefix("--no-").replace("-", "_") in there
        return low in there or made or low in known.TOOLING or low in self._made_here or low.startswith("__")

    @cached_property
    def _made_here(self) -> frozenset[str]:
        code = "\n".join(fence.code for fence in self.page.codes)
        found = re.findall(r"(?:def|class|as|for)\s+(\w+)|^\W*(\w+)\s*=", code, re.M)
        return frozenset(name.lower() for pair in found for name in pair if name)

    @cached_property
    def titles(self) -> frozenset[str]:
        """Return the spellings of the project's own name, which earn no credit because any README can mention them."""
        heading = next((h.text.lower() for h in self.page.headings[:1]), "")
        words = re.findall(r"[\w.-]+", heading)
        named = {heading, *words, "_".join(words), "-".join(words)} if words else set(self.project.packages)
        named |= {re.sub(r"^(?:python|py)-|-(?:python|py)$", "", name) for name in named}
        plain = {name.replace("-", "_") for name in named}
        return frozenset(named | plain | {f"{name}.py" for name in plain} | {package_name(name) for name in named})

    @cached_property
    def title_stems(self) -> frozenset[str]:
        return frozenset(token.stem for name in self.titles for token in similarity.tokens(name))

    def _shown(self) -> Iterator[tuple[Use, float]]:
        """Yield names in inline code, examples and options, each with the certainty that it belongs to the project."""
        text = self.page.text
        for block in self.page.blocks:
            for match in _INLINE.finditer(text, block.start, block.end):
                whole = match.group(1).strip()
                for part in _NAME.finditer(match.group(1)):
                    place = (match.start(1) + part.start(), match.start(1) + part.end())
                    last = part.group(1).rsplit(".", 1)[-1]
                    alone = re.sub(r"\(.*\)$", "", whole) == part.group(1)
                    yield Use(last, *place), _INLINE_WEIGHT * (alone and _SPELLED.search(part.group(1)) is not None)
            for match in _OPTION.finditer(text, block.start, block.end):
                yield Use(match.group(), *match.span()), 0.6
        for fence in self.page.codes:
            if is_python(fence):
                for called in self._from_project(fence):
                    at = text.find(called, fence.start, fence.end)
                    if at >= 0:
                        yield Use(called, at, at + len(called)), 1.0
            elif not fence.language or fence.language in SHELL:
                for match in _OPTION.finditer(text, fence.start, fence.end):
                    yield Use(match.group(), *match.span()), float(self._own_line(match.start(), fence))
            for match in _NAME.finditer(text, fence.start, fence.end):
                if not match.group(1).startswith("--"):
                    yield Use(match.group(1).rsplit(".", 1)[-1], *match.span()), 0.0

    def _own_line(self, at: int, fence: Code) -> bool:
        text = self.page.text
        line = text[text.rfind("\n", fence.start, at) + 1 : at].lower()
        return any(name and name in line for name in self.titles | {name.lower() for name in self.project.modules})

    def _from_project(self, fence: Code) -> Iterator[str]:
        """Yield the names that a Python example imports from this project, and the attributes of its modules."""
        tree = example_of(fence.code)
        if tree is None:
            return
        imports = [one for one in imports_of(tree) if one.top in self.project.modules]
        yield from (one.name for one in imports if one.name not in ("", "*"))
        modules = {one.bound for one in imports if not one.name}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
                yield node.attr

    # -- examples

    @cached_property
    def examples(self) -> tuple[tuple[Code, ...], tuple[tuple[str, Evidence], ...]]:
        good: list[Code] = []
        wrong: list[tuple[str, Evidence]] = []
        starts = self.project.modules | self.project.packages
        for fence in self.page.codes:
            tree = example_of(fence.code) if is_python(fence) else None
            if tree is None or not tree.body:
                words = {*re.findall(r"--[\w-]+|[\w.-]+", fence.code)}
                if any(self.project.own(word) for word in words) and words & {
                    *starts,
                    *(f"{name}.py" for name in starts),
                }:
                    good.append(fence)
                continue
            problems = list(self._wrong_calls(tree))
            wrong += [(problem, self.at(fence.start, fence.end)) for problem in problems[:2]]
            used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
            used |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
            if not problems and any(self.project.own(name) for name in used):
                good.append(fence)
        return tuple(good), tuple(wrong)

    def _wrong_calls(self, tree: ast.Module) -> Iterator[str]:
        """Yield calls that no function of that name in the project would accept."""
        here = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if self.project.index is None or not name or name in here or name.lower() in COMMON:
                continue
            for keyword in node.keywords:
                if keyword.arg and self.project.index.rejects(name, keyword.arg):
                    yield f"{quote(name, 40)}() takes no {quote(keyword.arg, 40)}"

    # -- statements

    @cached_property
    def statements(self) -> tuple[tuple[str, int, int], ...]:
        asides = [
            self.page.section(heading)
            for heading in self.page.headings[1:]
            if _ASIDE.search(heading.text) or _VERSION.match(heading.text)
        ]
        return tuple(
            (block.text, block.start, block.end)
            for block in self.page.blocks
            if not any(start <= block.start < end for start, end in asides)
        )

    @cached_property
    def order(self) -> word_order.WordOrder:
        return word_order.order([text for text, _, _ in self.statements])

    @cached_property
    def topics(self) -> frozenset[str]:
        used = {token.stem for text, _, _ in self.statements for token in similarity.tokens(word_order.plain(text))}
        return frozenset((used & self.project.salient.keys()) - self.title_stems)

    @cached_property
    def informed(self) -> tuple[float, Evidence | None]:
        """Return the share of statements that use the project's names or words, and evidence of one without."""
        good = total = 0
        first: Evidence | None = None
        own = {use.name.lower() for use in self.uses[0]}
        for text, start, end in self.statements:
            words = word_order.plain(text)
            if len(words.split()) < 3:
                continue
            total += 1
            stems = {token.stem for token in similarity.tokens(words)} & self.topics
            if len(stems) >= 2 or any(
                name.group(1).rsplit(".", 1)[-1].lower() in own for name in _NAME.finditer(words)
            ):
                good += 1
            elif first is None:
                first = self.at(start, end)
        return (good / total if total else 0.0), first

    def negated(self, start: int, end: int) -> Evidence | None:
        text = self.page.text[start:end]
        first = re.split(r"(?<=[.!?])\s", text, maxsplit=1)[0]
        match = _NEGATED.search(first)
        if match is None or _MEANT.search(first):
            return None
        return self.at(start + match.start(), start + match.end())

    def guessable(self, words: Collection[str], telling: Collection[str]) -> bool:
        """Return whether anyone who knows the project's name could have written a command.

        That is true of ``python -m NAME --help``, but not of a command with one of the project's options or files, or
        with one of the facts' ``telling`` words.
        """
        for word in words:
            plain = word.lower().split("[")[0]
            if plain in _GUESSED or plain in self.titles:
                continue
            if word in telling or self.project.own(plain) or self.project.own(plain.rsplit("/", 1)[-1]):
                return False
        return True

    # -- totals

    @cached_property
    def amount(self) -> float:
        """Return how much of the project is mentioned: its own names, and its own words at half weight."""
        return len(self.uses[0]) + 0.5 * len(self.topics)

    @cached_property
    def truth(self) -> float:
        """Return the share of verifiable items that are right: names that exist and calls that work."""
        own, _ = self.uses
        there = (len(own) + 1) / (len(own) + 1 + self._named[2])
        return there / (1 + 0.25 * len(self.examples[1]))

    @cached_property
    def knowledge(self) -> float:
        """Combine amount, truth and sentences into a value from 0 (writable without opening the repository) to 1."""
        amount = self.amount / (self.amount + ENOUGH) if self.project.vocabulary.names else UNCHECKED
        return amount * self.truth * (0.25 + 0.75 * min(1.0, self.order.share / 0.8))

    @cached_property
    def trust(self) -> float:
        """Return `knowledge` as a factor: 0 up to 0.15, which a guess can reach, and 1 from 0.6."""
        return min(1.0, max(0.0, (self.knowledge - 0.15) / 0.45))

    def why(self) -> str:
        if not self.project.vocabulary.names:
            return "there is neither a repository nor facts to compare with"
        own, absent = self.uses
        note = f"{plural(len(own), 'name')} and {plural(len(self.topics), 'word')} specific to the project"
        if absent:
            note += (
                f", {plural(len(absent), 'name')} that the project does not have "
                f"({', '.join(u.name for u in absent[:3])})"
            )
        wrong = [text for text, _ in self.examples[1]]
        if wrong:
            note += f"; {'; '.join(wrong[:2])}"
        if self.order.share < 0.8:
            note += f"; {self.order.share:.0%} in sentence order"
        return note


def verdict(question: Question, points: float | None, reason: str, evidence: list[Evidence] | None = None) -> Criterion:
    given, reason = None if points is None else round(points, 1), f"offline judge: {reason}"
    return Criterion(
        question.tier, question.key, question.title, given, question.maximum, reason, tuple(evidence or ()), JUDGE
    )
