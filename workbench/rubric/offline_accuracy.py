"""Tier 3 without a model: compare the README with the case's facts, word by word and command by command.

A README that paraphrases the facts scores lower here than with a model judge. Matching words count only in sentences
that do not negate them. Facts that anybody could guess earn full points only in a README that shows knowledge of its
project.
"""

from __future__ import annotations

import ast
import re
import sys
from itertools import islice
from typing import TYPE_CHECKING

from workbench.claims import known, shell, similarity
from workbench.claims.page import PYTHON
from workbench.claims.python import example_of, imports_of, python_of
from workbench.rubric import word_order
from workbench.rubric.judging import Question
from workbench.rubric.reading import ReadmeReading, verdict
from workbench.rubric.scorecard import Criterion, Evidence, fact, quote

if TYPE_CHECKING:
    from workbench.catalog import Facts

_COMMON_FILES = frozenset({"main.py", "cli.py", "app.py", "__main__.py", "__init__.py", "core.py", "run.py"})
FULL_COVERAGE = 0.7
"""Share of the facts' weighted words, close together, that earns full points; less than 1 to allow paraphrase."""
NO_COVERAGE = 0.15
"""Share below which no points are earned, because any two English texts have that many words in common."""


def purpose(question: Question, facts: Facts, reading: ReadmeReading) -> Criterion:
    """Score how much of the main purpose in the facts the README states, preferably within one paragraph."""
    wanted = similarity.weights(facts.main_purpose)
    if not wanted:
        return verdict(question, None, "the facts state no main purpose")
    found = similarity.coverage(wanted, reading.words)
    measure = 0.6 * found.together + 0.4 * found.share
    points = question.maximum * min(1.0, max(0.0, (measure - NO_COVERAGE) / (FULL_COVERAGE - NO_COVERAGE)))
    spelled = similarity.spelled(facts.main_purpose)
    reason = f"{found.together:.0%} of the purpose's words are in one paragraph, {found.share:.0%} anywhere" + (
        f"; missing: {', '.join(spelled[item] for item in found.missing[:6])}" if found.missing else ""
    )
    evidence = [fact(facts.main_purpose)]
    if found.end > found.start:
        evidence.insert(0, reading.mark(found))
        factor, note, place = _as_sentence(wanted, found, reading)
        points *= factor
        reason += note
        evidence += [place] if place else []
    return verdict(question, points, reason, evidence)


def _as_sentence(
    wanted: dict[str, float], found: similarity.Coverage, reading: ReadmeReading
) -> tuple[float, str, Evidence | None]:
    """Rate the use of the purpose's words: they should be in sentences and not negated."""
    blocks = [block for block in reading.page.blocks if block.start < found.end and found.start < block.end]
    order = word_order.order([block.text for block in blocks])
    written = 0.25 + 0.75 * min(1.0, order.share / 0.6) if order.words else 0.6
    note = "" if written > 0.99 else f"; × {written:.2f}, since few of them are in sentences"
    for block in blocks:
        for sentence in re.finditer(r"(?:[^.!?]|[.!?](?!\s))+[.!?]?", reading.page.text[block.start : block.end]):
            share = similarity.coverage(wanted, similarity.tokens(sentence.group())).share
            start = block.start + sentence.start()
            denied = reading.negated(start, start + len(sentence.group())) if share >= 0.3 else None
            if denied is not None and not re.search(r"\bnot\b|\bwithout\b|n't", " ".join(wanted)):
                return 0.25 * written, f"{note}; × 0.25, since it says {denied.text!r}", denied
    return written, note, None


