"""Tier 3 without a model: the README compared with the case's facts, word by word and command by command.

It measures what can be measured: a README in other words than the facts scores lower here than with a model judge, and
a false sentence made of the right words scores as if it were true. What it finds is shown, with the place.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from itertools import islice

from workbench.rubric import commands, spans, terms
from workbench.rubric.judging import Brief, FactsLike, Question
from workbench.rubric.markdown import PYTHON, Outline
from workbench.rubric.project import Project
from workbench.rubric.scorecard import Criterion, Evidence

JUDGE = "offline"

_INSTALL_HEADING = re.compile(r"install|require|depend|prerequisite|set\s?up|getting started|quick\s?start", re.I)
_DEVELOPING = re.compile(r"test|develop|contribut|hacking|build", re.I)
_NONE_NEEDED = re.compile(
    r"standard[\s-]library|no\s{1,5}(?:\w{1,20}[\s-]{1,5}){0,2}(?:dependenc|requirement|package)|stdlib|"
    r"(?:without|zero|needs?\s{1,5}no|not\s{1,5}need|nothing\s{1,5}(?:else|more|besides))\s{1,5}(?:\w{1,20}[\s-]{1,5}){0,3}"
    r"(?:dependenc|package|librar|install)|dependenc\w{1,9}\W{1,8}none|nothing\s{1,5}to\s{1,5}install",
    re.I,
)
_COMMON_FILES = frozenset({"main.py", "cli.py", "app.py", "__main__.py", "__init__.py", "core.py", "run.py"})
_USES = re.compile(
    r"\b(?:uses?|using|requires?|needs?|built (?:on|with)|based on|depends? on|imports?|powered by)\s{1,3}(?:the\s{1,3})?"
    r"[`'\"*]{0,2}([A-Za-z][\w-]{1,40})[`'\"*]{0,2}\s{1,3}(?:python\s{1,3})?(?:module|library|package|framework)\b",
    re.I,
)
_NOT_NAMES = frozenset(
    [
        *(
            "standard",
            "python",
            "following",
            "same",
            "external",
            "third-party",
            "this",
            "core",
            "main",
            "popular",
            "single",
        ),
        *(
            "built-in",
            "builtin",
            "another",
            "any",
            "no",
            "one",
            "a",
            "an",
            "own",
            "other",
            "that",
            "its",
            "your",
            "small",
        ),
    ]
)
FULL_COVERAGE = 0.7
"""Share of the facts' weighted words, near each other, that earns full points: paraphrase needs room."""
NO_COVERAGE = 0.15
"""Share below which nothing is earned: any two English texts have that much in common."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A README read once for all the questions of a tier."""

    readme: str
    outline: Outline
    words: list[terms.Token]
    commands: tuple[commands.Command, ...]
    project: Project


def read(brief: Brief, outline: Outline) -> Reading:
    """Read the README of a brief."""
    found = commands.commands(outline)
    return Reading(
        brief.readme, outline, terms.tokens(outline.text), found, Project.known_from(brief.facts, brief.view)
    )


def purpose(question: Question, facts: FactsLike, reading: Reading) -> Criterion:
    """Score how much of the facts' main purpose the README says, best within one paragraph."""
    wanted = terms.weights(facts.main_purpose)
    if not wanted:
        return _criterion(question, None, "the facts state no main purpose")
    found = terms.coverage(wanted, reading.words)
    measure = 0.6 * found.together + 0.4 * found.share
    points = question.maximum * ramp(measure)
    spelled = terms.spelled(facts.main_purpose)
    reason = f"{found.together:.0%} of the purpose's words stand in one paragraph, {found.share:.0%} anywhere" + (
        f"; missing: {', '.join(spelled[item] for item in found.missing[:6])}" if found.missing else ""
    )
    evidence = [spans.fact(facts.main_purpose)]
    if found.end > found.start:
        evidence.insert(0, spans.at(reading.readme, found.start, found.end))
    return _criterion(question, points, reason, evidence)


def ramp(share: float) -> float:
    """Return 0 below 15 % of the words, 1 from 70 %, straight between."""
    return min(1.0, max(0.0, (share - NO_COVERAGE) / (FULL_COVERAGE - NO_COVERAGE)))


