"""Renders a README as a document that maps each line to its source lines.

Textual's Markdown widget mounts a widget per block and discards source offsets. Evidence, search hits and step links
need offsets and speed, so this module lays out the blocks from markdown-it's tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.app.toolkit.document import Span, TextDocument, TextLine, closed, plain, prepared, spans_by_line

if TYPE_CHECKING:
    from markdown_it.token import Token
    from markdown_it.tree import SyntaxTreeNode

RENDER_LIMIT = 200_000
"""The length in characters up to which a README is rendered; longer ones are shown as source."""

_INLINE = {"code_inline": "code", "image": "em", "html_inline": "comment"}
StepOf = Callable[[str], int | None]
"""A function that returns the step that a line of text comes from, or None."""


def _nowhere(text: str) -> int | None:
    return None


def render(text: str, *, step_of: StepOf = _nowhere, cut: str | None = None) -> TextDocument:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    layout = _Layout(step_of)
    layout.blocks(SyntaxTreeNode(parser.parse(prepared(text))))
    return TextDocument(closed(tuple(layout.lines), cut), text, cut)


def source(text: str, *, step_of: StepOf = _nowhere, cut: str | None = None) -> TextDocument:
    """Return Markdown source as a document with coloured headings and fences, and line numbers."""
    document = plain(text, numbered=True, cut=cut)
    lines: list[TextLine] = []
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
        lines.append(replace(line, spans=spans, step=step_of(line.text) if fenced else None))
    return TextDocument(tuple(lines), document.text, cut, numbered=True)


class _Layout:
    """Walks markdown-it's syntax tree and appends document lines."""

    def __init__(self, step_of: StepOf) -> None:
        self.lines: list[TextLine] = []
        self.step_of = step_of
        self._prefix: list[str] = []  # list indents and quote bars that start every line
        self._bullet = ""  # replaces the last prefix on the next line only
        self._range = (0, 0)

    def blocks(self, parent: SyntaxTreeNode) -> None:
        for node in parent.children:
            self._range = node.map or self._range
            match node.type:
                case "heading":
                    self._gap()
                    self._text(node, "heading" if node.tag < "h3" else "subheading")
                    if node.tag == "h1":
                        self._rule("─" * 400)
                case "paragraph":
                    if not node.hidden and not self._bullet:
                        self._gap()
                    self._text(node, "")
                case "fence" | "code_block":
                    self._code(node)
                case "table":
                    self._table(node)
                case "hr":
                    self._gap()
                    self._rule("─" * 400)
                case "html_block":
                    self._gap()
                    for part in node.content.rstrip("\n").split("\n"):
                        self._emit(part, ((0, len(part), "comment"),))
                case "bullet_list" | "ordered_list":
                    if not any(map(str.isspace, self._prefix)):
                        self._gap()
                    for number, item in enumerate(node.children, int(node.attrs.get("start", 1))):
                        self._range = item.map or self._range
                        self._bullet = f"{number}. " if node.type == "ordered_list" else "• "
                        self._within(item, " " * len(self._bullet))
                case "blockquote":
                    self._gap()
                    self._within(node, "▎ ")

    def _within(self, node: SyntaxTreeNode, prefix: str) -> None:
        self._prefix.append(prefix)
        self.blocks(node)
        if self._bullet and prefix.isspace():
            self._emit("", ())
        self._prefix.pop()

    def _gap(self) -> None:
        if self.lines and self.lines[-1].text.strip("▎ ") and not self._bullet:
            self.lines.append(TextLine(""))

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
        self.lines.append(
            TextLine(prefix + text, moved, first, last, indent=-1 if clip else shift, fill=fill, step=step)
        )

    def _text(self, block: SyntaxTreeNode, style: str) -> None:
        text = ""
        spans: list[Span] = []
        opened: list[tuple[str, int]] = []
        href: list[str] = []
        for child in _inline(block):
            kind = child.type
            if kind == "text":
                text += child.content
            elif kind == "softbreak":
                text += " "
            elif kind == "hardbreak":
                self._emit(text, self._styled(text, spans, style))
                text, spans, opened = "", [], [(name, 0) for name, _ in opened]
            elif kind in _INLINE:
                message = f"🖼 {child.content or child.attrGet('src') or 'image'}" if kind == "image" else child.content
                spans.append((len(text), len(text) + len(message), _INLINE[kind]))
                text += message
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

    def _code(self, block: SyntaxTreeNode) -> None:
        self._gap()
        language = next(iter(block.info.split()), "")
        body = block.content.rstrip("\n")
        coloured = spans_by_line(body, language=language) if language else None
        first = self._range[0] + (block.type == "fence")
        for index, part in enumerate(body.split("\n")):
            spans = tuple(coloured[index]) if coloured and index < len(coloured) else ((0, len(part), "plain-code"),)
            self._emit(part, spans, fill="block", lines=(first + index, first + index + 1))

    def _table(self, table: SyntaxTreeNode) -> None:
        self._gap()
        rows = [
            ([_flat(cell) for cell in row.children], row.map or self._range)
            for part in table.children
            for row in part.children
        ]
        count = max((len(cells) for cells, _ in rows), default=0)
        widths = [min(40, max((len(c[i]) for c, _ in rows if i < len(c)), default=0)) for i in range(count)]
        for number, (cells, where) in enumerate(rows):
            text = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=False)).rstrip()
            self._emit(text, ((0, len(text), "strong"),) if number == 0 else (), lines=where)
            if number == 0:
                self._rule("  ".join("─" * width for width in widths), where)


def _inline(block: SyntaxTreeNode) -> Sequence[Token]:
    """Return the inline tokens of a heading, paragraph or cell."""
    token = block.children[0].token if block.children else None
    return token.children or () if token is not None else ()


def _flat(cell: SyntaxTreeNode) -> str:
    return " ".join("".join(one.content or (" " if one.type == "softbreak" else "") for one in _inline(cell)).split())