def run_command(question: Question, facts: Facts, reading: ReadmeReading) -> Criterion:
    """Score the run command: identical (full points), same program with other arguments, right file, or a mention."""
    wanted = shell.normal(shell.words_in(facts.run_command))
    if not wanted:
        return verdict(question, None, "the facts state no run command")
    start_of = shell.head(wanted)
    share, note, place = 0.0, f"no command starts {' '.join(start_of)}", None
    for command in reading.commands:
        value, what = _alike(command, wanted, start_of, facts.main_file)
        if value and reading.guess < 0.99 and reading.guessable(command.words, wanted):
            value *= reading.guess
            what += f"; × {reading.guess:.2f}, since its name is enough to guess that"
        if value > share:
            share, note, place = value, what, reading.mark(command)
    if share < 0.9 and (code := _in_code(facts.run_command, reading)) is not None:
        share, note, place = max(share, reading.guess), "shows the same code", code
        note += f"; × {share:.2f}, since its name is enough to guess that" if share < 0.99 else ""
    if not share:
        name = facts.main_file.rsplit("/", 1)[-1]
        found = reading.page.text.find(name) if name else -1
        if found >= 0:
            share, note = 0.2, f"names {name} but no command that runs it"
            place = reading.at(found, found + len(name))
    wrong = _missing_files(reading)
    if wrong is not None:
        share, note = max(0.0, share - 0.25), f"{note}; {wrong.text!r} runs a file that does not exist"
    evidence = [item for item in (place, wrong) if item is not None]
    factor, what, places = reading.untrue(question.key)
    evidence += [*places, fact(facts.run_command)]
    return verdict(question, question.maximum * share * factor, note + what, evidence)


def _alike(
    command: shell.Started, wanted: tuple[str, ...], start: tuple[str, ...], main_file: str
) -> tuple[float, str]:
    words = command.words
    if words == wanted or (words[: len(wanted)] == wanted and len(start) > 1):
        return 1.0, "gives the run command"
    if shell.head(words) == start:
        options = [word for word in wanted[len(start) :] if word.startswith("-")]
        if all(option in words for option in options):
            return 1.0, "gives the run command, with other arguments"
        return 0.85, "starts the right program, without all of its options"
    module = main_file.removesuffix(".py").replace("/", ".").removesuffix(".__main__").removesuffix(".__init__")
    if words[:2] == ("python", main_file) or (module and words[:3] == ("python", "-m", module)):
        return 0.85, "runs the right file, but differently from the facts"
    name = main_file.rsplit("/", 1)[-1]
    # ``main.py`` is a common name, so only the path with its folder identifies this project's file.
    name = main_file if name in _COMMON_FILES else name
    if name and any(word == name or word.endswith(f"/{name}") for word in words) and len(words) > 1:
        return 0.6, f"a command uses {name}, but differently from the facts"
    return 0.0, ""


def _in_code(code: str, reading: ReadmeReading) -> Evidence | None:
    imported = re.fullmatch(r"\s*import ([\w.]+)\s*", code)
    flat = re.sub(r"\s+", "", code).replace("'", '"')
    tree = python_of(code)
    if len(flat) < 4 or tree is None:
        return None
    if not any(isinstance(node, ast.Import | ast.ImportFrom | ast.Call) for node in ast.walk(tree)):
        return None
    for fence in reading.page.codes:
        if imported and re.search(rf"\b(?:from|import) {re.escape(imported.group(1))}\b", fence.code):
            return reading.mark(fence)
        if flat in re.sub(r"\s+", "", fence.code).replace("'", '"'):
            return reading.mark(fence)
    return None


def _missing_files(reading: ReadmeReading) -> Evidence | None:
    for command in reading.commands:
        if command.words[:1] == ("python",) and len(command.words) > 1:
            name = command.words[1]
            if name.endswith(".py") and reading.project.lacks(name):
                return reading.mark(command)
    return None


def key_features(question: Question, facts: Facts, reading: ReadmeReading) -> Criterion:
    """Score the share of key features: 1 for each with at least 60% of its words in one block, 0.5 if nearby."""
    if not facts.key_features:
        return verdict(question, None, "the facts list no key features")
    evidence: list[Evidence] = []
    missing: list[str] = []
    apart: list[str] = []
    blocks = [similarity.tokens(reading.page.text[block.start : block.end]) for block in reading.page.blocks]
    for feature in facts.key_features:
        wanted = similarity.weights(feature)
        found = similarity.coverage(wanted, reading.words)
        if found.together < 0.6:
            missing.append(quote(feature, 50))
            continue
        evidence.append(reading.mark(found))
        if not any(similarity.coverage(wanted, block).share >= 0.6 for block in blocks):
            apart.append(quote(feature, 50))
    have = len(facts.key_features) - len(missing) - 0.5 * len(apart)
    reason = f"describes {have:g} of {len(facts.key_features)} key features"
    reason += f"; only in pieces: {'; '.join(apart[:3])}" if apart else ""
    reason += f"; not found: {'; '.join(missing[:4])}" if missing else ""
    evidence.append(fact("key features: " + "; ".join(facts.key_features)))
    return verdict(question, question.maximum * have / len(facts.key_features), reason, evidence)


