"""The strict rubric's rules: real headings, sections with content, runnable examples, checked metadata.

The maximum of each tier is the same as in ``aeo-bench`` (15, 25, 30, 30), so that the two rubrics are comparable. An
unparsed answer scores 0 here as well.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import partial

from workbench.base.text import plural
from workbench.claims import shell
from workbench.claims.page import PYTHON, SHELL, Code, Heading, Page, outline
from workbench.claims.python import example_of
from workbench.rubric import aeo_bench
from workbench.rubric.judging import QUALITY, STRICT_ACCURACY, Rubric, Rule, RuleResult, ScoredDocument
from workbench.rubric.metadata import metadata_findings, right_context, software_types
from workbench.rubric.scorecard import Evidence, fact, quote, quoted
from workbench.rubric.sources import KnownProject

NAME = "strict"

_INSTALLATION = re.compile(
    r"\b(install\w*|set[\s-]?up|requirements?|prerequisites?|dependenc\w+|getting started)\b", re.I
)
_USAGE = re.compile(
    r"\b(usage|using|how to (use|run)|running|run|quick\s?start|getting started|commands?|cli|command[\s-]line)\b", re.I
)
_EXAMPLES = re.compile(r"\b(examples?|demos?|samples?|quick\s?start|tutorial|usage)\b", re.I)
_LEAST_WORDS = 3


def _must_mention(document: ScoredDocument) -> RuleResult:
    maximum = 4.0
    if not document.parsed or not document.readme.strip():
        reason = "the answer does not parse" if not document.parsed else "the README is empty"
        return RuleResult(0.0, f"nothing to score: {reason}")
    if document.facts is None:
        return RuleResult(None, "there are no facts to compare with")
    items = document.facts.must_mention
    if not items:
        return RuleResult(maximum, "the facts require no particular mention")
    evidence: list[Evidence] = []
    missing: list[str] = []
    for item in items:
        words = r"[\s_-]+".join(re.escape(word) for word in item.split())
        match = re.search(rf"(?<!\w){words}(?:e?s)?(?!\w)", document.readme, re.I) if words else None
        if match:
            evidence.append(quoted(document.readme, *match.span()))
        else:
            missing.append(quote(item, 40))
    have = len(items) - len(missing)
    reason = f"mentions {have} of {len(items)}" + (f"; not: {', '.join(missing[:6])}" if missing else "")
    evidence.append(fact("must mention: " + ", ".join(items)))
    return RuleResult(round(maximum * have / len(items), 1), reason, tuple(evidence))


def _readme(document: ScoredDocument) -> RuleResult:
    page = outline(document.readme)
    heading = next((h for h in page.headings if h.level == 1 and h.text), None)
    words = sum(len(block.text.split()) for block in page.paragraphs)
    enough = len(document.readme) > aeo_bench.MINIMUM_LENGTH and words >= 15
    points = (2.0 if heading else 0.0) + (3.0 if enough else 0.0)
    note = "a title" if heading else "no title (a heading of level 1)"
    reason = f"{note}; {words:,} words outside of code" + ("" if enough else ", 15 are needed")
    evidence = (quoted(document.readme, heading.start, heading.end),) if heading else ()
    return RuleResult(points, reason, evidence)


def _metadata(document: ScoredDocument) -> RuleResult:
    metadata = document.metadata
    findings = metadata_findings(metadata)
    evidence = tuple(Evidence("metadata", finding.message, path=finding.path) for finding in findings)
    if not isinstance(metadata, Mapping) or not metadata:
        return RuleResult(0.0, findings[0].message, evidence)
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
    return RuleResult(len(have) + clean, reason, evidence)


def _section(document: ScoredDocument, name: str, maximum: float, pattern: re.Pattern[str]) -> RuleResult:
    readme = document.readme
    page = outline(readme)
    best: tuple[float, Heading, str] | None = None
    for heading in page.headings:
        # The page's title ("Setup Tool") is not a section.
        if heading.level == 1 and heading is page.headings[0]:
            continue
        if not pattern.search(heading.text):
            continue
        share, note = _content(page, heading)
        if best is None or share > best[0]:
            best = (share, heading, note)
    if best is None:
        return RuleResult(0.0, f"no heading for {name}")
    share, heading, note = best
    place = quoted(readme, heading.start, heading.end)
    reason = f"the section {quote(heading.text, 60)!r} at line {place.line} {note}"
    return RuleResult(round(maximum * share, 1), reason, (place,))


def _content(page: Page, heading: Heading) -> tuple[float, str]:
    start, end = page.section(heading)
    words = sum(len(block.text.split()) for block in page.blocks if start <= block.start < end)
    fences = [fence for fence in page.codes if start <= fence.start < end and fence.code.strip()]
    if fences and words >= _LEAST_WORDS:
        return 1.0, "has text and code"
    if fences:
        return 0.9, "has code but hardly any text"
    if words >= 15:
        return 0.75, "has text but no code block"
    if words >= _LEAST_WORDS:
        return 0.5, "has one short text and no code block"
    return 0.1, "has no content"


def _examples(document: ScoredDocument) -> RuleResult:
    maximum = 8.0
    page = outline(document.readme)
    project = KnownProject(document.view, document.facts)
    runnable: list[Evidence] = []
    rejected: list[tuple[str, Evidence]] = []
    found = shell.started_by(page)
    for fence in page.codes:
        if fence.indented or not fence.code.strip():
            continue
        problem = _problem(fence, found, project)
        place = quoted(document.readme, fence.start, fence.end)
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
    reason = plural(len(runnable), "runnable fenced example") + (", under a heading for them" if under else "")
    reason += f"; not counted: {'; '.join(text for text, _ in rejected[:3])}" if rejected else ""
    evidence = (*runnable[:4], *(place for _, place in rejected[:3]))
    return RuleResult(round(maximum * share, 1), reason, evidence)


def _problem(fence: Code, found: list[shell.Started], project: KnownProject) -> str | None:
    if not fence.closed:
        return "the fence is never closed"
    if fence.language in PYTHON:
        return _python_problem(fence.code, project)
    if fence.language and fence.language not in SHELL:
        return f"{quote(fence.language, 20)} is neither shell nor Python"
    inside = [c for c in found if fence.start <= c.start < fence.end]
    if not inside:
        return "no command in it"
    if all(command.packages or command.files for command in inside):
        return "it only installs"
    known = project.modules | project.packages
    if known and not any(_names(" ".join(command.words), known) for command in inside):
        return "it contains no command of this project"
    return None


def _python_problem(code: str, project: KnownProject) -> str | None:
    tree = example_of(code)
    if tree is None:
        return "it is not valid Python"
    if not any(isinstance(node, ast.Call | ast.Import | ast.ImportFrom) for node in ast.walk(tree)):
        return "it calls nothing"
    return None if not project.modules or _names(code, project.modules) else "it does not use this project's modules"


def _names(text: str, known: frozenset[str]) -> bool:
    lowered = text.lower()
    words = {*re.findall(r"\w+", lowered), *re.findall(r"\w+(?:-\w+)+", lowered)}
    return any(name.lower() in words for name in known)


RUBRIC = Rubric(
    NAME,
    "Strict",
    "real headings with content, runnable fenced examples, every fact scored, metadata checked against schema.org",
    (
        Rule(1, "json", "Answer parses", 5.0, aeo_bench.answer_parses, needs_answer=False),
        Rule(1, "readme", "README", 5.0, _readme),
        Rule(1, "metadata", "Schema.org metadata", 5.0, _metadata),
        Rule(
            2,
            "installation",
            "Installation",
            8.0,
            partial(_section, name="installation", maximum=8.0, pattern=_INSTALLATION),
        ),
        Rule(2, "usage", "Usage", 9.0, partial(_section, name="usage", maximum=9.0, pattern=_USAGE)),
        Rule(2, "examples", "Runnable examples", 8.0, _examples),
        *STRICT_ACCURACY,
        Rule(3, "must_mention", "Must mention", 4.0, _must_mention, needs_answer=False),
        *QUALITY,
    ),
    accuracy_limit=20_000,
    quality_limit=20_000,
    reference_limit=10_000,
)
"""To add a criterion, add an entry here and its function above; see docs/extending/criterion.md."""
