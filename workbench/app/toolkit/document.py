"""Texts made ready for the screen: styled lines that wrap, know where they come from, and say where they were cut.

Nothing here touches a terminal or a session, so documents are built in worker threads and tested without an app.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells

from workbench.text import clean

Span = tuple[int, int, str]
"""Half-open character range of a line and the name of a style (see ``VirtualView.ROW_STYLES``)."""

TAB = "    "


@dataclass(frozen=True, slots=True)
class Line:
    """One logical line.

    ``source`` and ``source_end`` are the half-open range of lines (from 0) of the text that it shows, -1 if none;
    ``number`` goes to the gutter; ``indent`` is the hanging indent in cells of what wraps (-1: the line is cut, not wrapped); ``fill`` styles the whole
    row; ``step`` is the step that this line can be traced to.
    """

    text: str
    spans: tuple[Span, ...] = ()
    source: int = -1
    source_end: int = -1
    number: int | None = None
    indent: int = 0
    fill: str = ""
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the screen: characters ``start`` to ``end`` of line ``line``."""

    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """Lines, and the text that they show as it is, for copying; ``cut`` says what is missing and how to see it, None if nothing is."""

    lines: tuple[Line, ...]
    text: str
    cut: str | None = None
    numbered: bool = False

    @property
    def gutter(self) -> int:
        """Return the width of the line numbers in cells, with the space after them."""
        if not self.numbered:
            return 0
        top = max((line.number or 0 for line in self.lines[-50:]), default=0)
        return max(3, len(str(top))) + 1

    def rows(self, width: int) -> list[Row]:
        """Wrap all lines at ``width`` cells (gutter not included)."""
        width = max(width, 4)
        wrapped: list[Row] = []
        for index, line in enumerate(self.lines):
            length = len(line.text)
            if line.indent < 0:
                wrapped.append(Row(index, 0, min(length, width)))
            elif length <= width and (line.text.isascii() or cell_len(line.text) <= width):
                wrapped.append(Row(index, 0, length))
            else:
                wrapped.extend(Row(index, start, end) for start, end in _wrap(line, width))
        return wrapped

    def line_at(self, source: int) -> int:
        """Return the first line that shows source line ``source`` or what follows it."""
        starts = [line.source if line.source >= 0 else 0 for line in self.lines]
        for index, line in enumerate(self.lines):
            if line.source <= source < line.source_end:
                return index
        return min(bisect_left(starts, source), max(0, len(starts) - 1))


EMPTY = Document((), "")


def prepared(text: str) -> str:
    """Return text that can be measured and shown: no control sequences, tabs as four spaces, surrogates replaced."""
    text = clean(text).replace("\t", TAB)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text


def position(text: str, offset: int) -> tuple[int, int]:
    """Return (line, column), both from 0, that character ``offset`` of ``text`` has after :func:`prepared`."""
    before = prepared(text[: max(0, offset)])
    return before.count("\n"), len(before) - (before.rfind("\n") + 1)


def plain(text: str, *, style: str = "", cut: str | None = None, numbered: bool = False) -> Document:
    """Return a text as it is, a line for a line."""
    ready = prepared(text)
    lines = tuple(
        Line(
            part,
            ((0, len(part), style),) if style and part else (),
            source=index,
            source_end=index + 1,
            number=index + 1 if numbered else None,
        )
        for index, part in enumerate(ready.split("\n"))
    )
    return Document(closed(lines, cut), text, cut, numbered)


def styled(*parts: tuple[str, str], indent: int = 0) -> Line:
    """Return a line of pieces, each with the name of its style."""
    text = ""
    spans: list[Span] = []
    for part, style in parts:
        if style and part:
            spans.append((len(text), len(text) + len(part), style))
        text += part
    return Line(text, tuple(spans), indent=indent)


def of_lines(lines: Iterable[Line]) -> Document:
    """Return lines as a document that copies as it is shown."""
    lines = tuple(lines)
    return Document(lines, "\n".join(line.text for line in lines))


def note(*sentences: str) -> Document:
    """Return a document that only says why there is nothing to show."""
    return Document(tuple(Line(part, ((0, len(part), "dim"),)) for part in map(prepared, sentences)), "")


def joined(parts: Sequence[Document], *, cut: str | None = None) -> Document:
    """Return documents one below the other; line numbers and sources are dropped, cuts kept as lines."""
    lines = tuple(line for part in parts for line in part.lines)
    return Document(closed(lines, cut), "\n".join(part.text for part in parts if part.text), cut)


def heading(text: str, detail: str = "") -> Document:
    """Return a heading line with an optional dim detail behind it."""
    return of_lines([styled((prepared(text), "heading"), (f"  {prepared(detail)}" if detail else "", "dim"))])


def closed(lines: tuple[Line, ...], cut: str | None) -> tuple[Line, ...]:
    """Return lines with what is missing of them below."""
    return (*lines, Line(""), Line(cut, ((0, len(cut), "notice"),))) if cut else lines


def _wrap(line: Line, width: int) -> list[tuple[int, int]]:
    """Cut a long line at spaces where there are any, else at the last cell that fits."""
    pieces: list[tuple[int, int]] = []
    text = line.text
    room = width
    start = 0
    ascii_only = text.isascii()
    while start < len(text):
        if ascii_only:
            end = min(len(text), start + room)
        else:
            window = text[start : start + room]
            end = start + (len(chop_cells(window, room)[0]) if cell_len(window) > room else len(window))
        if end < len(text):
            space = text.rfind(" ", start + room // 2, end + 1)
            if space > start:
                end = space + 1
        end = max(end, start + 1)
        pieces.append((start, end))
        start = end
        room = max(4, width - line.indent)
    return pieces
