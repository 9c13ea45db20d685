"""The lines of a README with check results in the margin, alarms below their lines, and details on Enter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import TYPE_CHECKING

from workbench.app.keys import key_of, with_keys
from workbench.app.toolkit.row_list import HeadedList, fit
from workbench.app.toolkit.virtual_view import Part
from workbench.base.text import clean, one_line, plural
from workbench.checking import verdicts
from workbench.checking.verdicts import BlockResult, CheckDamaged, CheckResult
from workbench.claims.claim import CheckedClaim, Truth
from workbench.results.check_summary import counting_check

if TYPE_CHECKING:
    from workbench.app.trajectory.trial_state import TrialState
    from workbench.session.reader import SessionReader


SIGNS: dict[str, tuple[str, str]] = {
    "fails": ("✗", "failed"),
    "differs": ("≠", "failed"),
    "untrue": ("✗", "failed"),
    "waiting": ("·", "waiting"),
    "works": ("✓", "passed"),
    "not run": ("–", "unscored"),
    "true": ("✓", "dim"),
    "undecided": ("?", "dim"),
}
"""The sign and style of each result, most urgent first."""
_ORDER = list(SIGNS)
_MOST_OUTPUT = 12
MOST_CHARACTERS = 2_000_000


@dataclass(frozen=True, slots=True)
class CheckLine:
    """A line of the README, with a ``number`` from 1, or a remark below one, with ``number`` 0 and a ``style``.

    ``word`` is a key of :data:`SIGNS` or "". ``block`` is the index of the block that the line belongs to, or -1;
    ``inside`` is true for lines of a block other than the first.
    """

    number: int
    text: str
    word: str = ""
    block: int = -1
    inside: bool = False
    style: str = ""


def lines_of(readme: str, checked: CheckResult | None, opened: Collection[int]) -> list[CheckLine]:
    """Return the rows of a README, with all results listed below the lines in ``opened``."""
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
            alarms[bad.line].append(verdicts.alarm(bad))
        for part in block.parts if len(block.parts) > 1 and not waiting else ():
            words[part.line].append(str(part.verdict))
    for claim in checked.claims:
        claims[claim.line].append(claim)
        words[claim.line].append(str(claim.lookup.truth))
        if claim.lookup.truth is Truth.UNTRUE:
            alarms[claim.line].append(verdicts.alarm(claim))
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
            message = f"{claim.kind} {one_line(claim.text, 80)}: {claim.lookup.truth}"
            message += f" ({claim.lookup.reason})" if claim.lookup.reason else ""
            message = verdicts.alarm(claim) if claim.lookup.truth is Truth.UNTRUE else message
            rows.append(CheckLine(0, message, block=at, style=SIGNS[str(claim.lookup.truth)][1]))
    return rows


def _block(block: BlockResult, at: int) -> Iterator[CheckLine]:
    def row(text: str, style: str = "dim") -> CheckLine:
        return CheckLine(0, text, block=at, style=style)

    def printed(one: BlockResult) -> Iterator[CheckLine]:
        for line in verdicts.shown_lines(one, _MOST_OUTPUT):
            style = {"+": "passed", "-": "failed"}.get(line[:1], "dim")
            yield row(f"{'    ' if block.parts else ''}{clean(line)}", style)

    # Omit the reason if a part already states it.
    repeated = not block.reason or any(part.reason == block.reason for part in block.parts)
    reason = "" if repeated else f": {block.reason}"
    yield row(f"{block.kind} · {block.verdict}{reason}", SIGNS[str(block.verdict)][1])
    if not block.parts:
        yield from printed(block)
    for part in block.parts:
        code = part.code.strip().splitlines() or [""]
        more = f"  … {len(code) - 1} more lines" if len(code) > 1 else ""
        took = f"  {part.seconds:.1f} s" if part.seconds else ""
        if len(block.parts) > 1 or more:  # a single line of code is shown right above anyway
            yield row(f"line {part.line:,}: {one_line(code[0], 120)}{more}", "")
        why = f": {part.reason}" if part.reason else ""
        yield row(f"  {part.verdict}{why}{took}", SIGNS[str(part.verdict)][1])
        yield from printed(replace(block, diff=part.diff, output=part.output))


@dataclass(frozen=True, slots=True)
class ShownCheck:
    """The check of a README: its results so far, and a sentence on its state.

    ``brief`` is a shorter sentence for narrow panes, or "" if there is none.
    """

    readme: str
    checked: CheckResult | None
    sentence: str
    brief: str = ""


def load_check(reader: SessionReader, state: TrialState) -> ShownCheck:
    trial = state.trial
    readme = reader.shown(trial.readme_blob, f"the README of trial {trial.id}", MOST_CHARACTERS)
    rows = reader.checks(trial.id)
    if not readme.strip():
        return ShownCheck("", None, "There is no README to check.")
    if not rows:
        never = "Not checked yet. {trajectory.check} runs its blocks in a sandbox and looks up its claims."
        return ShownCheck(readme, None, with_keys(never))
    row = (counting_check(rows) if rows[-1].state == "done" else None) or rows[-1]
    try:
        checked = verdicts.from_json(row.partial) if row.partial else verdicts.result_of(reader, row)
    except CheckDamaged as error:
        return ShownCheck(readme, None, str(error))
    again = key_of("trajectory.check")
    if row.state in ("queued", "running") and row.run_id == state.check_run:
        known = f"{len(checked.blocks) - len(checked.waiting):,} of {len(checked.blocks):,} blocks" if checked else ""
        text = " · ".join(filter(None, (row.problem or "an engine is starting…", known)))
        return ShownCheck(readme, checked, f"Checking: {text}")
    if row.state == "failed":
        why = row.problem or "no reason was recorded"
        return ShownCheck(readme, checked, f"The check failed: {why} {again} retries it.")
    if row.state != "done" or checked is None:
        what = "cancelled" if row.state == "cancelled" else "interrupted"
        return ShownCheck(readme, checked, f"The check was {what}. {again} restarts it.")
    return ShownCheck(readme, checked, verdicts.works(checked).words(), verdicts.works(checked).brief())


class CheckList(HeadedList):
    """A row per line of the README, with its results below it."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.shown: ShownCheck | None = None
        self._lines: list[CheckLine] = []
        self._opened: set[int] = set()
        self._digits = 1
        self._width = 0

    def begin(self) -> None:
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
        """The number of the README line under the cursor, or 0 if there is none."""
        return self.current.number if self.current else 0

    @property
    def alarms(self) -> list[int]:
        """The indices of the rows with an alarm."""
        wrong = ("fails", "differs", "untrue")
        return [at for at, line in enumerate(self._lines, 1) if line.number and line.word in wrong]

    def go_to_alarm(self, step: int) -> None:
        """Go to the next (1) or previous (-1) alarm, wrapping around."""
        found = self.alarms
        if found:
            beyond = [at for at in found if (at > self.cursor if step > 0 else at < self.cursor)]
            self.set_cursor((beyond or found)[0 if step > 0 else -1])
            self._show_below()

    def _show_below(self) -> None:
        """Scroll the results of the selected line into view, as far as they fit."""
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
        # Before the first layout, do not cut anything, because on_resize rebuilds the rows.
        room = max(10, self._width - self._digits - 4) if self.size else 240
        self._lines = []
        for line in lines:
            # Wrapped rows have a hanging indent.
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
        sentence = self.shown.sentence if self.shown else "Loading the check…"
        wrong = len(self.alarms)
        keys = f"  {key_of('trajectory.next-hit')} {plural(wrong, 'alarm')}" if wrong else ""
        room = max(1, width - len(keys))
        brief = self.shown.brief if self.shown else ""
        text = fit(f" {one_line(brief if brief and len(sentence) >= room else sentence, 300)}", room)
        return [(text, "strong"), (keys, "failed")]

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
