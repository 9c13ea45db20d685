"""Documents: styled lines that wrap, map back to source lines and record where text was cut; code is highlighted.

Documents are plain data, so they can be built in worker threads and tested without an app. Example:
``joined([heading("Prompt"), plain(text)])``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import Any

from rich.cells import cell_len, chop_cells, set_cell_size

from workbench.base.text import clean
from workbench.pages import page

Span = tuple[int, int, str]  # half-open character range of a line, and a style name

TAB = "    "


@dataclass(frozen=True, slots=True)
class TextLine:
    """One logical line.

    ``source`` to ``source_end`` is the half-open range of source lines (counted from 0) that the line shows, -1 for
    none. ``number`` is shown in the gutter. ``indent`` is the hanging indent of wrapped rows in cells, or -1 to cut
    the line instead of wrapping it. ``fill`` is the style of the whole row. ``step`` links to a step of the trial.
    ``mark`` is a sign in the margin, with its style.
    """

    text: str
    spans: tuple[Span, ...] = ()
    source: int = -1
    source_end: int = -1
    number: int | None = None
    indent: int = 0
    fill: str = ""
    step: int | None = None
    mark: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class LineRange:
    """Characters ``start`` to ``end`` of a line, such as a screen row, a search hit or a highlight."""

    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TextDocument:
    """Lines, and their plain ``text`` for copying; ``cut`` tells the user what is missing and how to see it.

    ``margin`` is the width of the margin with the marks of lines, in cells.
    """

    lines: tuple[TextLine, ...]
    text: str
    cut: str | None = None
    numbered: bool = False
    margin: int = 0

    @property
    def gutter(self) -> int:
        if not self.numbered:
            return self.margin
        top = max((line.number or 0 for line in self.lines[-50:]), default=0)
        return max(3, len(str(top))) + 1 + self.margin

    def rows(self, width: int) -> list[LineRange]:
        width = max(width, 4)
        wrapped: list[LineRange] = []
        for index, line in enumerate(self.lines):
            length = len(line.text)
            if line.indent < 0:
                wrapped.append(LineRange(index, 0, min(length, width)))
            elif length <= width and (line.text.isascii() or cell_len(line.text) <= width):
                wrapped.append(LineRange(index, 0, length))
            else:
                wrapped.extend(LineRange(index, start, end) for start, end in _wrap(line, width))
        return wrapped

    def line_at(self, source: int) -> int:
        """Return the first line that shows source line ``source`` or a later one."""
        starts = [line.source if line.source >= 0 else 0 for line in self.lines]
        for index, line in enumerate(self.lines):
            if line.source <= source < line.source_end:
                return index
        return min(bisect_left(starts, source), max(0, len(starts) - 1))


EMPTY = TextDocument((), "")


def prepared(text: str) -> str:
    """Return text that is safe to measure and show: no control sequences, tabs expanded, lone surrogates replaced."""
    return clean(text).replace("\t", TAB).encode("utf-8", "replace").decode("utf-8")


def position(text: str, offset: int) -> tuple[int, int]:
    """Return the (line, column), counted from 0, of character ``offset`` after :func:`prepared`."""
    before = prepared(text[: max(0, offset)])
    return before.count("\n"), len(before) - (before.rfind("\n") + 1)


def find_all(needle: str, text: str) -> Iterator[int]:
    """Yield the offsets of a search text, ignoring case if it is all lower case."""
    found = re.finditer(re.escape(needle), text.lower() if needle == needle.lower() else text)
    return (one.start() for one in found)


def plain(
    text: str,
    *,
    style: str = "",
    cut: str | None = None,
    numbered: bool = False,
    spans: Sequence[Sequence[Span]] | None = None,
) -> TextDocument:
    """Return a document with one line per line of text; ``spans`` colour the lines and indent wrapped rows."""
    lines = []
    for index, part in enumerate(prepared(text).split("\n")):
        own = spans[index] if spans and index < len(spans) else ((0, len(part), style),) if style and part else ()
        indent = min(len(part) - len(part.lstrip(" ")) + 2, 12) if spans is not None else 0
        number = index + 1 if numbered else None
        lines.append(TextLine(part, tuple(own), source=index, source_end=index + 1, number=number, indent=indent))
    return TextDocument(closed(tuple(lines), cut), text, cut, numbered)


def styled(*parts: tuple[str, str], indent: int = 0) -> TextLine:
    ends = list(accumulate(len(part) for part, _ in parts))
    spans = tuple(
        (end - len(part), end, style) for (part, style), end in zip(parts, ends, strict=True) if style and part
    )
    return TextLine("".join(part for part, _ in parts), spans, indent=indent)


def of_lines(lines: Iterable[TextLine], *, numbered: bool = False) -> TextDocument:
    lines = tuple(lines)
    return TextDocument(lines, "\n".join(line.text for line in lines), numbered=numbered)


def note(*sentences: str) -> TextDocument:
    return TextDocument(tuple(styled((part, "dim")) for part in map(prepared, sentences)), "")


def joined(parts: Sequence[TextDocument], *, cut: str | None = None) -> TextDocument:
    lines = tuple(line for part in parts for line in part.lines)
    return TextDocument(closed(lines, cut), "\n".join(part.text for part in parts if part.text), cut)


def heading(text: str, detail: str = "") -> TextDocument:
    return of_lines([styled((prepared(text), "heading"), (f"  {prepared(detail)}" if detail else "", "dim"))])


_MARKS = {True: ("✓", "ok"), False: ("✗", "bad")}


def with_margin(document: TextDocument, marks: Mapping[int, bool]) -> TextDocument:
    """Show a sign in the margin at each source line, counted from 1, that is right (True) or wrong (False)."""
    if not marks or not document.lines:
        return document
    lines = list(document.lines)
    for number, mark in sorted(marks.items(), reverse=True):
        at = document.line_at(number - 1)
        lines[at] = replace(lines[at], mark=_MARKS[mark])
    return replace(document, lines=tuple(lines), margin=2)


def closed(lines: tuple[TextLine, ...], cut: str | None) -> tuple[TextLine, ...]:
    return (*lines, TextLine(""), TextLine(cut, ((0, len(cut), "notice"),))) if cut else lines


def difference(diff: Sequence[str], *, places: bool = True) -> TextDocument:
    """Return a coloured line diff, by default with hunk headers (``places``); the copied text is a plain diff."""
    styles = {"@": "hunk", "-": "removed", "+": "added"}
    shown = [line for line in diff if places or line[0] != "@"]
    lines = (styled((line[:2] + prepared(line[2:]), styles.get(line[0], "")), indent=2) for line in shown)
    return TextDocument(tuple(lines), "\n".join(shown))


def _wrap(line: TextLine, width: int) -> list[tuple[int, int]]:
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


# -- pages

_NOTES = {"problem": "warn", "advice": "notice", "remark": "notice", "said": ""}


def of_page(parts: Iterable[page.Part]) -> TextDocument:
    """Render parts of a page for a pane; charts are left out because the tables next to them show the same data."""
    lines: list[TextLine] = []
    before: page.Part | None = None
    for part in parts:
        if isinstance(part, page.Subheading) or (
            type(part) is not type(before) and not isinstance(before, page.Subheading)
        ):
            lines += [TextLine("")] if lines else []
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


# -- source code, highlighted by the lexer for the file's name


COLOURED_AT_FIRST = 3_000
"""Number of characters highlighted before the first paint, about a screenful; lexers take seconds per megabyte."""
COLOURED_AT_MOST = 96_000  # maximum number of highlighted characters; text beyond it stays plain

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


def code(text: str, path: str, *, cut: str | None = None, coloured: int = COLOURED_AT_MOST) -> TextDocument:
    return plain(text, numbered=True, cut=cut, spans=spans_by_line(prepared(text)[:coloured], path=path))


def spans_by_line(text: str, *, path: str = "", language: str = "") -> list[list[Span]] | None:
    lexer = _lexer(path, language)
    if lexer is None:
        return None
    lines, column = list[list[Span]]([[]]), 0
    # get_tokens() strips and adds newlines, which would shift the columns.
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


# -- the content of the focused pane


@dataclass(frozen=True, slots=True)
class PaneContent:
    """The content of the focused pane.

    ``text`` is the visible text, and ``whole`` reads the full text if ``text`` is only part of it. ``name`` appears
    in notices; ``suffix`` is the file name suffix for an editor.
    """

    name: str
    text: str
    suffix: str
    whole: Callable[[], TextDocument] | None = None