def dependencies(question: Question, facts: FactsLike, reading: Reading) -> Criterion:
    """Score the dependencies that are named where one installs, less what is invented."""
    inventions = _inventions(facts, reading)
    wanted = [name for name in dict.fromkeys(map(commands.package_name, facts.dependencies)) if name]
    if wanted:
        share, said, evidence = _named(wanted, reading)
    else:
        share, said, evidence = _none_needed(reading)
    loss = min(1.0, 0.3 * len(inventions))
    reason = said + ("; " + "; ".join(text for text, _ in inventions[:4]) if inventions else "")
    evidence += [place for _, place in inventions[:4]]
    evidence.append(spans.fact("dependencies: " + (", ".join(facts.dependencies) or "none")))
    return _criterion(question, question.maximum * max(0.0, share - loss), reason, evidence)


def _named(wanted: list[str], reading: Reading) -> tuple[float, str, list[Evidence]]:
    outline = reading.outline
    installing = [outline.section(h) for h in outline.headings if _INSTALL_HEADING.search(h.text)]
    installing += [(c.start, c.end) for c in reading.commands if commands.installs(c)[0]]
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
            evidence.append(spans.at(reading.readme, *(inside or places)[0]))
    missing = [name for name in wanted if name not in full and name not in half]
    parts = []
    if full:
        parts.append(f"names {', '.join(full)} where one installs")
    if half:
        parts.append(f"names {', '.join(half)}, but not where one installs")
    if missing:
        parts.append(f"does not name {', '.join(missing)}")
    return (len(full) + 0.5 * len(half)) / len(wanted), "; ".join(parts), evidence


def _none_needed(reading: Reading) -> tuple[float, str, list[Evidence]]:
    outline = reading.outline
    match = _NONE_NEEDED.search(outline.text)
    if match:
        return 1.0, "says that it needs no other packages, which is true", [spans.at(reading.readme, *match.span())]
    for command in reading.commands:
        packages, _ = commands.installs(command)
        if packages and all(reading.project.owns(name) for name in packages):
            place = spans.at(reading.readme, command.start, command.end)
            return 0.9, "its installation names the project and no other package, which is true", [place]
    for heading in outline.headings:
        if _INSTALL_HEADING.search(heading.text):
            place = spans.at(reading.readme, heading.start, heading.end)
            return 0.6, "has an installation section but does not say that no packages are needed", [place]
    return 0.2, "says nothing about what has to be installed (no packages are needed)", []


def _inventions(facts: FactsLike, reading: Reading) -> list[tuple[str, Evidence]]:
    allowed = {commands.package_name(name) for name in facts.dependencies} | commands.TOOLING
    found: dict[str, tuple[str, Evidence]] = {}
    outline = reading.outline
    developing = [outline.section(h) for h in outline.headings[1:] if _DEVELOPING.search(h.text)]
    for command in reading.commands:
        # What one needs to work on the project is more than what it needs to run; the facts list only the latter.
        if any(start <= command.start < end for start, end in developing):
            continue
        packages, files = commands.installs(command)
        for name in packages:
            if name not in allowed and not reading.project.owns(name):
                place = spans.at(reading.readme, command.start, command.end)
                found.setdefault(name, (f"installs {spans.quote(name, 40)}, which the project does not need", place))
        for name in files:
            if reading.project.lacks(name):
                place = spans.at(reading.readme, command.start, command.end)
                found.setdefault(name, (f"installs from {spans.quote(name, 40)}, which is not there", place))
    for name, place in _imports(reading):
        if name not in sys.stdlib_module_names and not reading.project.has_module(name, allowed):
            found.setdefault(name.lower(), (f"imports {spans.quote(name, 40)}, which is not the project's", place))
    for match in islice(_USES.finditer(reading.outline.text), 50):
        name = match.group(1)
        known = name in sys.stdlib_module_names or name.lower() in sys.stdlib_module_names | _NOT_NAMES
        if not known and not reading.project.has_module(name, allowed):
            place = spans.at(reading.readme, *match.span())
            found.setdefault(name.lower(), (f"says that it uses {spans.quote(name, 40)}, which it does not", place))
    return list(found.values())


def _imports(reading: Reading) -> list[tuple[str, Evidence]]:
    found: list[tuple[str, Evidence]] = []
    for fence in reading.outline.fences:
        if fence.language not in PYTHON:
            continue
        code = re.sub(r"^(>>>|\.\.\.) ?", "", fence.code, flags=re.M)
        for match in re.finditer(
            r"^[ \t]*(?:from[ \t]+([A-Za-z_]\w*)[\w.]*[ \t]+import|import[ \t]+([A-Za-z_]\w*))", code, re.M
        ):
            name = match.group(1) or match.group(2)
            start = reading.outline.text.find(name, fence.start, fence.end)
            if start >= 0:
                found.append((name, spans.at(reading.readme, start, start + len(name))))
    return found


