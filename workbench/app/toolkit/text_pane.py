"""A pane that shows a document, wrapped and coloured, with search hits and evidence highlighted."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.strip import Strip

from workbench.app.toolkit.document import EMPTY, LineRange, TextDocument, find_all
from workbench.app.toolkit.virtual_view import Part, VirtualView

GROWTH = 16  # factor by which the size limit grows when the user loads more of a long text


class TextPane(VirtualView):
    """A viewer for one :class:`TextDocument` that paints only the visible rows."""

    @dataclass
    class StepLink(Message):
        """The user clicked the link ``← step n`` of a line."""

        step: int

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.document: TextDocument = EMPTY
        self.needle = ""
        self.hits: list[LineRange] = []
        self.evidence: list[LineRange] = []
        self._current: LineRange | None = None
        self._rows: list[LineRange] = []
        self._width = 0
        self._by_line: dict[int, list[tuple[int, int, str]]] = {}

    def show(self, document: TextDocument, *, keep_place: bool = False) -> None:
        """Show a document from its top or, with ``keep_place``, at the current scroll offset."""
        if document is self.document:
            return
        top = self.scroll_offset.y if keep_place else 0
        self.document, self.evidence, self._width = document, [], 0
        self._find()
        self._layout()
        self.scroll_to(y=top, animate=False, immediate=True)
        self.refresh()

    def recolour(self, document: TextDocument) -> None:
        """Replace the document with one that has the same text but other colours."""
        if len(document.lines) == len(self.document.lines):
            self.document = document
            self.refresh()

    def find(self, needle: str) -> None:
        if needle != self.needle:
            self.needle = needle
            self._find()
            self.refresh()

    @property
    def hit(self) -> int:
        return self.hits.index(self._current) if self._current is not None else -1

    def go_to_next_hit(self, step: int) -> None:
        """Go to the next (1) or previous (-1) hit, wrapping around; the first call goes to the first visible hit."""
        if not self.hits:
            return
        if self._current is None:
            top = self._rows[self.scroll_offset.y].line if self.scroll_offset.y < len(self._rows) else 0
            at = bisect_left(self.hits, top, key=lambda mark: mark.line)
            self.go_to_hit(at if at < len(self.hits) else 0)
        else:
            self.go_to_hit((self.hit + step) % len(self.hits))

    def go_to_hit(self, ordinal: int) -> None:
        if self.hits:
            self._current = self.hits[min(ordinal, len(self.hits) - 1)]
            self._index_marks()
            self.go_to(self._current.line, self._current.start)
            self.refresh()

    def mark_evidence(self, marks: list[LineRange]) -> None:
        self.highlight(marks)
        if marks:
            self.go_to(marks[0].line, marks[0].start)

    def highlight(self, marks: list[LineRange]) -> None:
        if marks != self.evidence:
            self.evidence = marks
            self._index_marks()
            self.refresh()

    def mark_line(self, line: int) -> None:
        if line < len(self.document.lines):
            self.mark_evidence([LineRange(line, 0, max(1, len(self.document.lines[line].text)))])

    def mark_text(self, *texts: str) -> None:
        """Highlight and scroll to the first occurrence of the first of ``texts`` that is found."""
        lines = list(enumerate(self.document.lines))
        found = (
            (index, at, at + len(text)) for text in texts for index, line in lines if (at := line.text.find(text)) >= 0
        )
        for place in itertools.islice(found, 1):
            self.mark_evidence([LineRange(*place)])

    def go_to(self, line: int, column: int = 0) -> None:
        self._layout()
        row = bisect_left(self._rows, (line, column), key=lambda item: (item.line, item.end - 1))
        top = self.scroll_offset.y
        if not top <= row < top + self.page_height():
            self.scroll_to(y=max(0, row - self.page_height() // 3), animate=False, immediate=True)

    # -- painting

    def plain_text(self) -> str:
        return self.document.text

    def missing_of(self, copied: str) -> str:
        return self.document.cut or ""

    def row_count(self) -> int:
        return len(self._rows)

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        row = self._rows[y]
        line = self.document.lines[row.line]
        gutter = self.document.gutter
        parts: list[Part] = []
        if margin := self.document.margin:
            sign, style = line.mark if line.mark is not None and row.start == 0 else ("", "")
            parts.append((sign.ljust(margin), style))
        if gutter > margin:
            number = str(line.number) if row.start == 0 and line.number else ""
            parts.append((number.rjust(gutter - margin - 1) + " ", "rule"))
        if row.start and line.indent > 0:
            parts.append((" " * line.indent, ""))
        spans = [*line.spans, *self._by_line.get(row.line, ())]
        parts.extend(_pieces(line.text, row.start, row.end, spans))
        if line.step is not None and row.start == 0:
            used = sum(cell_len(text) for text, _ in parts)
            link = f"← step {line.step} "
            if used + len(link) + 2 <= width:
                parts.append((" " * (width - used - len(link)), ""))
                parts.append((link, "dim"))
        return parts, line.fill

    def on_resize(self) -> None:
        self._layout()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        if self._width != self.text_width:
            self.call_next(self.on_resize)
        return super().render_line(y)

    def on_click(self, event: events.Click) -> None:
        y = event.y + self.scroll_offset.y
        if 0 <= y < len(self._rows):
            step = self.document.lines[self._rows[y].line].step
            if step is not None and event.x > self.size.width - 14:
                self.post_message(self.StepLink(step))

    def _layout(self) -> None:
        width = self.text_width
        if width == self._width:
            return
        top = self._rows[self.scroll_offset.y : self.scroll_offset.y + 1] if self._width else []
        self._rows, self._width = self.document.rows(width - self.document.gutter), width
        self.set_size(len(self._rows))
        if top and top[0].line:
            row = bisect_left(self._rows, top[0].line, key=lambda item: item.line)
            self.scroll_to(y=row, animate=False, immediate=True)

    def _find(self) -> None:
        self.hits = [
            LineRange(index, at, at + len(self.needle))
            for index, line in enumerate(self.document.lines if self.needle else ())
            for at in find_all(self.needle, line.text)
        ]
        self._current = None
        self._index_marks()

    def _index_marks(self) -> None:
        self._by_line = {}
        for marks, style in ((self.evidence, "evidence"), (self.hits, "hit")):
            for mark in marks:
                shown = "hit-now" if style == "hit" and mark == self._current else style
                self._by_line.setdefault(mark.line, []).append((mark.start, mark.end, shown))


def _pieces(text: str, start: int, end: int, spans: list[tuple[int, int, str]]) -> list[Part]:
    """Split a row at the boundaries of its spans; the last span that covers a piece determines its style."""
    inside = [(max(a, start), min(b, end), style) for a, b, style in spans if a < end and b > start]
    if not inside:
        return [(text[start:end], "")]
    borders = sorted({start, end, *(a for a, _, _ in inside), *(b for _, b, _ in inside)})
    return [
        (text[left:right], next((name for a, b, name in reversed(inside) if a <= left and b >= right), ""))
        for left, right in itertools.pairwise(borders)
    ]
