"""The lines of a README with what a check said of them: signs in the margin, alarms below their lines, more with enter."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from textwrap import wrap
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of, with_keys
from workbench.app.toolkit.row_list import HeadedList, fit
from workbench.app.toolkit.virtual_view import Part
from workbench.checking.verdicts import (
    BlockResult,
    CheckDamaged,
    Checked,
    ClaimResult,
    Truth,
    Verdict,
    alarm,
    from_json,
    result_of,
    works,
)
from workbench.rubric.works import counting
from workbench.text import clean, one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import CheckRow, TrialRow


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


MOST_CHARACTERS = 2_000_000
NEVER = "Not checked. {trajectory.check} runs its blocks in a sandbox and looks up what it names."


@dataclass(frozen=True, slots=True)
class ShownCheck:
    """What is known of the check of a trial's README.

    Attributes:
        row: As it is in the session, None where it was never ordered.
        checked: What came out, or is known so far.
        readme: The README.
        live: Whether an engine is at work on it.
        sentence: How it stands.
        brief: The same where there is no room for it, "" where it has no shorter form.
    """

    row: CheckRow | None
    checked: Checked | None
    readme: str
    live: bool
    sentence: str
    brief: str = ""


def load_check(reader: SessionReader, trial: TrialRow) -> ShownCheck:
    """Read the latest check of a trial's README.

    Raises:
        SessionError: The session cannot be read at all.
    """
    readme = reader.shown(trial.readme_blob, f"the README of trial {trial.id}", MOST_CHARACTERS)
    rows = reader.checks(trial.id)
    if not readme.strip():
        return ShownCheck(None, None, "", False, "There is no README to check.")
    if not rows:
        return ShownCheck(None, None, readme, False, with_keys(NEVER))
    row = rows[-1]
    if row.state == "done":
        row = counting(rows) or row
    live = row.state in ("queued", "running") and reader.holder(row.run_id) is not None
    run = reader.run(row.run_id)
    coming = row.state == "queued" and run is not None and reader.run_state(run) in ("queued", "running")
    try:
        checked = from_json(row.partial) if row.partial else result_of(reader, row)
    except CheckDamaged as error:
        return ShownCheck(row, None, readme, live, str(error))
    under_way = live or coming
    brief = works(checked).brief() if checked is not None and row.state == "done" else ""
    return ShownCheck(row, checked, readme, under_way, _sentence(row, checked, under_way), brief)


def _sentence(row: CheckRow, checked: Checked | None, live: bool) -> str:
    if live:
        known = f"{len(checked.blocks) - len(checked.waiting):,} of {len(checked.blocks):,} blocks" if checked else ""
        return "Checking: " + " · ".join(filter(None, (row.problem or "an engine is starting…", known)))
    if row.state == "failed":
        return f"It could not be checked: {row.problem or 'no reason was recorded'} {key_of('trajectory.check')} tries again."
    if row.state != "done" or checked is None:
        what = "cancelled" if row.state == "cancelled" else "interrupted"
        return f"The check was {what}. {key_of('trajectory.check')} does it again."
    return works(checked).words()


class CheckList(HeadedList):
    """A row for each line of the README, and below it what was said of it."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.shown: ShownCheck | None = None
        self._lines: list[CheckLine] = []
        self._opened: set[int] = set()
        self._of = ""
        self._digits = 1
        self._width = 0

    def show(self, trial: str, shown: ShownCheck | None) -> None:
        """Show what is known of a trial's README; what was opened stays so while it is the same trial."""
        same = trial == self._of
        number = self.number if same else 0
        if not same:
            self._of, self._opened = trial, set()
        self.shown = shown
        self._build(number)
        if not same:
            self.scroll_to(y=0, animate=False, immediate=True)

    @property
    def current(self) -> CheckLine | None:
        return self._lines[self.cursor - 1] if 0 < self.cursor <= len(self._lines) else None

    @property
    def number(self) -> int:
        """The line of the README under the cursor, 0 for none."""
        return self.current.number if self.current else 0

    def plain_text(self) -> str:
        sentence = [self.shown.sentence] if self.shown else []
        lines = lines_of(self.shown.readme, self.shown.checked, self._opened) if self.shown else []
        rows = [f"{SIGNS[line.word][0] if line.number and line.word else ' '} {line.text}" for line in lines]
        return "\n".join([*sentence, *rows])

    @property
    def alarms(self) -> list[int]:
        """The rows of lines of which something is wrong."""
        wrong = ("fails", "differs", "untrue")
        return [at for at, line in enumerate(self._lines, 1) if line.number and line.word in wrong]

    def go_to_alarm(self, step: int) -> None:
        """Put the cursor on the next (1) or previous (-1) line of which something is wrong, around the ends."""
        found = self.alarms
        if found:
            beyond = [at for at in found if (at > self.cursor if step > 0 else at < self.cursor)]
            self.set_cursor((beyond or found)[0 if step > 0 else -1])
            self._show_below()

    def _show_below(self) -> None:
        """Bring what is said below the cursor's line into sight, as far as there is room."""
        last = self.cursor
        while last < len(self._lines) and not self._lines[last].number:
            last += 1
        self.keep_in_sight(self.line_of(min(last, len(self._lines))))
        self.keep_in_sight(self.line_of(self.cursor), margin=1)

    def _build(self, number: int) -> None:
        shown = self.shown
        lines = lines_of(shown.readme, shown.checked, self._opened) if shown else []
        self._digits = len(str(max((line.number for line in lines), default=1)))
        self._width = self.text_width
        room = max(10, self._width - self._digits - 4)
        self._lines = [row for line in lines for row in ([line] if line.number else _wrapped(line, room))]
        at = next((place for place, line in enumerate(self._lines, 1) if line.number == number), 1) if number else 1
        self.rows_changed(cursor=at)

    def on_resize(self) -> None:
        if self.text_width != self._width:
            self._build(self.number)

    def row_count(self) -> int:
        return 1 + len(self._lines)

    def selectable(self, index: int) -> bool:
        return 0 < index <= len(self._lines) and self._lines[index - 1].number > 0

    def heading_parts(self, width: int) -> Sequence[Part]:
        sentence = self.shown.sentence if self.shown else "Looking for a check…"
        wrong = len(self.alarms)
        keys = f"  n {wrong:,} alarm{'' if wrong == 1 else 's'}" if wrong else ""
        room = max(1, width - len(keys))
        brief = self.shown.brief if self.shown else ""
        said = fit(f" {one_line(brief if brief and len(sentence) >= room else sentence, 300)}", room)
        return [(said, "strong"), (keys, "failed")]

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        line = self._lines[index - 1]
        room = max(1, width - self._digits - 4)
        if not line.number:
            return [(" " * (self._digits + 4), ""), (fit(line.text, room), line.style)]
        sign, style = SIGNS.get(line.word, ("│" if line.inside else " ", "dim"))
        plain = "" if line.block >= 0 or line.word else "dim"
        return [
            (f" {sign} ", style),
            (f"{line.number:>{self._digits}} ", "dim"),
            (fit(line.text.expandtabs(4), room), plain),
        ]

    def action_choose(self) -> None:
        line = self.current
        if line is None or not (line.word or line.block >= 0):
            return
        self._opened ^= {line.number}
        self._build(line.number)
        self._show_below()


def _wrapped(line: CheckLine, width: int) -> list[CheckLine]:
    """Return what is said below a line in rows that fit; rows that go on are indented like the first."""
    indent = line.text[: len(line.text) - len(line.text.lstrip())]
    rows = wrap(line.text, width, initial_indent="", subsequent_indent=f"{indent}  ") or [line.text]
    return [replace(line, text=row) for row in rows]
