"""The hits: what a text is, where it stands, and its line in which the match stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from workbench.app.keys import bindings
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.virtual_view import Part
from workbench.base.text import clean, shortened
from workbench.search.index import MatchedLine, SearchResult

_KIND = 9
_NAMES = {"file": "file at"}


class HitList(RowList):
    """A row per hit; lines are put in as they have been read."""

    ALLOW_SELECT = False
    narrows: ClassVar[bool] = False  # here / changes what is searched for
    BINDINGS = bindings("search/hits")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.found = SearchResult()
        self.lines: list[MatchedLine] = []
        self.everywhere = False

    def put(self, found: SearchResult, lines: Sequence[MatchedLine], *, cursor: int = 0) -> None:
        self.found, self.lines = found, list(lines)
        self.rows_changed(cursor=cursor)

    def add_lines(self, lines: Sequence[MatchedLine]) -> None:
        self.lines += lines
        self.refresh()

    def row_count(self) -> int:
        return len(self.found.hits)

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        hit = self.found.hits[index]
        number = f" {hit.entry.number}" if hit.item.kind == "trial" and hit.entry.number else ""
        where = hit.item.title
        if self.everywhere:
            where = f"{hit.session.stem} · {where}"
        room = min(48, max(12, (width - _KIND - 2) * 2 // 5))
        model = hit.item.model.rpartition("/")[2] or hit.item.model
        if model and len(self.found.counts.get("model", ())) > 1 and len(where) + len(model) + 3 <= room:
            where = f"{where} · {model}"  # two models of one agent, or two evaluators of one task, would look the same
        parts: list[Part] = [
            (" " + fit(f"{_NAMES.get(hit.entry.kind, hit.entry.kind)}{number}", _KIND + 2) + " ", "group"),
            (fit(shortened(clean(where), room), room) + "  ", ""),
        ]
        rest = width - sum(len(text) for text, _ in parts)
        if index < len(self.lines) and rest > 4:
            parts += around(self.lines[index], rest)
        return parts


def around(line: MatchedLine, width: int) -> list[Part]:
    """Return so many cells of a line that the match is among them, cut with ``…`` where it is longer."""
    text, start, end = line.text, line.start, line.end
    lead = 0
    if len(text) > width and end > width - 8:
        lead = max(0, min(start - width // 3, len(text) - width))
    before, match, after = (clean(part).replace("\n", " ") for part in (text[lead:start], text[start:end], text[end:]))
    if lead:
        before = "…" + before[1:]
    parts: list[Part] = []
    for part, style in ((before, "dim"), (match, "hit"), (after, "dim")):
        if part and width > 0:
            parts.append((fit(part, width).rstrip() if len(part) > width else part, style))
            width -= len(parts[-1][0])
    return parts


_SHOWN = 12  # values of one facet


class FacetList(RowList):
    """A heading per facet that has more than one value or is asked for, and a row per value."""

    ALLOW_SELECT = False
    BINDINGS = bindings("search.facet")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: list[tuple[str, str, int]] = []
        self._counts: dict[str, list[tuple[str, int]]] = {}
        self._asked: frozenset[str] = frozenset()

    def put(self, counts: dict[str, list[tuple[str, int]]], asked: frozenset[str]) -> None:
        """Show facets; those that are ``asked`` for stay, also with one value."""
        self._counts, self._asked = counts, asked
        before = self._rows
        self._lay_out(all_values=bool(self.narrowed))
        if self._rows != before:
            self.rows_changed()

    def _lay_out(self, *, all_values: bool) -> None:
        self._rows = []
        for name, values in self._counts.items():
            if len(values) > 1 or (name in self._asked and values):
                self._rows.append((name, "", 0))
                self._rows += [(name, value, count) for value, count in values[: None if all_values else _SHOWN]]

    def narrow(self, text: str) -> None:
        if bool(text.strip()) != bool(self.narrowed):
            self._lay_out(all_values=bool(text.strip()))
        super().narrow(text)

    def words_of(self, index: int) -> str:
        name, value, _ = self._rows[index]
        return f"{name} {value}"

    @property
    def selected(self) -> tuple[str, str] | None:
        if 0 <= self.cursor < len(self._rows) and self._rows[self.cursor][2]:
            return self._rows[self.cursor][:2]
        return None

    def row_count(self) -> int:
        return len(self._rows)

    def selectable(self, index: int) -> bool:
        return bool(self._rows[index][2])

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        name, value, count = self._rows[index]
        if not count:
            return [(fit(name, width), "group")]
        number = f"{count:,}"
        room = max(1, width - len(number) - 3)
        return [("  " + fit(shortened(value, room), room) + " ", ""), (number, "number")]
