"""A README as a document: Markdown laid out in lines that remember which source lines they show.

Textual's own Markdown widget mounts a widget for every block and forgets offsets; evidence, search hits and step links
need both speed and offsets, so the blocks are laid out here on top of markdown-it's tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.app.toolkit.document import Document, Line, Span, closed, plain, prepared, spans_by_line

if TYPE_CHECKING:
    from markdown_it.token import Token

RENDER_LIMIT = 200_000
"""Characters up to which a README is rendered; above that it is shown as source, at once."""

_INLINE = {"code_inline": "code", "image": "em", "html_inline": "comment"}
StepOf = Callable[[str], int | None]
"""Says from which step a line of text comes, None if from none."""


def render(text: str, *, step_of: StepOf | None = None, cut: str | None = None) -> Document:
    """Return Markdown laid out for reading."""
    from markdown_it import MarkdownIt

    ready = prepared(text)
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    layout = _Layout(ready.split("\n"), step_of or (lambda _: None))
    layout.blocks(parser.parse(ready))
    return Document(closed(tuple(layout.lines), cut), text, cut)


def source(text: str, *, step_of: StepOf | None = None, cut: str | None = None) -> Document:
    """Return Markdown as it is written, headings and fences coloured, line numbers in front."""
    document = plain(text, numbered=True, cut=cut)
    find = step_of or (lambda _: None)
    lines: list[Line] = []
    fenced = False
    for line in document.lines:
        spans = line.spans
        if line.text.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
            spans = ((0, len(line.text), "comment"),)
        elif fenced:
            spans = ((0, len(line.text), "code"),)
        elif line.text.startswith("#"):
            spans = ((0, len(line.text), "heading"),)
        lines.append(replace(line, spans=spans, step=find(line.text) if fenced else None))
    return Document(tuple(lines), document.text, cut, numbered=True)


class _Layout:
    """Walks markdown-it's flat token list and appends lines."""

    def __init__(self, source_lines: list[str], step_of: StepOf) -> None:
        self.lines: list[Line] = []
        self.step_of = step_of
        self._source = source_lines
        self._prefix: list[str] = []  # what stands before every line: list indents, quote bars
        self._bullet = ""  # shown once instead of the last prefix
        self._counters: list[int | None] = []
        self._range = (0, 0)
        self._tight = False

    def blocks(self, tokens: list[Token]) -> None:
        index = 0
        while index < len(tokens):
            token = tokens[index]
            if token.map:
                self._range = (token.map[0], token.map[1])
            if token.type == "heading_open":
                self._gap()
                level = int(token.tag[1:])
                self._text(tokens[index + 1], "heading" if level < 3 else "subheading")
                if level == 1 and self.lines:
                    self._rule("─" * 400)
                index += 2
            elif token.type == "paragraph_open":
                if not token.hidden and not self._bullet:
                    self._gap()
                self._text(tokens[index + 1], "")
                index += 2
            elif token.type in {"fence", "code_block"}:
                self._code(token)
            elif token.type == "table_open":
                index = self._table(tokens, index)
            elif token.type == "hr":
                self._gap()
                self._rule("─" * 400)
            elif token.type == "html_block":
                self._gap()
                for part in token.content.rstrip("\n").split("\n"):
                    self._emit(part, ((0, len(part), "comment"),))
            else:
                self._container(token)
            index += 1

    def _container(self, token: Token) -> None:
        if token.type in {"bullet_list_open", "ordered_list_open"}:
            if not self._counters:
                self._gap()
            start = token.attrGet("start")
            ordered = token.type == "ordered_list_open"
            self._counters.append(int(start) if start is not None else 1 if ordered else None)
        elif token.type in {"bullet_list_close", "ordered_list_close"}:
            self._counters.pop()
        elif token.type == "list_item_open":
            count = self._counters[-1]
            self._bullet = "• " if count is None else f"{count}. "
            if count is not None:
                self._counters[-1] = count + 1
            self._prefix.append(" " * len(self._bullet))
        elif token.type == "list_item_close":
            if self._bullet:
                self._emit("", ())
            self._prefix.pop()
        elif token.type == "blockquote_open":
            self._gap()
            self._prefix.append("▎ ")
        elif token.type == "blockquote_close":
            self._prefix.pop()

    def _gap(self) -> None:
        if self.lines and self.lines[-1].text.strip("▎ ") and not self._bullet:
            self.lines.append(Line(""))

    def _rule(self, text: str, lines: tuple[int, int] | None = None) -> None:
        self._emit(text, ((0, len(text), "rule"),), lines=lines, clip=True)

    def _emit(
        self,
        text: str,
        spans: tuple[Span, ...],
        *,
        fill: str = "",
        lines: tuple[int, int] | None = None,
        clip: bool = False,
    ) -> None:
        first, last = lines or self._range
        prefix = "".join(self._prefix)
        if self._bullet:
            prefix = "".join(self._prefix[:-1]) + self._bullet
            self._bullet = ""
        shift = len(prefix)
        moved = tuple((start + shift, end + shift, style) for start, end, style in spans)
        if prefix.strip():
            moved = ((0, shift, "bullet"), *moved)
        step = None if clip else self.step_of(text) if fill or any(s == "code" for _, _, s in spans) else None
        self.lines.append(Line(prefix + text, moved, first, last, indent=-1 if clip else shift, fill=fill, step=step))

    def _text(self, inline: Token, style: str) -> None:
        """Lay out the inline content of a block; every hard or soft break in a heading or list stays one line."""
        text = ""
        spans: list[Span] = []
        opened: list[tuple[str, int]] = []
        href: list[str] = []
        for child in inline.children or ():
            kind = child.type
            if kind == "text":
                text += child.content
            elif kind == "softbreak":
                text += " "
            elif kind == "hardbreak":
                self._emit(text, self._styled(text, spans, style))
                text, spans, opened = "", [], [(name, 0) for name, _ in opened]
            elif kind in _INLINE:
                said = f"🖼 {child.content or child.attrGet('src') or 'image'}" if kind == "image" else child.content
                spans.append((len(text), len(text) + len(said), _INLINE[kind]))
                text += said
            elif kind.endswith("_open"):
                name = kind.removesuffix("_open")
                if name == "link":
                    href.append(str(child.attrGet("href") or ""))
                opened.append((name, len(text)))
            elif kind.endswith("_close") and opened:
                name, start = opened.pop()
                spans.append((start, len(text), name))
                if name == "link" and href:
                    target = href.pop()
                    if target and target not in text[start:]:
                        shown = f" ({target})"
                        spans.append((len(text), len(text) + len(shown), "dim"))
                        text += shown
        self._emit(text, self._styled(text, spans, style))

    @staticmethod
    def _styled(text: str, spans: list[Span], style: str) -> tuple[Span, ...]:
        return ((0, len(text), style), *spans) if style and text else tuple(spans)

    def _code(self, token: Token) -> None:
        self._gap()
        language = token.info.split()[0] if token.info.strip() else ""
        body = token.content.rstrip("\n")
        coloured = spans_by_line(body, language=language) if language else None
        first = self._range[0] + (1 if token.type == "fence" else 0)
        for index, part in enumerate(body.split("\n")):
            spans = tuple(coloured[index]) if coloured and index < len(coloured) else ((0, len(part), "plain-code"),)
            self._emit(part, spans, fill="block", lines=(first + index, first + index + 1))

    def _table(self, tokens: list[Token], index: int) -> int:
        self._gap()
        rows: list[tuple[list[str], tuple[int, int]]] = []
        lines = self._range
        while tokens[index].type != "table_close":
            token = tokens[index]
            if token.type == "tr_open":
                lines = (token.map[0], token.map[1]) if token.map else lines
                rows.append(([], lines))
            elif token.type == "inline":
                flat = "".join(
                    child.content or (" " if child.type == "softbreak" else "") for child in token.children or ()
                )
                rows[-1][0].append(re.sub(r"\s+", " ", flat))
            index += 1
        count = max((len(cells) for cells, _ in rows), default=0)
        widths = [min(40, max((len(c[i]) for c, _ in rows if i < len(c)), default=0)) for i in range(count)]
        for number, (cells, where) in enumerate(rows):
            text = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=False)).rstrip()
            self._emit(text, ((0, len(text), "strong"),) if number == 0 else (), lines=where)
            if number == 0:
                self._rule("  ".join("─" * width for width in widths), where)
        return index
