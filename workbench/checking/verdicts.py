"""The result of a check: a verdict on each block and claim."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from workbench.base import typed_json
from workbench.base.errors import WorkbenchError
from workbench.base.text import one_line
from workbench.claims.claim import CheckedClaim, Claim, Truth
from workbench.results.check_summary import CheckSummary, counting_check

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import CheckRow


class BlockVerdict(StrEnum):
    """Verdict on a block."""

    WORKS = "works"
    FAILS = "fails"
    DIFFERS = "differs"
    NOT_RUN = "not run"


#: The verdicts that count as alarms.
ALARMS = (BlockVerdict.FAILS, BlockVerdict.DIFFERS)


@dataclass(frozen=True, slots=True)
class BlockPart:
    """A command, snippet or example in a block.

    ``line`` (from 1) is the line that failed, or the first line if none did. ``seconds`` is 0 if the part was not run;
    the first example of a session has the time of the whole session. ``harmless`` means that no later step depends on
    the part.
    """

    line: int
    code: str
    verdict: BlockVerdict
    reason: str = ""
    output: str = ""
    diff: tuple[str, ...] = ()
    seconds: float = 0.0
    harmless: bool = False


@dataclass(frozen=True, slots=True)
class BlockResult:
    """A block and its verdict.

    ``path`` is relative to the repository. ``line`` (from 1) is the line that failed, or the first line if none did.
    ``reason`` is a sentence without a full stop, or "" if everything works, and ``command`` is the command that failed.
    """

    path: str
    line: int
    kind: str
    verdict: BlockVerdict
    reason: str = ""
    command: str = ""
    output: str = ""
    diff: tuple[str, ...] = ()
    parts: tuple[BlockPart, ...] = ()
    first: int = 0
    end: int = 0

    @property
    def alarming(self) -> tuple[BlockResult, ...]:
        """Return the parts that fail or differ, each with its own line number."""
        if self.verdict not in ALARMS:
            return ()
        return tuple(self._like(one, bool(self.command)) for one in self.parts if one.verdict in ALARMS) or (self,)

    def _like(self, part: BlockPart, is_command: bool) -> BlockResult:
        return replace(
            self, line=part.line, verdict=part.verdict, reason=part.reason, command=part.code if is_command else "",
            output=part.output, diff=part.diff,
        )  # fmt: skip

    def with_parts(self, parts: Sequence[BlockPart], is_command: bool) -> BlockResult:
        """Return the block with these parts and the resulting verdict.

        The block fails or differs if any part does, works if at least one part works and none fails or differs, and is
        *not run* in all other cases.
        """
        parts = tuple(parts)
        bad = next((one for wanted in ALARMS for one in parts if one.verdict is wanted), None)
        if bad is not None:
            return replace(self._like(bad, is_command), parts=parts)
        plain = replace(self, line=self.first, reason="", command="", output="", diff=(), parts=parts)
        not_run = [one for one in parts if one.verdict is BlockVerdict.NOT_RUN]
        counted = [one for one in not_run if not one.harmless]
        ran = sum(one.verdict is BlockVerdict.WORKS for one in parts)
        if ran:
            of = ran + len(counted)
            reason = f"{ran:,} of {of:,} ran; line {counted[0].line}: {counted[0].reason}" if counted else ""
            return replace(plain, verdict=BlockVerdict.WORKS, reason=reason)
        if not not_run:
            return replace(plain, verdict=BlockVerdict.NOT_RUN, reason="it contains nothing to run")
        why = (counted or not_run)[0]
        return replace(plain, verdict=BlockVerdict.NOT_RUN, line=why.line, reason=why.reason)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check.

    ``problems`` are sentences about parts that could not be checked. ``waiting`` holds the indices of blocks that have
    no verdict yet and count as *not run* until then.
    """

    pages: tuple[str, ...]
    blocks: tuple[BlockResult, ...]
    claims: tuple[CheckedClaim, ...] = ()
    problems: tuple[str, ...] = ()
    seconds: float = 0.0
    cached: bool = False
    waiting: tuple[int, ...] = ()

    @property
    def alarms(self) -> tuple[BlockResult | CheckedClaim, ...]:
        """Return the failing or differing parts of blocks and the untrue claims, sorted by page and line."""
        bad: list[BlockResult | CheckedClaim] = [part for one in self.blocks for part in one.alarming]
        bad += [one for one in self.claims if one.lookup.truth is Truth.UNTRUE]
        return tuple(sorted(bad, key=lambda one: (self.pages.index(one.path), one.line)))


