"""Write the nearest true name in the place of an untrue one, where only that can be meant."""

from __future__ import annotations

import re
from collections.abc import Iterable

from workbench.checking.verdicts import ClaimResult, Truth


def fixed(text: str, claims: Iterable[ClaimResult]) -> tuple[str, tuple[ClaimResult, ...]]:
    """Return a page's text with what could be mended, and the claims that were.

    A claim is mended if its nearest true name is unambiguous and it stands exactly once, as a whole, on its line.

    Args:
        text: The page.
        claims: Claims of that page.
    """
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