_INSTALL_HEADING = re.compile(r"install|require|depend|prerequisite|set\s?up|getting started|quick\s?start", re.I)
_DEVELOPING = re.compile(r"test|develop|contribut|hacking|build", re.I)
_NONE_NEEDED = re.compile(
    r"standard[\s-]library|no\s{1,5}(?:\w{1,20}[\s-]{1,5}){0,2}(?:dependenc|requirement|package)|stdlib|"
    r"(?:without|zero|needs?\s{1,5}no|not\s{1,5}need|nothing\s{1,5}(?:else|more|besides))\s{1,5}(?:\w{1,20}[\s-]{1,5}){0,3}"
    r"(?:dependenc|package|librar|install)|dependenc\w{1,9}\W{1,8}none|nothing\s{1,5}to\s{1,5}install",
    re.I,
)
_USES = re.compile(
    r"\b(?:uses?|using|requires?|needs?|built (?:on|with)|based on|depends? on|imports?|powered by)\s{1,3}(?:the\s{1,3})?"
    r"[`'\"*]{0,2}([A-Za-z][\w-]{1,40})[`'\"*]{0,2}\s{1,3}(?:python\s{1,3})?(?:module|library|package|framework)\b",
    re.I,
)
BROUGHT = 0.85
"""Value of installing the project, relative to naming its dependencies."""
_OTHER_WORDS = (
    "standard python following same external third-party this core main popular single "
    "built-in builtin another any no one a an own other that its your small"
)
_NOT_NAMES = frozenset(_OTHER_WORDS.split())


def dependencies(question: Question, facts: Facts, reading: ReadmeReading) -> Criterion:
    inventions = _inventions(facts, reading)
    wanted = [name for name in dict.fromkeys(map(shell.package_name, facts.dependencies)) if name]
    if wanted:
        share, note, evidence = _named(wanted, reading)
    else:
        share, note, evidence = _none_needed(reading)
    loss = min(1.0, 0.3 * len(inventions))
    reason = note + ("; " + "; ".join(text for text, _ in inventions[:4]) if inventions else "")
    evidence += [place for _, place in inventions[:4]]
    factor, what, places = reading.untrue(question.key)
    evidence += [*places, fact("dependencies: " + (", ".join(facts.dependencies) or "none"))]
    return verdict(question, question.maximum * max(0.0, share - loss) * factor, reason + what, evidence)


def _named(wanted: list[str], reading: ReadmeReading) -> tuple[float, str, list[Evidence]]:
    outline = reading.page
    installing = [outline.section(h) for h in outline.headings if _INSTALL_HEADING.search(h.text)]
    installing += [(c.start, c.end) for c in reading.commands if c.packages]
    full: list[str] = []
    half: list[str] = []
    evidence: list[Evidence] = []
    for name in wanted:
        pattern = re.compile(
            r"(?<![\w-])" + re.sub("-", "[-_.]", re.escape(name).replace(r"\-", "-")) + r"(?![\w])", re.I
        )
        places = [match.span() for match in islice(pattern.finditer(outline.text), 200)]
        inside = [place for place in places if any(a <= place[0] and place[1] <= b for a, b in installing)]
        if inside:
            full.append(name)
        elif places:
            half.append(name)
        if inside or places:
            evidence.append(reading.at(*(inside or places)[0]))
    missing = [name for name in wanted if name not in full and name not in half]
    # Installing the project installs its declared dependencies, even if the README does not name them.
    brought = _brings(reading) if missing or half else None
    parts = []
    if full:
        parts.append(f"names {', '.join(full)} where one installs")
    if half:
        parts.append(f"names {', '.join(half)}, but not in the installation instructions")
    if missing:
        parts.append(f"does not name {', '.join(missing)}")
    share = (len(full) + 0.5 * len(half)) / len(wanted)
    if brought is not None:
        worth = BROUGHT * reading.guess
        parts.append(f"but installs the project, which brings them along ({worth:.2f} of the points for naming them)")
        evidence.append(brought)
        share = (len(full) + max(0.5, worth) * len(half) + worth * len(missing)) / len(wanted)
    return share, "; ".join(parts), evidence


