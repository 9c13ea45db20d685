"""The lines of a README with what a check said of them: signs in the margin, alarms below their lines, more with enter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of, with_keys
from workbench.app.toolkit.row_list import HeadedList, fit
from workbench.app.toolkit.virtual_view import Part
from workbench.base.text import clean, one_line, plural
from workbench.checking.verdicts import (
    BlockResult,
    CheckDamaged,
    CheckResult,
    alarm,
    from_json,
    result_of,
    shown_lines,
    works,
)
from workbench.claims.claim import CheckedClaim, Truth
from workbench.results.works import counting

if TYPE_CHECKING:
    from workbench.app.trajectory.loading import TrialState
    from workbench.session.reader import SessionReader


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
MOST_CHARACTERS = 2_000_000


@dataclass(frozen=True, slots=True)
class CheckLine:
    """A row: a line of the README (``number`` from 1), or what is said below one (``number`` 0) in a ``style``.

    ``word`` is a key of :data:`SIGNS` or "", ``block`` the place of the block that the line is in (-1 for none), which may have
    begun above (``inside``).
    """

    number: int
    text: str
    word: str = ""
    block: int = -1
    inside: bool = False
    style: str = ""


def lines_of(readme: str, checked: CheckResult | None, opened: Collection[int]) -> list[CheckLine]:
    """Return the rows of a README; below the lines ``opened`` stands everything that a check said of them."""
    checked = checked or CheckResult((), ())
    words: defaultdict[int, list[str]] = defaultdict(list)
    alarms: defaultdict[int, list[str]] = defaultdict(list)
    claims: defaultdict[int, list[CheckedClaim]] = defaultdict(list)
    blocks: dict[int, int] = {}
    for at, block in enumerate(checked.blocks):
        blocks.update(dict.fromkeys(range(block.first, block.end + 1), at))
        waiting = at in checked.waiting
        words[block.first].append("waiting" if waiting else str(block.verdict))
        for bad in () if waiting else block.alarming:
            words[bad.line].append(str(bad.verdict))
            alarms[bad.line].append(alarm(bad))
        for part in block.parts if len(block.parts) > 1 and not waiting else ():
            words[part.line].append(str(part.verdict))
    for claim in checked.claims:
        claims[claim.line].append(claim)
        words[claim.line].append(str(claim.lookup.truth))
        if claim.lookup.truth is Truth.UNTRUE:
            alarms[claim.line].append(alarm(claim))
    rows: list[CheckLine] = []
    for number, text in enumerate(clean(readme).splitlines(), 1):
        at = blocks.get(number, -1)
        word = min(words.get(number, [""]), key=lambda one: _ORDER.index(one) if one else 0)
        rows.append(CheckLine(number, text, word, at, at >= 0 and number > checked.blocks[at].first))
        if number not in opened:
            rows += [CheckLine(0, one, word, at, style="failed") for one in dict.fromkeys(alarms.get(number, ()))]
            continue
        if at >= 0:
            rows += _block(checked.blocks[at], at)
        for claim in claims.get(number, ()):
            said = f"{claim.kind} {one_line(claim.text, 80)}: {claim.lookup.truth}"
            said += f" ({claim.lookup.reason})" if claim.lookup.reason else ""
            said = alarm(claim) if claim.lookup.truth is Truth.UNTRUE else said
            rows.append(CheckLine(0, said, block=at, style=SIGNS[str(claim.lookup.truth)][1]))
    return rows


def _block(block: BlockResult, at: int) -> Iterator[CheckLine]:
    def row(text: str, style: str = "dim") -> CheckLine:
        return CheckLine(0, text, block=at, style=style)

    def printed(one: BlockResult) -> Iterator[CheckLine]:
        for line in shown_lines(one, _MOST_OUTPUT):
            style = {"+": "passed", "-": "failed"}.get(line[:1], "dim")
            yield row(f"{'    ' if block.parts else ''}{clean(line)}", style)

    # The part of which it is says it as well.
    told = not block.reason or any(part.reason == block.reason for part in block.parts)
    reason = "" if told else f": {block.reason}"
    yield row(f"{block.kind} · {block.verdict}{reason}", SIGNS[str(block.verdict)][1])
    if not block.parts:
        yield from printed(block)
    for part in block.parts:
        code = part.code.strip().splitlines() or [""]
        more = f"  … {len(code) - 1} more lines" if len(code) > 1 else ""
        took = f"  {part.seconds:.1f} s" if part.seconds else ""
        if len(block.parts) > 1 or more:  # a single line of code stands right above
            yield row(f"line {part.line:,}: {one_line(code[0], 120)}{more}", "")
        why = f": {part.reason}" if part.reason else ""
        yield row(f"  {part.verdict}{why}{took}", SIGNS[str(part.verdict)][1])
        yield from printed(replace(block, diff=part.diff, output=part.output))


@dataclass(frozen=True, slots=True)
class ShownCheck:
    """The check of a trial's README: what came out, or is known so far, and a sentence on how it stands.

    ``brief`` says the same where there is no room for it, "" where it has no shorter form.
    """

    readme: str
    checked: CheckResult | None
    sentence: str
    brief: str = ""


def load_check(reader: SessionReader, state: TrialState) -> ShownCheck:
    """Read the latest check of a trial's README."""
    trial = state.trial
    readme = reader.shown(trial.readme_blob, f"the README of trial {trial.id}", MOST_CHARACTERS)
    rows = reader.checks(trial.id)
    if not readme.strip():
        return ShownCheck("", None, "There is no README to check.")
    if not rows:
        never = "Not checked. {trajectory.check} runs its blocks in a sandbox and looks up what it names."
        return ShownCheck(readme, None, with_keys(never))
    row = (counting(rows) if rows[-1].state == "done" else None) or rows[-1]
    try:
        checked = from_json(row.partial) if row.partial else result_of(reader, row)
    except CheckDamaged as error:
        return ShownCheck(readme, None, str(error))
    again = key_of("trajectory.check")
    if row.state in ("queued", "running") and row.run_id == state.check_run:
        known = f"{len(checked.blocks) - len(checked.waiting):,} of {len(checked.blocks):,} blocks" if checked else ""
        said = " · ".join(filter(None, (row.problem or "an engine is starting…", known)))
        return ShownCheck(readme, checked, f"Checking: {said}")
    if row.state == "failed":
        why = row.problem or "no reason was recorded"
        return ShownCheck(readme, checked, f"It could not be checked: {why} {again} tries again.")
    if row.state != "done" or checked is None:
        what = "cancelled" if row.state == "cancelled" else "interrupted"
        return ShownCheck(readme, checked, f"The check was {what}. {again} does it again.")
    return ShownCheck(readme, checked, works(checked).words(), works(checked).brief())


