"""The strict rubric's rules: real headings, sections that say something, examples that could run, checked metadata.

Tier maxima are those of ``aeo-bench`` (15, 25, 30, 30), so that the two stand side by side. An answer that does not
parse scores 0 here as well.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from workbench.rubric import aeo_bench, commands, spans
from workbench.rubric.judging import Brief
from workbench.rubric.markdown import PYTHON, SHELL, Fence, Heading, Outline, outline
from workbench.rubric.metadata import metadata_findings, right_context, software_types
from workbench.rubric.project import Project
from workbench.rubric.scorecard import Criterion, Evidence

NAME = "strict"

_INSTALLATION = re.compile(
    r"\b(install\w*|set[\s-]?up|requirements?|prerequisites?|dependenc\w+|getting started)\b", re.I
)
_USAGE = re.compile(
    r"\b(usage|using|how to (use|run)|running|run|quick\s?start|getting started|commands?|cli|command[\s-]line)\b", re.I
)
_EXAMPLES = re.compile(r"\b(examples?|demos?|samples?|quick\s?start|tutorial|usage)\b", re.I)
_UNPARSED = "not looked at: the answer does not parse"
_LEAST_WORDS = 3


def structural(brief: Brief, *, parsed: bool) -> list[Criterion]:
    """Score tier 1: parses (5), a README with a title and something to read (5), metadata for software (5)."""
    return [aeo_bench.parses(parsed), _readme(brief, parsed), _metadata(brief.metadata, parsed)]


def sections(brief: Brief, *, parsed: bool) -> list[Criterion]:
    """Score tier 2: installation (8) and usage (9) sections with content, runnable fenced examples (8)."""
    if not parsed:
        return [
            Criterion(2, key, title, 0.0, maximum, _UNPARSED)
            for key, title, maximum in (
                ("installation", "Installation", 8),
                ("usage", "Usage", 9),
                ("examples", "Examples", 8),
            )
        ]
    page = outline(brief.readme)
    return [
        _section(brief.readme, page, "installation", "Installation", 8, _INSTALLATION),
        _section(brief.readme, page, "usage", "Usage", 9, _USAGE),
        _examples(brief, page),
    ]


def must_mention(brief: Brief, *, parsed: bool) -> list[Criterion]:
    """Score the facts' must-mention items (4 points of tier 3): each one, in any case, as whole words."""
    title, maximum = "Must mention", 4.0
    if not parsed or not brief.readme.strip():
        reason = "the answer does not parse" if not parsed else "the README is empty"
        return [Criterion(3, "must_mention", title, 0.0, maximum, f"nothing to look at: {reason}")]
    if brief.facts is None:
        return [Criterion(3, "must_mention", title, None, maximum, "there are no facts to compare with")]
    items = brief.facts.must_mention
    if not items:
        return [Criterion(3, "must_mention", title, maximum, maximum, "the facts demand no particular mention")]
    evidence: list[Evidence] = []
    missing: list[str] = []
    for item in items:
        words = r"[\s_-]+".join(re.escape(word) for word in item.split())
        match = re.search(rf"(?<!\w){words}(?:e?s)?(?!\w)", brief.readme, re.I) if words else None
        if match:
            evidence.append(spans.at(brief.readme, *match.span()))
        else:
            missing.append(spans.quote(item, 40))
    have = len(items) - len(missing)
    reason = f"mentions {have} of {len(items)}" + (f"; not: {', '.join(missing[:6])}" if missing else "")
    evidence.append(spans.fact("must mention: " + ", ".join(items)))
    return [
        Criterion(3, "must_mention", title, round(maximum * have / len(items), 1), maximum, reason, tuple(evidence))
    ]


def _readme(brief: Brief, parsed: bool) -> Criterion:
    title = "README"
    if not parsed:
        return Criterion(1, "readme", title, 0.0, 5.0, _UNPARSED)
    page = outline(brief.readme)
    heading = next((h for h in page.headings if h.level == 1 and h.text), None)
    words = sum(len(block.text.split()) for block in page.prose)
    enough = len(brief.readme) > aeo_bench.MINIMUM_LENGTH and words >= 15
    points = (2.0 if heading else 0.0) + (3.0 if enough else 0.0)
    said = "a title" if heading else "no title (a heading of level 1)"
    reason = f"{said}; {words:,} words outside of code" + ("" if enough else ", 15 are needed")
    evidence = (spans.at(brief.readme, heading.start, heading.end),) if heading else ()
    return Criterion(1, "readme", title, points, 5.0, reason, evidence)