def _brings(reading: ReadmeReading) -> Evidence | None:
    """Return the command that installs the project itself or a requirements file that exists, or None."""
    for command in reading.commands:
        itself = any(one.text.split("[")[0] == "." or reading.project.owns(one.package) for one in command.installed)
        has_files = reading.project.index is not None and not any(map(reading.project.lacks, command.files))
        if itself or (command.files and has_files):
            return reading.mark(command)
    return None


def _none_needed(reading: ReadmeReading) -> tuple[float, str, list[Evidence]]:
    """Rate the statement that nothing is needed.

    It is worth less in a README that shows no knowledge of the project.
    """
    share, note, evidence = _no_dependencies_stated(reading)
    if reading.guess < 0.99:
        note += f"; × {reading.guess:.2f}, since anybody could have guessed that"
    return share * reading.guess, note, evidence


def _no_dependencies_stated(reading: ReadmeReading) -> tuple[float, str, list[Evidence]]:
    outline = reading.page
    match = _NONE_NEEDED.search(outline.text)
    if match:
        return 1.0, "says that it needs no other packages, which is true", [reading.at(*match.span())]
    for command in reading.commands:
        if command.packages and all(map(reading.project.owns, command.packages)):
            place = reading.mark(command)
            return 0.9, "its installation names the project and no other package, which is true", [place]
    for heading in outline.headings:
        if _INSTALL_HEADING.search(heading.text):
            place = reading.mark(heading)
            return 0.6, "has an installation section but does not say that no packages are needed", [place]
    return 0.2, "says nothing about what has to be installed (no packages are needed)", []


def _inventions(facts: Facts, reading: ReadmeReading) -> list[tuple[str, Evidence]]:
    allowed = {shell.package_name(name) for name in facts.dependencies} | known.TOOLING
    found: dict[str, tuple[str, Evidence]] = {}
    outline = reading.page
    developing = [outline.section(h) for h in outline.headings[1:] if _DEVELOPING.search(h.text)]
    for command in reading.commands:
        # Development requires more packages than the facts list, so ignore sections about development.
        if any(start <= command.start < end for start, end in developing):
            continue
        for name in command.packages:
            if name not in allowed and not reading.project.owns(name):
                place = reading.mark(command)
                found.setdefault(name, (f"installs {quote(name, 40)}, which the project does not need", place))
        for name in command.files:
            if reading.project.lacks(name):
                place = reading.mark(command)
                found.setdefault(name, (f"installs from {quote(name, 40)}, which does not exist", place))
    for name, place in _imports(reading):
        if name not in sys.stdlib_module_names and not reading.project.has_module(name, allowed):
            found.setdefault(name.lower(), (f"imports {quote(name, 40)}, which is not the project's", place))
    for match in islice(_USES.finditer(reading.page.text), 50):
        name = match.group(1)
        usual = name in sys.stdlib_module_names or name.lower() in sys.stdlib_module_names | _NOT_NAMES
        if not usual and not reading.project.has_module(name, allowed):
            place = reading.at(*match.span())
            found.setdefault(name.lower(), (f"says that it uses {quote(name, 40)}, which it does not", place))
    return list(found.values())


def _imports(reading: ReadmeReading) -> list[tuple[str, Evidence]]:
    found: list[tuple[str, Evidence]] = []
    for code in reading.page.codes:
        tree = example_of(code.code) if code.language in PYTHON else None
        for one in imports_of(tree) if tree is not None else ():
            start = reading.page.text.find(one.top, code.start, code.end)
            if start >= 0:
                found.append((one.top, reading.at(start, start + len(one.top))))
    return found
