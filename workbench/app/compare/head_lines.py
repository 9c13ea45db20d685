"""The head of a comparison: a few painted lines over its panes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.virtual_view import Part

Lines = Sequence[Sequence[Part]]


class HeadLines(RowList, can_focus=False):
    """Lines laid out for the present width; there is no cursor."""

    ALLOW_SELECT = False

    def __init__(self, height: int, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: Callable[[int], Lines] = lambda width: ()
        self._height = height
        self.styles.height = height

    def show(self, lines: Callable[[int], Lines]) -> None:
        """Show what a function returns for a width in cells."""
        self.lines = lines
        self.rows_changed()

    def say(self, sentence: str) -> None:
        """Show one sentence."""
        self.show(lambda width: [[(f" {sentence}", "dim")]])

    def row_count(self) -> int:
        """Return the number of lines."""
        return self._height

    def selectable(self, index: int) -> bool:
        """There is no cursor."""
        return False

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return a line."""
        lines = self.lines(width - 1)
        return lines[index] if index < len(lines) else ()


def columns(cells: Sequence[tuple[str, int]], style: str = "") -> list[Part]:
    """Return cells right-aligned in their widths."""
    return [(fit(text, size, right=True), style) for text, size in cells]
