"""What a check said, laid over the lines of its README: a sign in the margin, an alarm below its line, all of it where asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from workbench.checking.verdicts import BlockResult, Checked, ClaimResult, Truth, Verdict
from workbench.checking.wording import alarm
from workbench.text import clean, one_line

SIGNS: dict[str, tuple[str, str]] = {
    "fails": ("✗", "failed"),
    "differs": ("≠", "failed"),
    "untrue": ("✗", "failed"),
    "waiting": ("·", "waiting"),
    "works": ("✓", "passed"),
    "not run": ("–", "unscored"),
    "true": ("✓", "dim"),
    "cannot be said": ("?", "dim"),
}
"""Sign and style of each word, those that a reader must see first before the others."""
_ORDER = list(SIGNS)
_MOST_OUTPUT = 12


@dataclass(frozen=True, slots=True)
class CheckLine:
    """A row: a line of the README (``number`` from 1), or what is said below one (``number`` 0).

    Attributes:
        number: Line of the README, 0 for what is said below it.
        text: What the row says.
        word: A key of :data:`SIGNS`, "" for nothing.
        block: Place of the block that the line is in, -1 for none.
        inside: Whether the line goes on with a block that began above.
        style: Style of what is said below a line.
    """

    number: int
    text: str
    word: str = ""
    block: int = -1
    inside: bool = False
    style: str = ""


@dataclass(slots=True)
class _Marks:
    """What is known of one line."""

    words: list[str] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)
    claims: list[ClaimResult] = field(default_factory=list)


def lines_of(readme: str, checked: Checked | None, opened: Collection[int]) -> list[CheckLine]:
    """Return the rows.

    Args:
        readme: The README.
        checked: What is known of it, None where it has not been checked.
        opened: Lines of the README below which everything is said.
    """
    marks: dict[int, _Marks] = {}
    blocks: dict[int, int] = {}
    for at, block in enumerate(checked.blocks if checked else ()):
        blocks.update(dict.fromkeys(range(block.first, block.end + 1), at))
        _mark_block(marks, block, waiting=checked is not None and at in checked.waiting)
    for claim in checked.claims if checked else ():
        one = marks.setdefault(claim.line, _Marks())
        one.words.append(str(claim.truth))
        one.claims.append(claim)
        if claim.truth is Truth.UNTRUE:
            one.alarms.append(alarm(claim))
    rows: list[CheckLine] = []
    for number, text in enumerate(clean(readme).splitlines(), 1):
        mine, block_at = marks.get(number), blocks.get(number, -1)
        word = min(mine.words, key=_ORDER.index) if mine and mine.words else ""
        inside = block_at >= 0 and checked is not None and number > checked.blocks[block_at].first
        rows.append(CheckLine(number, text, word, block_at, inside))
        if number in opened and checked is not None:
            rows += _all(checked, block_at, mine)
        elif mine:
            rows += [CheckLine(0, one, word, block_at, style="failed") for one in dict.fromkeys(mine.alarms)]
    return rows


def _mark_block(marks: dict[int, _Marks], block: BlockResult, *, waiting: bool) -> None:
    first = marks.setdefault(block.first, _Marks())
    if waiting:
        first.words.append("waiting")
        return
    first.words.append(str(block.verdict))
    told = [part for part in block.parts if part.verdict in (Verdict.FAILS, Verdict.DIFFERS)]
    for part in told:
        one = marks.setdefault(part.line, _Marks())
        one.words.append(str(part.verdict))
        one.alarms.append(f"{part.verdict}: {part.reason}")
    for part in block.parts if len(block.parts) > 1 else ():
        marks.setdefault(part.line, _Marks()).words.append(str(part.verdict))
    if not told and block.verdict in (Verdict.FAILS, Verdict.DIFFERS):
        one = marks.setdefault(block.line, _Marks())
        one.alarms.append(alarm(block))


def _all(checked: Checked, block_at: int, mine: _Marks | None) -> Iterator[CheckLine]:
    if block_at >= 0:
        yield from _block(checked.blocks[block_at], block_at)
    for claim in mine.claims if mine else ():
        said = (
            alarm(claim) if claim.truth is Truth.UNTRUE else f"{claim.kind} {one_line(claim.text, 80)}: {claim.truth}"
        )
        reason = f" ({claim.reason})" if claim.reason and claim.truth is not Truth.UNTRUE else ""
        yield CheckLine(0, said + reason, str(claim.truth), block_at, style=SIGNS[str(claim.truth)][1])


def _block(block: BlockResult, at: int) -> Iterator[CheckLine]:
    def row(text: str, style: str = "dim", word: str = "") -> CheckLine:
        return CheckLine(0, text, word, at, style=style)

    # The part of which it is says it as well.
    told = not block.reason or any(part.reason == block.reason for part in block.parts)
    reason = "" if told else f": {block.reason}"
    yield row(f"{block.kind} · {block.verdict}{reason}", SIGNS[str(block.verdict)][1], str(block.verdict))
    if not block.parts:
        yield from (row(line, _of_diff(line)) for line in _output(block.diff, block.output))
    for part in block.parts:
        code = part.code.strip().splitlines() or [""]
        more = f"  … {len(code) - 1} more lines" if len(code) > 1 else ""
        took = f"  {part.seconds:.1f} s" if part.seconds else ""
        if len(block.parts) > 1 or more:  # a single line of code stands right above
            yield row(f"line {part.line:,}: {one_line(code[0], 120)}{more}", "")
        why = f": {part.reason}" if part.reason else ""
        yield row(f"  {part.verdict}{why}{took}", SIGNS[str(part.verdict)][1], str(part.verdict))
        yield from (row(f"    {line}", _of_diff(line)) for line in _output(part.diff, part.output))


def _output(diff: Sequence[str], output: str) -> Sequence[str]:
    return [clean(line) for line in (diff or output.splitlines()[-_MOST_OUTPUT:])]


def _of_diff(line: str) -> str:
    return "passed" if line.startswith("+") else "failed" if line.startswith("-") else "dim"
