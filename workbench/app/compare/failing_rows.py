"""The tests that either of two fails: only A, only B, or both, with what they said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.app.compare.difference_list import DifferenceList, Kind
from workbench.app.compare.wording import BOTH_CHANGED, ONLY_A, ONLY_B, SAME
from workbench.app.toolkit.document import Document, Line, prepared
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.virtual_view import Part
from workbench.text import one_line

_HOW = 9
_LEAST = 16


@dataclass(frozen=True, slots=True)
class FailingLine:
    """A test: how it came out on each side ("" where it passed), what it said, and whether both are alike."""

    test: str
    left: str
    right: str
    left_message: str
    right_message: str
    same: bool

    @property
    def sign(self) -> str:
        """Who fails it."""
        if self.left and self.right:
            return SAME if self.same else BOTH_CHANGED
        return ONLY_A if self.left else ONLY_B


class FailingRows(DifferenceList[Any]):
    """Sign, how it came out on each side, test, the first line of its message.

    Args:
        lines: What of a comparison is shown.
        nothing: What to say where no test fails.
    """

    def __init__(
        self,
        lines: Callable[[Any], Sequence[FailingLine]],
        nothing: str = "Neither fails a test.",
        *,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._lines_of = lines
        self._lines: Sequence[FailingLine] = ()
        self._nothing = nothing

    def kinds_of(self, comparison: Any) -> Sequence[Kind]:
        """Return which tests both fail alike."""
        self._lines = self._lines_of(comparison)
        return [Kind.SAME if line.same else Kind.DIFFERENT for line in self._lines]

    @property
    def selected(self) -> FailingLine | None:
        """The test under the cursor."""
        return self._lines[self.place] if 0 <= self.place < len(self._lines) else None

    def on_resize(self) -> None:
        """Have the messages wrapped for the new width, too."""
        super().on_resize()
        self.post_message(self.Moved(self, self.cursor))

    def empty_text(self, comparison: Any) -> str:
        """Return that no test fails."""
        return self._nothing

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return the names of the columns."""
        return [(f"  {fit('A', _HOW)} {fit('B', _HOW)} test", "dim")]

    def entry_parts(self, place: int, width: int) -> Sequence[Part]:
        """Return a test."""
        line = self._lines[place]
        style = {ONLY_A: "only-a", ONLY_B: "only-b"}.get(line.sign, "")
        room = max(1, width - 4 - 2 * _HOW)
        name = one_line(line.test.partition("::")[2] or line.test, 200)
        said = one_line(line.left_message or line.right_message, 300)
        shown = fit(name, min(len(name), room))
        parts: list[Part] = [
            (f"{line.sign} ", style or "dim"),
            (fit(line.left or "✓", _HOW) + " ", "failed" if line.left else "passed"),
            (fit(line.right or "✓", _HOW) + " ", "failed" if line.right else "passed"),
            (shown, style),
        ]
        if room - len(shown) - 2 >= _LEAST:
            parts.append(("  " + fit(said, room - len(shown) - 2), "dim"))
        return parts


def messages(line: FailingLine | None, width: int, rows: int) -> str:
    """Return the test's whole name and what it said on each side, each in at most so many rows."""
    if line is None:
        return ""
    told = [_wrapped(line.test, width, rows)]
    if line.left and line.right and line.left_message == line.right_message:
        told.append(_wrapped(f"A and B: {_said(line.left_message)}", width, 2 * rows))
    else:
        told += [
            _wrapped(f"{name}: {_said(message) if how else 'passes'}", width, rows)
            for name, how, message in (("A", line.left, line.left_message), ("B", line.right, line.right_message))
        ]
    return "\n".join(told)


def _said(message: str) -> str:
    return one_line(prepared(message), 2_000) or "no message was recorded"


def _wrapped(text: str, width: int, most: int) -> str:
    text = one_line(text, 2_000)
    rows = [text[row.start : row.end].rstrip() for row in Document((Line(text),), text).rows(max(10, width))]
    if len(rows) > most:
        rows[most - 1] = fit(rows[most - 1] + " …", max(10, width))
    return "\n".join(rows[:most])