class CheckList(HeadedList):
    """A row for each line of the README, and below it what was said of it."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.shown: ShownCheck | None = None
        self._lines: list[CheckLine] = []
        self._opened: set[int] = set()
        self._digits = 1
        self._width = 0

    def begin(self) -> None:
        """Another trial is shown: nothing of its check is known or opened."""
        self._opened = set()
        self.cursor = -1
        self.show(None)
        self.scroll_to(y=0, animate=False, immediate=True)

    def show(self, shown: ShownCheck | None) -> None:
        number, self.shown = self.number, shown
        self._build(number)

    @property
    def current(self) -> CheckLine | None:
        return self._lines[self.cursor - 1] if 0 < self.cursor <= len(self._lines) else None

    @property
    def number(self) -> int:
        """The line of the README under the cursor, 0 for none."""
        return self.current.number if self.current else 0

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
        # Before it is laid out nothing is cut; it is built again then.
        room = max(10, self._width - self._digits - 4) if self.size else 240
        self._lines = []
        for line in lines:
            # What goes on is indented like its beginning, and more.
            indent = " " * (len(line.text) - len(line.text.lstrip()) + 2)
            texts = [line.text] if line.number else wrap(line.text, room, subsequent_indent=indent) or [""]
            self._lines += [replace(line, text=text) for text in texts]
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
        keys = f"  {key_of('trajectory.next-hit')} {plural(wrong, 'alarm')}" if wrong else ""
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
