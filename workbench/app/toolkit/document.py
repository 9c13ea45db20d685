"""Texts made ready for the screen: styled lines that wrap, know where they come from, and say where they were cut; code in colours.

Nothing here touches a terminal or a session, so documents are built in worker threads and tested without an app.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

from rich.cells import cell_len, chop_cells, set_cell_size

from workbench.base.text import clean
from workbench.pages import page

Span = tuple[int, int, str]  # half-open character range of a line and the name of a style, as of a :data:`Part`

TAB = "    "


@dataclass(frozen=True, slots=True)
class Line:
    """One logical line.

    ``source`` and ``source_end`` are the half-open range of lines (from 0) of the text that it shows, -1 if none; ``number`` goes to the gutter;
    ``indent`` is the hanging indent in cells of what wraps (-1: the line is cut, not wrapped); ``fill`` styles the whole row.
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
class Range:
    """Characters ``start`` to ``end`` of a line: a row of the screen, a hit, or what is marked."""

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
        if not self.numbered:
            return 0
        top = max((line.number or 0 for line in self.lines[-50:]), default=0)
        return max(3, len(str(top))) + 1

    def rows(self, width: int) -> list[Range]:
        width = max(width, 4)
        wrapped: list[Range] = []
        for index, line in enumerate(self.lines):
            length = len(line.text)
            if line.indent < 0:
                wrapped.append(Range(index, 0, min(length, width)))
            elif length <= width and (line.text.isascii() or cell_len(line.text) <= width):
                wrapped.append(Range(index, 0, length))
            else:
                wrapped.extend(Range(index, start, end) for start, end in _wrap(line, width))
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
    return clean(text).replace("\t", TAB).encode("utf-8", "replace").decode("utf-8")


def position(text: str, offset: int) -> tuple[int, int]:
    """Return (line, column), both from 0, that character ``offset`` of ``text`` has after :func:`prepared`."""
    before = prepared(text[: max(0, offset)])
    return before.count("\n"), len(before) - (before.rfind("\n") + 1)


def places_of(needle: str, text: str) -> Iterator[int]:
    """Yield where a text that is looked for begins; in lower case it matches any case."""
    found = re.finditer(re.escape(needle), text.lower() if needle == needle.lower() else text)
    return (one.start() for one in found)


def plain(
    text: str,
    *,
    style: str = "",
    cut: str | None = None,
    numbered: bool = False,
    spans: Sequence[Sequence[Span]] | None = None,
) -> Document:
    """Return a text as it is, a line for a line; with ``spans`` of lines these are its colours, and what wraps is indented."""
    lines = []
    for index, part in enumerate(prepared(text).split("\n")):
        own = spans[index] if spans and index < len(spans) else ((0, len(part), style),) if style and part else ()
        indent = min(len(part) - len(part.lstrip(" ")) + 2, 12) if spans is not None else 0
        number = index + 1 if numbered else None
        lines.append(Line(part, tuple(own), source=index, source_end=index + 1, number=number, indent=indent))
    return Document(closed(tuple(lines), cut), text, cut, numbered)


def styled(*parts: tuple[str, str], indent: int = 0) -> Line:
    ends = list(accumulate(len(part) for part, _ in parts))
    spans = tuple(
        (end - len(part), end, style) for (part, style), end in zip(parts, ends, strict=True) if style and part
    )
    return Line("".join(part for part, _ in parts), spans, indent=indent)


def of_lines(lines: Iterable[Line], *, numbered: bool = False) -> Document:
    lines = tuple(lines)
    return Document(lines, "\n".join(line.text for line in lines), numbered=numbered)


def note(*sentences: str) -> Document:
    return Document(tuple(styled((part, "dim")) for part in map(prepared, sentences)), "")


def joined(parts: Sequence[Document], *, cut: str | None = None) -> Document:
    lines = tuple(line for part in parts for line in part.lines)
    return Document(closed(lines, cut), "\n".join(part.text for part in parts if part.text), cut)


def heading(text: str, detail: str = "") -> Document:
    return of_lines([styled((prepared(text), "heading"), (f"  {prepared(detail)}" if detail else "", "dim"))])


def closed(lines: tuple[Line, ...], cut: str | None) -> tuple[Line, ...]:
    return (*lines, Line(""), Line(cut, ((0, len(cut), "notice"),))) if cut else lines


def difference(diff: Sequence[str], *, places: bool = True) -> Document:
    """Return the lines of :func:`workbench.comparison.texts.line_diff`, with ``places`` where they stand; copied, they are as they were."""
    styles = {"@": "hunk", "-": "removed", "+": "added"}
    shown = [line for line in diff if places or line[0] != "@"]
    lines = (styled((line[:2] + prepared(line[2:]), styles.get(line[0], "")), indent=2) for line in shown)
    return Document(tuple(lines), "\n".join(shown))