def _metadata(metadata: object, parsed: bool) -> Criterion:
    title = "Schema.org metadata"
    if not parsed:
        return Criterion(1, "metadata", title, 0.0, 5.0, _UNPARSED)
    findings = metadata_findings(metadata)
    evidence = tuple(Evidence("metadata", finding.message, path=finding.path) for finding in findings)
    if not isinstance(metadata, Mapping) or not metadata:
        return Criterion(1, "metadata", title, 0.0, 5.0, findings[0].message, evidence)
    parts = {
        "@context": right_context(metadata.get("@context")),
        "a software type": bool(software_types(metadata)),
        "name": aeo_bench.truthy(metadata, "name") and isinstance(metadata.get("name"), str),
        "description": aeo_bench.truthy(metadata, "description") and isinstance(metadata.get("description"), str),
    }
    bad = sum(finding.severity in {"wrong", "unknown"} and finding.path[:1] != "@" for finding in findings)
    clean = max(0.0, 1.0 - 0.5 * bad) if parts["a software type"] else 0.0
    have = [name for name, there in parts.items() if there]
    absent = [name for name, there in parts.items() if not there]
    reason = f"has {', '.join(have) or 'none of the needed keys'}"
    reason += f"; lacks {', '.join(absent)}" if absent else ""
    reason += f"; {bad} unknown properties or wrong values" if bad else "; no unknown properties or wrong values"
    return Criterion(1, "metadata", title, len(have) + clean, 5.0, reason, evidence)


def _section(readme: str, page: Outline, key: str, title: str, maximum: float, pattern: re.Pattern[str]) -> Criterion:
    best: tuple[float, Heading, str] | None = None
    for heading in page.headings:
        # The title of the page ("Setup Tool") is not a section.
        if heading.level == 1 and heading is page.headings[0]:
            continue
        if not pattern.search(heading.text):
            continue
        share, said = _content(page, heading)
        if best is None or share > best[0]:
            best = (share, heading, said)
    if best is None:
        return Criterion(2, key, title, 0.0, maximum, f"no heading for {title.lower()}")
    share, heading, said = best
    place = spans.at(readme, heading.start, heading.end)
    reason = f"the section {spans.quote(heading.text, 60)!r} at line {place.line} {said}"
    return Criterion(2, key, title, round(maximum * share, 1), maximum, reason, (place,))


def _content(page: Outline, heading: Heading) -> tuple[float, str]:
    start, end = page.section(heading)
    words = sum(len(block.text.split()) for block in page.blocks if start <= block.start < end)
    fences = [fence for fence in page.fences if start <= fence.start < end and fence.code.strip()]
    if fences and words >= _LEAST_WORDS:
        return 1.0, "has text and code"
    if fences:
        return 0.9, "has code, hardly any text"
    if words >= 15:
        return 0.75, "has text but no code block"
    if words >= _LEAST_WORDS:
        return 0.5, "has one short text and no code block"
    return 0.1, "has no content"


def _examples(brief: Brief, page: Outline) -> Criterion:
    title, maximum = "Runnable examples", 8.0
    project = Project.known_from(brief.facts, brief.view)
    runnable: list[Evidence] = []
    rejected: list[tuple[str, Evidence]] = []
    found = commands.commands(page)
    for fence in page.fences:
        if fence.indented or not fence.code.strip():
            continue
        problem = _problem(fence, found, project)
        place = spans.at(brief.readme, fence.start, fence.end)
        if problem is None:
            runnable.append(place)
        else:
            rejected.append((f"line {place.line}: {problem}", place))
    under = any(
        _EXAMPLES.search(heading.text)
        and any(heading.end <= (e.start or 0) < page.section(heading)[1] for e in runnable)
        for heading in page.headings[1:]
    )
    share = min(1.0, 0.4 * len(runnable) + (0.2 if under else 0.0))
    reason = spans.counted(len(runnable), "runnable fenced example") + (", under a heading for them" if under else "")
    reason += f"; not counted: {'; '.join(text for text, _ in rejected[:3])}" if rejected else ""
    evidence = (*runnable[:4], *(place for _, place in rejected[:3]))
    return Criterion(2, "examples", title, round(maximum * share, 1), maximum, reason, evidence)


def _problem(fence: Fence, found: tuple[commands.Command, ...], project: Project) -> str | None:
    """Return why a fence is not a runnable example of this project, None if it is one."""
    if not fence.closed:
        return "the fence is never closed"
    if fence.language in PYTHON:
        return _python_problem(fence.code, project)
    if fence.language and fence.language not in SHELL:
        return f"{spans.quote(fence.language, 20)} is neither shell nor Python"
    inside = [c for c in found if fence.start <= c.start < fence.end]
    if not inside:
        return "no command in it"
    if all(any(commands.installs(command)) for command in inside):
        return "it only installs"
    known = project.modules | project.packages
    if known and not any(_names(" ".join(command.words), known) for command in inside):
        return "no command of this project in it"
    return None


def _python_problem(code: str, project: Project) -> str | None:
    lines = code.splitlines()
    if any(line.startswith(">>>") for line in lines):
        code = "\n".join(line[4:] for line in lines if line.startswith((">>>", "...")))
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "it is not valid Python"
    if not any(isinstance(node, ast.Call | ast.Import | ast.ImportFrom) for node in ast.walk(tree)):
        return "it calls nothing"
    return None if not project.modules or _names(code, project.modules) else "it does not use this project's modules"


def _names(text: str, known: frozenset[str]) -> bool:
    lowered = text.lower()
    words = {*re.findall(r"\w+", lowered), *re.findall(r"\w+(?:-\w+)+", lowered)}
    return any(name.lower() in words for name in known)
