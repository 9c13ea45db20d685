"""Source code as a document: coloured by the lexer that the file's name asks for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from workbench.app.toolkit.document import Document, Line, Span, plain, prepared

COLOURED_AT_FIRST = 3_000
"""Characters that are coloured before a text is first shown: what a screen holds; a lexer needs seconds a megabyte."""
COLOURED_AT_MOST = 96_000
"""Characters that are ever coloured; what follows is shown without colours."""

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
    """Return the text of the file ``path`` with line numbers and its first ``coloured`` characters in colours."""
    ready = prepared(text)
    spans = spans_by_line(ready[:coloured], path=path)
    if spans is None:
        return plain(text, numbered=True, cut=cut)
    lines = [
        Line(
            part,
            tuple(spans[index]) if index < len(spans) else (),
            source=index,
            source_end=index + 1,
            number=index + 1,
            indent=_indent(part),
        )
        for index, part in enumerate(ready.split("\n"))
    ]
    if cut:
        lines += [Line(""), Line(cut, ((0, len(cut), "notice"),))]
    return Document(tuple(lines), text, cut, numbered=True)


def spans_by_line(text: str, *, path: str = "", language: str = "") -> list[list[Span]] | None:
    """Return the coloured ranges of each line, None where the language is not known."""
    lexer = _lexer(path, language)
    if lexer is None:
        return None
    lines: list[list[Span]] = [[]]
    column = 0
    for kind, value in _tokens(lexer, text):
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


def _tokens(lexer: Any, text: str) -> Iterator[tuple[Any, str]]:
    # get_tokens() would strip and add newlines, and then the columns would be wrong.
    for _, kind, value in lexer.get_tokens_unprocessed(text):
        yield kind, value


@lru_cache(maxsize=256)
def _style(kind: str) -> str:
    for prefix, style in _STYLES:
        if kind == prefix or kind.startswith(prefix + "."):
            return style
    return ""


def _lexer(path: str, language: str) -> Any | None:
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        if language:
            return get_lexer_by_name(language)
        return get_lexer_for_filename(path.rpartition("/")[2]) if path else None
    except ClassNotFound:
        return None


def _indent(text: str) -> int:
    return min(len(text) - len(text.lstrip(" ")) + 2, 12)
