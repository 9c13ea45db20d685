"""Both READMEs side by side, with a cursor that goes from difference to difference."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from rich.cells import cell_len
from textual.strip import Strip

from workbench.app.compare.difference_list import DifferenceList, Kind
from workbench.app.compare.readme_layout import Half, SplitRow, side_by_side
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import Comparison, Side
from workbench.text import one_line

_BETWEEN = " │ "
_SIGN = 2


class ReadmeRows(DifferenceList):
    """A on the left, B on the right; the signs in front of the cursor's row carry the cursor, so that colours stay."""

    by_stretch = True

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._split: list[SplitRow] = []
        self._laid_out = 0  # width of the last layout

    def kinds_of(self, comparison: Comparison) -> Sequence[Kind]:
        """Lay both out for the present width."""
        self._laid_out = self.text_width
        self._split = side_by_side(comparison, self._half)
        return [Kind.DIFFERENT if row.differs else Kind.SAME for row in self._split]

    @property
    def _half(self) -> int:
        return max(4, (self.text_width - len(_BETWEEN)) // 2 - _SIGN)

    def empty_text(self, comparison: Comparison) -> str:
        """Return why there is nothing."""
        return one_line(f"A: {comparison.left.no_readme} · B: {comparison.right.no_readme}", 600)

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
        """Return whose README stands where."""
        assert self.comparison is not None
        half = self._half + _SIGN
        a, b = (_title(name, side) for name, side in (("A", self.comparison.left), ("B", self.comparison.right)))
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


def _title(name: str, side: Side) -> str:
    return f"{name}  {one_line(side.trial.agent, 40)}, rep {side.trial.repeat}"
