"""Every claim of a page with its truth, by static analysis alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from workbench.base.text import one_line
from workbench.checking.facts import FactClaims
from workbench.checking.names import NameClaims
from workbench.checking.options import DefaultClaims, OptionClaims
from workbench.checking.packages import PackageClaims
from workbench.checking.verdicts import BlockResult, Part, Verdict
from workbench.claims.claim import CheckedClaim, LookupResult, Truth
from workbench.claims.page import Page, parse_page
from workbench.claims.project import ProjectIndex
from workbench.claims.python import python_of


def claims_of_page(page: Page, project: ProjectIndex, helps: Mapping[str, str]) -> list[CheckedClaim]:
    """List the claims of a page by line, each once per line; ``helps`` is from :func:`.environment.help_texts`."""
    found: dict[tuple[int, str, str], CheckedClaim] = {}
    for claims in (
        NameClaims(page, project).all(),
        OptionClaims(page, project, helps).all(),
        DefaultClaims(page, project).all(),
        PackageClaims(page, project).all(),
        FactClaims(page, project).all(),
    ):
        for claim in claims:
            found.setdefault((claim.line, claim.kind, claim.text), _in_its_section(claim, page))
    return sorted(found.values(), key=lambda claim: claim.line)


def untrue_claims(readme: str, project: ProjectIndex) -> list[CheckedClaim]:
    """Claims of a README that the repository contradicts, as input for a judge; nothing is run."""
    claims = claims_of_page(parse_page(readme, "README.md"), project, {})
    return [one for one in claims if one.lookup.truth is Truth.UNTRUE]


#: How a sentence says of what it names that it is not there, is called otherwise, or belongs to another time or language.
_NOT_SO = re.compile(
    r"\b(?:do(?:es)?\s+not|doesn't|don't|did\s+not|no\s+longer|is\s+not|isn't|are\s+not|aren't|cannot|never)\b[^.]{0,60}"
    r"\b(?:exist|available|supported|provided?|work|present|there|published|included|implemented|have|part)\b|"
    r"\bno such\b|\bthere (?:is|are) no\b|\b(?:re|un)named\b|\bremoved\b|\bdeprecated\b|\bformerly\b|\bmisspel|\btypos?\b|"
    r"\b(?:javascript|typescript|java|kotlin|swift|ruby|rust|golang|c\+\+)\b",
    re.I,
)
_OF_PROSE = frozenset({"name", "extra", "dependency", "option", "variable", "default", "file"})


def _in_its_section(claim: CheckedClaim, page: Page) -> CheckedClaim:
    """Turn untrue into unknown where the surrounding text says that it does not hold, or not today."""
    if claim.lookup.truth is not Truth.UNTRUE:
        return claim
    if claim.kind in _OF_PROSE:
        for first, written in page.prose:
            if first <= claim.line <= first + written.count("\n") and (found := _NOT_SO.search(written)):
                reason = f"{claim.lookup.reason}; its paragraph says “{one_line(found[0], 40)}”"
                return replace(claim, lookup=LookupResult(Truth.UNKNOWN, reason))
    for first, last, heading in page.another_time:
        if first <= claim.line <= last:
            reason = f"{claim.lookup.reason}; it stands below “{one_line(heading, 40)}”"
            return replace(claim, lookup=LookupResult(Truth.UNKNOWN, reason))
    return claim


_OF_SNIPPETS = frozenset({"name", "module", "parameter"})


def agreed(claims: Iterable[CheckedClaim], blocks: Sequence[BlockResult]) -> list[CheckedClaim]:
    """Turn untrue into unknown where a snippet that uses the name worked."""
    used: dict[tuple[str, int], str] = {}
    for block in blocks:
        if block.kind in ("python", "doctest"):
            for part in block.parts:
                if part.verdict is Verdict.WORKS:
                    for line, text in _executed(part):
                        used[block.path, line] = f"{used.get((block.path, line), '')}\n{text}"
    found = []
    for claim in claims:
        row = used.get((claim.path, claim.line), "")
        word = (re.findall(r"\w+", claim.text) or [""])[-1]
        if (
            claim.lookup.truth is Truth.UNTRUE
            and claim.kind in _OF_SNIPPETS
            and re.search(rf"\b{re.escape(word)}\b", row)
        ):
            reason = f"{claim.lookup.reason} in the sources, and it works"
            claim = replace(claim, lookup=LookupResult(Truth.UNKNOWN, reason))
        found.append(claim)
    return found


def _executed(part: Part) -> Iterator[tuple[int, str]]:
    """Yield the lines that running a snippet executes: all but function bodies and branches."""
    tree = python_of(part.code)
    lines = part.code.split("\n")
    inside = {
        number
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.If | ast.Try)
        for number in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)
    }
    for number, text in enumerate(lines, 1):
        if number not in inside:
            yield part.line + number - 1, text


def fixed(text: str, claims: Iterable[CheckedClaim]) -> tuple[str, tuple[CheckedClaim, ...]]:
    """Mend a page's text and list the mended claims: those with one nearest true name that stand once on their line."""
    lines = text.splitlines(keepends=True)
    mended = []
    for claim in claims:
        found = claim.lookup
        if found.truth is not Truth.UNTRUE or not found.exact or not found.nearest or claim.line > len(lines):
            continue
        pattern = rf"(?<![\w-]){re.escape(claim.text)}(?![\w-])"
        line, count = re.subn(pattern, lambda _: found.nearest, lines[claim.line - 1])  # noqa: B023 - used at once
        if count == 1:
            lines[claim.line - 1] = line
            mended.append(claim)
    return "".join(lines), tuple(mended)