def _wrap(line: Line, width: int) -> list[tuple[int, int]]:
    pieces: list[tuple[int, int]] = []
    text, room, start = line.text, width, 0
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


# -- parts of pages

_NOTES = {"problem": "warn", "advice": "notice", "remark": "notice", "said": ""}


def of_page(parts: Iterable[page.Part]) -> Document:
    """Return parts of a page as they are read in a pane; figures are left out, for the tables beside them say the same."""
    lines: list[Line] = []
    before: page.Part | None = None
    for part in parts:
        if isinstance(part, page.Subheading) or (
            type(part) is not type(before) and not isinstance(before, page.Subheading)
        ):
            lines += [Line("")] if lines else []
        before = part
        match part:
            case page.Note():
                lines.append(styled((prepared(part.text), _NOTES.get(part.kind, "dim")), indent=2))
            case page.FactList():
                pairs = [(label, prepared(value)) for label, value in part.pairs if value]
                width = max((len(label) for label, _ in pairs), default=0) + 1
                lines += [styled((f"{label:<{width}}", "dim"), (value, ""), indent=width) for label, value in pairs]
            case page.PageTable():
                rows = [[prepared(cell) for cell in row] for row in (part.headings, *part.rows)]
                widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
                for number, row in enumerate(rows):
                    cells = (
                        f"{' ' * (width - cell_len(cell))}{cell}" if at in part.right else set_cell_size(cell, width)
                        for at, (cell, width) in enumerate(zip(row, widths, strict=True))
                    )
                    lines.append(styled(("  ".join(cells).rstrip(), "" if number else "dim"), indent=-1))
            case page.Subheading():
                lines += heading(part.title, part.small).lines
            case page.Preformatted():
                lines += plain(part.text).lines
    return of_lines(lines)


# -- source code, coloured by the lexer that the file's name asks for


COLOURED_AT_FIRST = 3_000
"""Characters that are coloured before a text is first shown: what a screen holds; a lexer needs seconds a megabyte."""
COLOURED_AT_MOST = 96_000  # characters that are ever coloured; what follows is shown without colours

_STYLES = (
    ("Token.Comment", "comment"),
    ("Token.Literal.String.Doc", "comment"),
    ("Token.Literal.String", "string"),
    ("Token.Literal.Number", "number"),
    ("Token.Keyword", "keyword"),
    ("Token.Operator.Word", "keyword"),
    ("Token.Name.Function", "function"),
    ("Token.Name.Class", "function"),
    ("Token.Name.Decorator", "function"),
    ("Token.Name.Tag", "keyword"),
    ("Token.Name.Attribute", "function"),
    ("Token.Name.Builtin", "builtin"),
    ("Token.Generic.Heading", "heading"),
    ("Token.Generic.Subheading", "heading"),
    ("Token.Generic.Deleted", "removed"),
    ("Token.Generic.Inserted", "added"),
    ("Token.Generic.Strong", "strong"),
    ("Token.Generic.Emph", "em"),
)


def code(text: str, path: str, *, cut: str | None = None, coloured: int = COLOURED_AT_MOST) -> Document:
    return plain(text, numbered=True, cut=cut, spans=spans_by_line(prepared(text)[:coloured], path=path))


def spans_by_line(text: str, *, path: str = "", language: str = "") -> list[list[Span]] | None:
    lexer = _lexer(path, language)
    if lexer is None:
        return None
    lines, column = list[list[Span]]([[]]), 0
    # get_tokens() would strip and add newlines, and then the columns would be wrong.
    for _, kind, value in lexer.get_tokens_unprocessed(text):
        style = _style(str(kind))
        parts = value.split("\n")
        for index, part in enumerate(parts):
            if index:
                lines.append([])
                column = 0
            if part and style:
                lines[-1].append((column, column + len(part), style))
            column += len(part)
    return lines


@lru_cache(maxsize=256)
def _style(kind: str) -> str:
    return next((style for prefix, style in _STYLES if f"{kind}.".startswith(f"{prefix}.")), "")


def _lexer(path: str, language: str) -> Any | None:
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        if language:
            return get_lexer_by_name(language)
        return get_lexer_for_filename(path.rpartition("/")[2]) if path else None
    except ClassNotFound:
        return None


# -- what has the focus


@dataclass(frozen=True, slots=True)
class Subject:
    """The content of the pane with the focus: the ``text`` that is shown, and ``whole``, which reads all of it where that is only a part.

    ``name`` is what a notice calls it, ``suffix`` that of a file which holds it.
    """

    name: str
    text: str
    suffix: str
    whole: Callable[[], Document] | None = None
