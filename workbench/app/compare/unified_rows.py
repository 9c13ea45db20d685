"""One text against another in one column: what was taken out and what was put in, word by word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbench.app.compare.difference_list import DifferenceList, Kind
from workbench.app.compare.text_layout import Half, wrapped
from workbench.app.compare.wording import ONLY_A, ONLY_B, SAME
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import TextPair
from workbench.text import one_line

_SIGN = 2
_OUT, _IN = "-", "+"


class UnifiedRows(DifferenceList[Any]):
    """A line that both have, or under one another the former line and what stands in its place.

    Args:
        texts: What of a comparison is shown; the left one is the former.
    """

    by_stretch = True

    def __init__(self, texts: Callable[[Any], TextPair], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._texts = texts
        self._lines: list[Half] = []
        self._laid_out = 0

    def kinds_of(self, comparison: Any) -> Sequence[Kind]:
        """Lay the lines out for the present width."""
        self._laid_out = self.text_width
        self._lines = unified(self._texts(comparison), max(4, self.text_width - _SIGN))
        kinds: list[Kind] = []
        for line in self._lines:
            # A row without a sign goes on with the line above it.
            kinds.append(
                kinds[-1] if not line.sign.strip() and kinds else Kind.SAME if line.sign == SAME else Kind.DIFFERENT
            )
        return kinds

    def empty_text(self, comparison: Any) -> str:
        """Return why there is nothing."""
        texts = self._texts(comparison)
        return one_line(texts.left.absent or texts.right.absent or "both are empty", 600)

    def on_resize(self) -> None:
        """Wrap again for the new width."""
        if self.comparison is not None and self._laid_out != self.text_width:
            self._kinds = self.kinds_of(self.comparison)
            self._arrange(self.place)
        super().on_resize()

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return which sign stands for which text."""
        texts = self._texts(self.comparison)
        return [(f"{_OUT} {texts.left.title}", "poor"), ("   ", ""), (f"{_IN} {texts.right.title}", "good")]

    def entry_parts(self, place: int, width: int) -> Sequence[Part]:
        """Return a row."""
        line = self._lines[place]
        style = {_OUT: "poor", _IN: "good"}.get(line.sign, "dim")
        return [(fit(line.sign, 1) + " ", style), *line.parts]


def unified(texts: TextPair, width: int) -> list[Half]:
    """Return the rows of both texts under one another, wrapped at ``width`` cells; a text that is missing says why instead."""
    if texts.left.absent or texts.right.absent:
        said = texts.left.absent or texts.right.absent
        return [Half(" ", ((said, "notice"),))]
    rows: list[Half] = []
    for pair in texts.diff.pairs:
        if pair.same:
            rows += wrapped(pair.left or (), SAME, width, marked=False, sign=SAME)
            continue
        marked = pair.left is not None and pair.right is not None
        if pair.left is not None:
            rows += wrapped(pair.left, ONLY_A, width, marked=marked, sign=_OUT, style="poor")
        if pair.right is not None:
            rows += wrapped(pair.right, ONLY_B, width, marked=marked, sign=_IN, style="good")
    return rows
