"""What the hits have in common, with counts: enter asks for one of them alone, and once more for all again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from workbench.app.keys import bind
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.virtual_view import Part
from workbench.text import shortened

_SHOWN = 12  # values of one facet


class FacetList(RowList):
    """A heading per facet that has more than one value or is asked for, and a row per value."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [bind("search.facet", "choose", "only these")]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: list[tuple[str, str, int]] = []
        self._counts: tuple[dict[str, list[tuple[str, int]]], frozenset[str]] = {}, frozenset()

    def put(self, counts: dict[str, list[tuple[str, int]]], asked: frozenset[str]) -> None:
        """Show facets; those that are ``asked`` for stay, also with one value."""
        self._counts = counts, asked
        most = None if self.narrowed else _SHOWN
        rows: list[tuple[str, str, int]] = []
        for name, values in counts.items():
            if len(values) > 1 or (name in asked and values):
                rows.append((name, "", 0))
                rows += [(name, value, count) for value, count in values[:most]]
        if rows != self._rows:
            self._rows = rows
            self.rows_changed()

    def narrow(self, text: str) -> None:
        """Show the values that hold every word, also those for which there is no room otherwise."""
        others = bool(text.strip()) != bool(self.narrowed)
        if others and text.strip():
            self.narrowed = text.strip()
            self.put(*self._counts)
            self.rearranged()
            self.post_message(self.Narrowed(self))
            return
        super().narrow(text)
        if others:
            self.put(*self._counts)

    def words_of(self, index: int) -> str:
        """Return the facet and its value."""
        name, value, _ = self._rows[index]
        return f"{name} {value}"

    @property
    def selected(self) -> tuple[str, str] | None:
        """The facet and the value under the cursor."""
        if 0 <= self.cursor < len(self._rows) and self._rows[self.cursor][2]:
            return self._rows[self.cursor][:2]
        return None

    def row_count(self) -> int:
        """Return the number of headings and values."""
        return len(self._rows)

    def selectable(self, index: int) -> bool:
        """Headings are passed over."""
        return bool(self._rows[index][2])

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return a heading, or a value with its count."""
        name, value, count = self._rows[index]
        if not count:
            return [(fit(name, width), "group")]
        number = f"{count:,}"
        room = max(1, width - len(number) - 3)
        return [("  " + fit(shortened(value, room), room) + " ", ""), (number, "number")]
