"""Both texts side by side, with a cursor that goes from difference to difference."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

from rich.cells import cell_len
from textual.strip import Strip

from workbench.app.compare.difference_list import DifferenceList, Kind
from workbench.app.compare.text_layout import Half, SplitRow, side_by_side
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import TextPair
from workbench.text import one_line

_BETWEEN = " │ "
_SIGN = 2


class TextRows(DifferenceList[Any]):
    """A on the left, B on the right; the signs in front of the cursor's row carry the cursor, so that colours stay.

    Args:
        texts: What of a comparison is shown.
    """

    by_stretch = True

    def __init__(self, texts: Callable[[Any], TextPair], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._texts = texts
        self._split: list[SplitRow] = []
        self._laid_out = 0  # width of the last layout

    def kinds_of(self, comparison: Any) -> Sequence[Kind]:
        """Lay both out for the present width."""
        self._laid_out = self.text_width
        self._split = side_by_side(self._texts(comparison), self._half)
        return [Kind.DIFFERENT if row.differs else Kind.SAME for row in self._split]

    @property
    def _half(self) -> int:
        return max(4, (self.text_width - len(_BETWEEN)) // 2 - _SIGN)

    def empty_text(self, comparison: Any) -> str:
        """Return why there is nothing."""
        texts = self._texts(comparison)
        return one_line(f"A: {texts.left.absent} · B: {texts.right.absent}", 600)

    def on_resize(self) -> None:
        """Wrap again for the new width; the cursor stays on its line."""
        if self.comparison is not None and self._laid_out != self.text_width:
            line = self._split[self.place].number if self.place >= 0 else 0
            self._kinds = self.kinds_of(self.comparison)
            self._arrange(bisect_left(self._split, line, key=lambda row: row.number))
        super().on_resize()

    def render_line(self, y: int) -> Strip:
        """Paint one visible row; a pane that comes back from hiding may find another width than at its last layout."""
        if self._laid_out != self.text_width:
            self.call_next(self.on_resize)
        return super().render_line(y)

    # -- painting

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        """Return a row; the cursor is on its signs alone."""
        parts, _ = super().row_parts(y, width)
        return parts, ""

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return which text stands where."""
        texts, half = self._texts(self.comparison), self._half + _SIGN
        a, b = texts.left.title, texts.right.title
        return [(fit(a, half), "only-a"), (_BETWEEN, "rule"), (fit(b, half), "only-b")]

    def entry_parts(self, place: int, width: int) -> Sequence[Part]:
        """Return a row of both."""
        row = self._split[place]
        cursor = "" if place != self.place else "cursor" if self.has_focus else "cursor-blurred"
        return [
            *self._half_parts(row.left, "only-a", cursor),
            (_BETWEEN, cursor or "rule"),
            *self._half_parts(row.right, "only-b", cursor),
        ]

    def _half_parts(self, half: Half, style: str, cursor: str) -> list[Part]:
        used = sum(cell_len(text) for text, _ in half.parts)
        return [
            (fit(half.sign, 1), cursor or ("dim" if half.sign == "=" else style)),
            (" ", ""),
            *half.parts,
            (" " * max(0, self._half - used), ""),
        ]