def run_command(question: Question, facts: FactsLike, reading: Reading) -> Criterion:
    """Score the run command: the same (all), the same program with other arguments, the right file, or a mention."""
    wanted = commands.normal(commands.split(facts.run_command))
    if not wanted:
        return _criterion(question, None, "the facts state no run command")
    start_of = commands.head(wanted)
    share, said, place = 0.0, f"no command starts {' '.join(start_of)}", None
    for command in reading.commands:
        value, what = _alike(command, wanted, start_of, facts.main_file)
        if value > share:
            share, said, place = value, what, spans.at(reading.readme, command.start, command.end)
    if share < 0.9 and (code := _in_code(facts.run_command, reading)) is not None:
        share, said, place = 1.0, "shows the same code", code
    if not share:
        name = facts.main_file.rsplit("/", 1)[-1]
        found = reading.outline.text.find(name) if name else -1
        if found >= 0:
            share, said = 0.2, f"names {name} but no command that runs it"
            place = spans.at(reading.readme, found, found + len(name))
    wrong = _missing_files(reading)
    if wrong is not None:
        share, said = max(0.0, share - 0.25), f"{said}; {wrong.text!r} runs a file that is not there"
    evidence = [item for item in (place, wrong) if item is not None]
    return _criterion(question, question.maximum * share, said, [*evidence, spans.fact(facts.run_command)])


def _alike(
    command: commands.Command, wanted: tuple[str, ...], start: tuple[str, ...], main_file: str
) -> tuple[float, str]:
    words = command.words
    if words == wanted or (words[: len(wanted)] == wanted and len(start) > 1):
        return 1.0, "gives the run command"
    if commands.head(words) == start:
        options = [word for word in wanted[len(start) :] if word.startswith("-")]
        if all(option in words for option in options):
            return 1.0, "gives the run command, with other arguments"
        return 0.85, "starts the right program, without all of its options"
    module = main_file.removesuffix(".py").replace("/", ".").removesuffix(".__main__").removesuffix(".__init__")
    if words[:2] == ("python", main_file) or (module and words[:3] == ("python", "-m", module)):
        return 0.85, "runs the right file, in another way than the facts"
    name = main_file.rsplit("/", 1)[-1]
    # ``main.py`` is everybody's file name: only with its folder does it mean this project's.
    name = main_file if name in _COMMON_FILES else name
    if name and any(word == name or word.endswith(f"/{name}") for word in words) and len(words) > 1:
        return 0.6, f"a command uses {name}, but not as the facts do"
    return 0.0, ""


def _in_code(code: str, reading: Reading) -> Evidence | None:
    """Find the facts' run command where it is Python code rather than a shell command."""
    flat = re.sub(r"\s+", "", code).replace("'", '"')
    try:
        if len(flat) < 4 or not any(
            isinstance(n, ast.Import | ast.ImportFrom | ast.Call) for n in ast.walk(ast.parse(code))
        ):
            return None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for fence in reading.outline.fences:
        if flat in re.sub(r"\s+", "", fence.code).replace("'", '"'):
            return spans.at(reading.readme, fence.start, fence.end)
    return None


def _missing_files(reading: Reading) -> Evidence | None:
    for command in reading.commands:
        if command.words[:1] == ("python",) and len(command.words) > 1:
            name = command.words[1]
            if name.endswith(".py") and reading.project.lacks(name):
                return spans.at(reading.readme, command.start, command.end)
    return None


def key_features(question: Question, facts: FactsLike, reading: Reading) -> Criterion:
    """Score the share of key features of which at least 60 % of the words stand in one paragraph."""
    if not facts.key_features:
        return _criterion(question, None, "the facts list no key features")
    evidence: list[Evidence] = []
    missing: list[str] = []
    for feature in facts.key_features:
        found = terms.coverage(terms.weights(feature), reading.words)
        if found.together >= 0.6:
            evidence.append(spans.at(reading.readme, found.start, found.end))
        else:
            missing.append(spans.quote(feature, 50))
    have = len(facts.key_features) - len(missing)
    reason = f"describes {have} of {len(facts.key_features)} key features"
    reason += f"; not found: {'; '.join(missing[:4])}" if missing else ""
    evidence.append(spans.fact("key features: " + "; ".join(facts.key_features)))
    return _criterion(question, question.maximum * have / len(facts.key_features), reason, evidence)


def _criterion(
    question: Question, points: float | None, reason: str, evidence: list[Evidence] | None = None
) -> Criterion:
    given = None if points is None else round(points, 1)
    return Criterion(
        3,
        question.key,
        question.title,
        given,
        question.maximum,
        f"offline judge: {reason}",
        tuple(evidence or ()),
        JUDGE,
    )
