"""What a check says: a verdict on every block, one on every claim, and what they stand in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What became of a block."""

    WORKS = "works"
    FAILS = "fails"
    DIFFERS = "differs"
    NOT_RUN = "not run"


class Truth(StrEnum):
    """What can be said of a claim."""

    TRUE = "true"
    UNTRUE = "untrue"
    UNKNOWN = "cannot be said"


@dataclass(frozen=True, slots=True)
class Part:
    """A command, snippet or session of a block with its verdict.

    Attributes:
        line: Line of the page at which something failed, else the part's first line; from 1.
        code: What was run, or was not.
        verdict: What became of it.
        reason: Why, in one sentence without a full stop; "" where it works.
        output: The end of what it printed, where it does not work.
        diff: Lines of a unified difference between claimed and real output.
        seconds: How long it took, 0 where it was not run.
    """

    line: int
    code: str
    verdict: Verdict
    reason: str = ""
    output: str = ""
    diff: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class BlockResult:
    """A block with its verdict.

    Attributes:
        path: The page, relative to the repository.
        line: Line of the page at which something failed, else the block's first line; from 1.
        kind: What kind of block it is, see :mod:`.kinds`.
        verdict: What became of it.
        reason: Why, in one sentence without a full stop; "" where all of it works.
        command: What was run where it failed.
        output: The end of what that printed.
        diff: Lines of a unified difference between claimed and real output.
        parts: Its commands, snippets or sessions in order.
        first: Its first line of code.
        end: Its last one.
    """

    path: str
    line: int
    kind: str
    verdict: Verdict
    reason: str = ""
    command: str = ""
    output: str = ""
    diff: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    first: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """A claim with what can be said of it.

    Attributes:
        path: The page, relative to the repository.
        line: Its line, from 1.
        kind: ``module``, ``name``, ``parameter``, ``option``, ``default``, ``variable``, ``file``, ``extra``, ``version``,
            ``licence``, ``python``, ``command`` or ``url``.
        text: What the page says, as it stands there.
        truth: What can be said of it.
        reason: Why, in one sentence without a full stop.
        nearest: The nearest true one, "" where none is near.
        exact: Whether ``nearest`` is the only one that can be meant, so that it may be written in its place.
    """

    path: str
    line: int
    kind: str
    text: str
    truth: Truth
    reason: str = ""
    nearest: str = ""
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """Everything a check said.

    Attributes:
        pages: The pages that were checked, relative to the repository.
        blocks: In the order of pages and lines.
        claims: In the order of pages and lines.
        problems: What could not be checked, one sentence each.
        seconds: How long it took.
        cached: Whether the environment was there already.
        waiting: While it is under way, the places in ``blocks`` of those that have no verdict yet; they are *not run* there.
    """

    pages: tuple[str, ...] = ()
    blocks: tuple[BlockResult, ...] = ()
    claims: tuple[ClaimResult, ...] = ()
    problems: tuple[str, ...] = ()
    seconds: float = 0.0
    cached: bool = False
    waiting: tuple[int, ...] = ()

    @property
    def alarms(self) -> tuple[BlockResult | ClaimResult, ...]:
        """Blocks that fail or differ and claims that are untrue, in the order of pages and lines."""
        bad: list[BlockResult | ClaimResult] = [
            one for one in self.blocks if one.verdict in (Verdict.FAILS, Verdict.DIFFERS)
        ]
        bad += [one for one in self.claims if one.truth is Truth.UNTRUE]
        return tuple(sorted(bad, key=lambda one: (self.pages.index(one.path), one.line)))


def counts(values: Sequence[StrEnum], of: type[StrEnum]) -> dict[str, int]:
    """Return how many there are of each."""
    return {str(each): sum(value is each for value in values) for each in of}
