"""What a run shows of claims: a name that a snippet used, and that worked, is there, whatever the sources look like."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from workbench.checking.kinds import python_of
from workbench.checking.verdicts import BlockResult, ClaimResult, Part, Truth, Verdict

_OF_SNIPPETS = frozenset({"name", "module", "parameter"})


def agreed(claims: Iterable[ClaimResult], blocks: Sequence[BlockResult]) -> list[ClaimResult]:
    """Return claims; what sources have as untrue and a snippet or example that worked has used cannot be said."""
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
    """Yield the lines of a snippet that running it has executed: all but the bodies of functions."""
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
