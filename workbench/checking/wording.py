"""What a check says of one block or claim, in a line; the same on a terminal, in the app and in reports."""

from __future__ import annotations

import re

from workbench.checking.verdicts import BlockResult, ClaimResult, Truth
from workbench.text import one_line


def sentence(claim: ClaimResult) -> str:
    """Return what is wrong with a claim, and the nearest true one: ``--stopwach``; there is ``--stopwatch``."""
    near = f"; there is {claim.nearest}" if claim.nearest and not _named(claim.nearest, claim.reason) else ""
    shown = "" if _named(claim.text, claim.reason) else f"{one_line(claim.text, 60)}: "
    return f"{shown}{claim.reason}{near}"


def _named(text: str, reason: str) -> bool:
    """Return whether a reason names a text: ``--words`` does not name ``--word``."""
    return re.search(rf"(?<![\w-]){re.escape(text)}(?![\w-])", reason) is not None


def alarm(one: BlockResult | ClaimResult) -> str:
    """Return what is wrong with a block or claim: ``fails: exit status 2``, ``untrue: there is no option --stopwach``."""
    return f"{Truth.UNTRUE}: {sentence(one)}" if isinstance(one, ClaimResult) else f"{one.verdict}: {one.reason}"


def shown_lines(block: BlockResult, most: int) -> list[str]:
    """Return the difference between claimed and real output, else up to ``most`` lines of the end of what was printed."""
    return list(block.diff) or block.output.splitlines()[-most:]
