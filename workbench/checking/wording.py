"""What a check says of one block or claim, in a line; the same on a terminal, in the app and in reports."""

from __future__ import annotations

from workbench.checking.verdicts import BlockResult, ClaimResult, Truth
from workbench.text import one_line


def sentence(claim: ClaimResult) -> str:
    """Return what is wrong with a claim, and the nearest true one: ``--stopwach``; there is ``--stopwatch``."""
    near = f"; there is {claim.nearest}" if claim.nearest and claim.nearest not in claim.reason else ""
    shown = "" if claim.text in claim.reason else f"{one_line(claim.text, 60)}: "
    return f"{shown}{claim.reason}{near}"


def alarm(one: BlockResult | ClaimResult) -> str:
    """Return what is wrong with a block or claim: ``fails: exit status 2``, ``untrue: there is no option --stopwach``."""
    return f"{Truth.UNTRUE}: {sentence(one)}" if isinstance(one, ClaimResult) else f"{one.verdict}: {one.reason}"


def shown_lines(block: BlockResult, most: int) -> list[str]:
    """Return the difference between claimed and real output, else up to ``most`` lines of the end of what was printed."""
    return list(block.diff) or block.output.splitlines()[-most:]
