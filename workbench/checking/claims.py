"""Every claim of a page with its truth, by static analysis alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from workbench.base.text import one_line
from workbench.checking.facts import FactClaims
from workbench.checking.names import NameClaims
from workbench.checking.options import DefaultClaims, OptionClaims
from workbench.checking.packages import PackageClaims
from workbench.checking.verdicts import BlockResult, ClaimResult, Part, Truth, Verdict
from workbench.claims.page import Page, parse_page
from workbench.claims.project import ProjectIndex
from workbench.claims.python import python_of
from workbench.rubric.judging import UntrueClaim
from workbench.rubric.spans import at


def claims_of_page(page: Page, project: ProjectIndex, helps: Mapping[str, str]) -> list[ClaimResult]:
    """List the claims of a page by line, each once per line; ``helps`` is from :func:`.environment.help_texts`."""
    found: dict[tuple[int, str, str], ClaimResult] = {}
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


def untrue_claims(readme: str, root: Path) -> list[UntrueClaim]:
    """Claims of a README that the repository contradicts, as input for a judge; nothing is run."""
    starts = [0, *accumulate(len(line) + 1 for line in readme.split("\n"))]
    return [
        UntrueClaim(one.kind, one_line(one.reason, 120), at(readme, starts[one.line - 1], starts[one.line] - 1))
        for one in claims_of_page(parse_page(readme, "README.md"), ProjectIndex(root), {})
        if one.truth is Truth.UNTRUE and 1 <= one.line < len(starts)
    ]


#: How a sentence says of what it names that it is not there, is called otherwise, or belongs to another time or language.
_NOT_SO = re.compile(
    r"\b(?:do(?:es)?\s+not|doesn't|don't|did\s+not|no\s+longer|is\s+not|isn't|are\s+not|aren't|cannot|never)\b[^.]{0,60}"
    r"\b(?:exist|available|supported|provided?|work|present|there|published|included|implemented|have|part)\b|"
    r"\bno such\b|\bthere (?:is|are) no\b|\b(?:re|un)named\b|\bremoved\b|\bdeprecated\b|\bformerly\b|\bmisspel|\btypos?\b|"
    r"\b(?:javascript|typescript|java|kotlin|swift|ruby|rust|golang|c\+\+)\b",
    re.I,
)
_OF_PROSE = frozenset({"name", "extra", "dependency", "option", "variable", "default", "file"})


def _in_its_section(claim: ClaimResult, page: Page) -> ClaimResult:
    """Turn untrue into unknown where the surrounding text says that it does not hold, or not today."""
    if claim.truth is not Truth.UNTRUE:
        return claim
    if claim.kind in _OF_PROSE:
        for first, written in page.prose:
            if first <= claim.line <= first + written.count("\n") and (found := _NOT_SO.search(written)):
                reason = f"{claim.reason}; its paragraph says “{one_line(found[0], 40)}”"
                return replace(claim, truth=Truth.UNKNOWN, reason=reason, nearest="", exact=False)
    for first, last, heading in page.another_time:
        if first <= claim.line <= last:
            reason = f"{claim.reason}; it stands below “{one_line(heading, 40)}”"
            return replace(claim, truth=Truth.UNKNOWN, reason=reason, nearest="", exact=False)
    return claim


_OF_SNIPPETS = frozenset({"name", "module", "parameter"})


def agreed(claims: Iterable[ClaimResult], blocks: Sequence[BlockResult]) -> list[ClaimResult]:
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
        if claim.truth is Truth.UNTRUE and claim.kind in _OF_SNIPPETS and re.search(rf"\b{re.escape(word)}\b", row):
            reason = f"{claim.reason} in the sources, and it works"
            claim = replace(claim, truth=Truth.UNKNOWN, reason=reason, nearest="", exact=False)
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


def fixed(text: str, claims: Iterable[ClaimResult]) -> tuple[str, tuple[ClaimResult, ...]]:
    """Mend a page's text and list the mended claims: those with one nearest true name that stand once on their line."""
    lines = text.splitlines(keepends=True)
    mended = []
    for claim in claims:
        if claim.truth is not Truth.UNTRUE or not claim.exact or not claim.nearest or claim.line > len(lines):
            continue
        pattern = rf"(?<![\w-]){re.escape(claim.text)}(?![\w-])"
        line, count = re.subn(pattern, lambda _: claim.nearest, lines[claim.line - 1])  # noqa: B023 - used at once
        if count == 1:
            lines[claim.line - 1] = line
            mended.append(claim)
    return "".join(lines), tuple(mended)