def counts(checked: CheckResult) -> tuple[dict[str, int], dict[str, int]]:
    """Count the blocks and the claims by verdict."""
    blocks = Counter({str(each): 0 for each in BlockVerdict})
    blocks.update(word(one) for one in checked.blocks)
    claims = Counter({str(each): 0 for each in Truth})
    claims.update(word(one) for one in checked.claims)
    return blocks, claims


def sentence(claim: CheckedClaim) -> str:
    """Describe the fault in a claim and the closest true name: ``--stopwach``; there is ``--stopwatch``."""
    found = claim.lookup
    near = f"; there is {found.nearest}" if found.nearest and not _named(found.nearest, found.reason) else ""
    shown = "" if _named(claim.text, found.reason) else f"{one_line(claim.text, 60)}: "
    return f"{shown}{found.reason}{near}"


def _named(text: str, reason: str) -> bool:
    """Return whether a reason mentions a text as a whole word; ``--words`` does not mention ``--word``."""
    return re.search(rf"(?<![\w-]){re.escape(text)}(?![\w-])", reason) is not None


def fault(one: BlockResult | CheckedClaim) -> str:
    return sentence(one) if isinstance(one, Claim) else one.reason


def word(one: BlockResult | CheckedClaim) -> str:
    return str(one.lookup.truth if isinstance(one, Claim) else one.verdict)


def alarm(one: BlockResult | CheckedClaim) -> str:
    """Describe the fault in a block or claim: ``fails: exit status 2``, ``untrue: there is no option --stopwach``."""
    return f"{word(one)}: {fault(one)}"


def shown_lines(one: BlockResult | CheckedClaim, most: int) -> list[str]:
    """Return the diff between claimed and real output, or the last ``most`` lines of the output if there is no diff."""
    return [] if isinstance(one, Claim) else list(one.diff) or one.output.splitlines()[-most:]


#: Increment this whenever the meaning of verdicts changes; results under other rules are stored next to the new ones.
RULES = 4


class CheckDamaged(WorkbenchError):
    """A recorded check cannot be read."""


def works(checked: CheckResult) -> CheckSummary:
    blocks, claims = counts(checked)
    return CheckSummary(*blocks.values(), *claims.values())


def to_json(checked: CheckResult) -> str:
    return json.dumps(asdict(checked), ensure_ascii=False)


def from_json(text: str) -> CheckResult:
    try:
        made = typed_json.decode(CheckResult, text)
        if {one.path for one in made.blocks} | {one.path for one in made.claims} <= set(made.pages):
            return made
    except typed_json.WrongForm:
        pass
    raise CheckDamaged("The recorded check is damaged; check the README again.")


def checked_of(reader: SessionReader, trial: str) -> CheckResult | None:
    """Return the latest valid check of a trial's README, or None if there is none."""
    row = counting_check(reader.checks(trial))
    return None if row is None else result_of(reader, row)


def result_of(reader: SessionReader, row: CheckRow) -> CheckResult | None:
    """Return a recorded check, or None if it did not finish."""
    if row.result_blob is None:
        return None
    text = reader.text_or_none(row.result_blob, f"the check of trial {row.trial_id}")
    if text is None:
        raise CheckDamaged("The recorded check is missing from the session file; check the README again.")
    return from_json(text)
