"""What a check says: a verdict on every block, one on every claim, and what they stand in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from workbench.text import one_line


class Verdict(StrEnum):
    """What became of a block."""

    WORKS = "works"
    FAILS = "fails"
    DIFFERS = "differs"
    NOT_RUN = "not run"


#: The verdicts that are alarms.
ALARMS = (Verdict.FAILS, Verdict.DIFFERS)


class Truth(StrEnum):
    """What can be said of a claim."""

    TRUE = "true"
    UNTRUE = "untrue"
    UNKNOWN = "cannot be said"


@dataclass(frozen=True, slots=True)
class Part:
    """A command, snippet or example of a block with its verdict.

    Attributes:
        line: Line of the page at which something failed, else the part's first line; from 1.
        code: What was run, or was not.
        verdict: What became of it.
        reason: Why, in one sentence without a full stop; "" where it works.
        output: The end of what it printed, where it does not work.
        diff: Lines of a unified difference between claimed and real output.
        seconds: How long it took, 0 where it was not run; of examples of one session the first has the time of all.
        harmless: Nothing can be missing because it was not run: it makes a place to work in, as a check has one.
    """

    line: int
    code: str
    verdict: Verdict
    reason: str = ""
    output: str = ""
    diff: tuple[str, ...] = ()
    seconds: float = 0.0
    harmless: bool = False


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
        parts: Its commands, snippets or examples in order.
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

    @property
    def alarming(self) -> tuple[BlockResult, ...]:
        """What fails or differs in it, each at its own line as if it were the block."""
        bad = [part for part in self.parts if part.verdict in ALARMS]
        if self.verdict not in ALARMS:
            return ()
        return tuple(
            replace(
                self, line=part.line, verdict=part.verdict, reason=part.reason, output=part.output, diff=part.diff,
                command=part.code if self.command else "",
            )
            for part in bad
        ) or (self,)  # fmt: skip

    def with_parts(self, parts: Sequence[Part], is_command: bool) -> BlockResult:
        """Return it with parts, and the verdict that follows from these.

        It fails or differs if one of them does, works if one works and none of these, and is *not run* where nothing was.

        Args:
            parts: Its parts in order.
            is_command: Whether its parts are commands, so that the one that fails says what was run.
        """
        parts = tuple(parts)
        for wanted in ALARMS:
            for one in parts:
                if one.verdict is wanted:
                    command = one.code if is_command else ""
                    return replace(
                        self, line=one.line, verdict=wanted, reason=one.reason, command=command, output=one.output,
                        diff=one.diff, parts=parts,
                    )  # fmt: skip
        plain = replace(self, line=self.first, reason="", command="", output="", diff=(), parts=parts)
        not_run = [one for one in parts if one.verdict is Verdict.NOT_RUN]
        counted = [one for one in not_run if not one.harmless]
        ran = sum(one.verdict is Verdict.WORKS for one in parts)
        if ran:
            of = ran + len(counted)
            reason = f"{ran:,} of {of:,} ran; line {counted[0].line}: {counted[0].reason}" if counted else ""
            return replace(plain, verdict=Verdict.WORKS, reason=reason)
        if not not_run:
            return replace(plain, verdict=Verdict.NOT_RUN, reason="there is nothing in it to run")
        why = (counted or not_run)[0]
        return replace(plain, verdict=Verdict.NOT_RUN, line=why.line, reason=why.reason)


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """A claim with what can be said of it.

    Attributes:
        path: The page, relative to the repository.
        line: Its line, from 1.
        kind: ``module``, ``name``, ``parameter``, ``option``, ``default``, ``variable``, ``file``, ``extra``, ``dependency``,
            ``version``, ``licence``, ``python``, ``command`` or ``url``.
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
        bad: list[BlockResult | ClaimResult] = [one for one in self.blocks if one.verdict in ALARMS]
        bad += [one for one in self.claims if one.truth is Truth.UNTRUE]
        return tuple(sorted(bad, key=lambda one: (self.pages.index(one.path), one.line)))


def counts(values: Sequence[StrEnum], of: type[StrEnum]) -> dict[str, int]:
    """Return how many there are of each."""
    return {str(each): sum(value is each for value in values) for each in of}


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
