"""What a session without a study offers: a new one, those that come with the program, one of a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from workbench.app.keys import bind
from workbench.app.study.ways import Beginning
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.virtual_view import Part

_NAMES = 16


class BeginList(RowList):
    """A row for each way to begin."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [bind("study.begin", "choose", "begin")]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.ways: tuple[Beginning, ...] = ()

    def put(self, ways: Sequence[Beginning]) -> None:
        """Show these."""
        self.ways = tuple(ways)
        self.rows_changed(cursor=max(0, self.cursor))

    @property
    def selected(self) -> Beginning | None:
        """The way under the cursor."""
        return self.ways[self.cursor] if 0 <= self.cursor < len(self.ways) else None

    def row_count(self) -> int:
        """Return how many there are."""
        return len(self.ways)

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return what it is called and what it is."""
        way = self.ways[index]
        return [(fit(f" {way.title}", _NAMES), "group"), (fit(way.about, max(1, width - _NAMES)), "")]
