"""The dependencies that a README names where one installs, and what it invents."""

from __future__ import annotations

import re
import sys
from itertools import islice

from workbench.rubric import commands, spans
from workbench.rubric.judging import FactsLike, Question
from workbench.rubric.markdown import PYTHON
from workbench.rubric.offline_reading import Reading, verdict
from workbench.rubric.scorecard import Criterion, Evidence

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
"""What installing the project is worth against naming its dependencies."""
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
    factor, what, places = reading.untrue(question.key)
    evidence += [*places, spans.fact("dependencies: " + (", ".join(facts.dependencies) or "none"))]
    return verdict(question, question.maximum * max(0.0, share - loss) * factor, reason + what, evidence)


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
    # An installer brings along what the project declares: who installs the project has its dependencies, unnamed.
    brought = _brings(reading) if missing or half else None
    parts = []
    if full:
        parts.append(f"names {', '.join(full)} where one installs")
    if half:
        parts.append(f"names {', '.join(half)}, but not where one installs")
    if missing:
        parts.append(f"does not name {', '.join(missing)}")
    share = (len(full) + 0.5 * len(half)) / len(wanted)
    if brought is not None:
        worth = BROUGHT * reading.guess
        parts.append(f"but installs the project, which brings them along (worth {worth:.2f} of naming them)")
        evidence.append(brought)
        share = (len(full) + max(0.5, worth) * len(half) + worth * len(missing)) / len(wanted)
    return share, "; ".join(parts), evidence


def _brings(reading: Reading) -> Evidence | None:
    """Return the command that installs the project itself or a file of requirements that is there, None without one."""
    for command in reading.commands:
        packages, files = commands.installs(command)
        words = {word.split("[")[0] for word in command.words[2:]}
        itself = any(reading.project.owns(name) for name in packages) or (commands.is_install(command) and "." in words)
        if itself or (files and reading.project.files is not None and not any(map(reading.project.lacks, files))):
            return spans.at(reading.readme, command.start, command.end)
    return None


def _none_needed(reading: Reading) -> tuple[float, str, list[Evidence]]:
    """Return what saying that nothing is needed counts: less where the README knows nothing of what it speaks of."""
    share, said, evidence = _said_that_none(reading)
    if reading.guess < 0.99:
        said += f"; × {reading.guess:.2f}, since anybody could have guessed that"
    return share * reading.guess, said, evidence


def _said_that_none(reading: Reading) -> tuple[float, str, list[Evidence]]:
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
