"""The grounding of the displayed README: the list of items, their highlights in the text, and what the agent saw."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.message import Message

from workbench.app.toolkit.columns import TableColumn
from workbench.app.toolkit.document import TextDocument, TextLine, of_page, prepared
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.table import VirtualTable
from workbench.base.text import one_line
from workbench.grounding.items import KINDS, NOT_SEEN, NOWHERE, SEEN, TASK, UNSEEN, Grounding, Item
from workbench.pages import page

if TYPE_CHECKING:
    from workbench.grounding import Why


SIGNS = {SEEN: "●", UNSEEN: "○", NOWHERE: "✗", NOT_SEEN: "·"}
STYLES = {SEEN: "ok", UNSEEN: "warn", NOWHERE: "bad", NOT_SEEN: "dim"}


def marked(
    document: TextDocument, readme: str, grounding: Grounding
) -> tuple[TextDocument, tuple[tuple[int, int, int, int], ...]]:
    """Colour the items in a README by status, add a sign after each, and return the document and the places.

    A place is (line, start column, end column, item number).
    """
    by_source: dict[int, list[tuple[int, str, int]]] = {}
    for number, item in enumerate(grounding.items):
        for place in item.places:
            before = readme[readme.rfind("\n", 0, place.start) + 1 : place.start]
            column = len(prepared(before)) if document.numbered else -1
            name = prepared(readme[place.start : place.end])
            by_source.setdefault(place.line - 1, []).append((column, name, number))
    lines: list[TextLine] = []
    places: list[tuple[int, int, int, int]] = []
    for index, line in enumerate(document.lines):
        wanted = [one for source in range(line.source, line.source_end) for one in by_source.get(source, ())]
        found = _found_in(line.text, wanted) if wanted and line.source >= 0 else []
        lines.append(_with_signs(line, found, grounding.items) if found else line)
        places += [(index, start + shift, end + shift, number) for shift, (start, end, number) in enumerate(found)]
    return replace(document, lines=tuple(lines)), tuple(places)


def _found_in(text: str, wanted: Sequence[tuple[int, str, int]]) -> list[tuple[int, int, int]]:
    found: list[tuple[int, int, int]] = []
    after: dict[str, int] = {}
    for column, name, number in sorted(wanted):
        at = column if column >= 0 and text.startswith(name, column) else _whole(text, name, after.get(name, 0))
        if at >= 0:
            found.append((at, at + len(name), number))
            after[name] = at + len(name)
    kept: list[tuple[int, int, int]] = []
    for one in sorted(found):
        if not kept or one[0] >= kept[-1][1]:
            kept.append(one)
    return kept


def _whole(text: str, name: str, start: int) -> int:
    found = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)").search(text, start)
    return found.start() if found else -1


def _with_signs(line: TextLine, found: Sequence[tuple[int, int, int]], items: Sequence[Item]) -> TextLine:
    text, spans, step = line.text, list(line.spans), None
    for start, end, number in reversed(found):
        item = items[number]
        text = text[:end] + SIGNS[item.status] + text[end:]
        spans = [(a + (a >= end), b + (b >= end + (a >= end)), style) for a, b, style in spans]
        spans.append((start, end + 1, STYLES[item.status]))
        step = next((one for one in item.steps if one != TASK), step)
    return replace(line, text=text, spans=tuple(spans), step=step if step is not None else line.step)


def exploration(why: Why) -> TextDocument:
    """Return a document on how much of the repository the agent saw, and on oddities in its exploration."""
    found = why.exploration
    counts = found.files, found.bytes, found.functions
    parts: list[page.Part] = [page.Note("The contents of the repository are not known yet.")]
    if sum(found.files.values()):
        rows = (
            (level, *("–" if one is None else _amount(one[level], sum(one.values())) for one in counts))
            for level in found.files
        )
        text = "Bytes shown to the agent count as read, bytes cut off as partly read."
        parts = [
            page.PageTable(("", "files", "bytes", "functions"), tuple(rows), frozenset({1, 2, 3})),
            page.Note(f"{text} Only public functions outside tests are counted."),
        ]
    if not found.complete:
        parts.append(page.Note("The imported file does not state which other files the agent read or skipped."))
    parts += [page.Note(f"! {one_line(pattern, 300)}", "problem") for pattern in found.patterns]
    if found.complete and not found.patterns:
        parts.append(page.Note("✓ nothing odd about its exploration", "said"))
    return of_page([*parts, *([page.Note(why.note)] if why.note else [])])


def _amount(part: int, whole: int) -> str:
    if not whole:
        return "–"
    percent = round(100 * part / whole)
    return f"{part:,} " + ("<1 %" if part and not percent else f"{percent:2} %")


def needles_of(item: Item) -> tuple[str, ...]:
    """Return search strings for finding out where an item comes from, best first."""
    text = item.text.removeprefix("python -m ").strip("/")
    return tuple(dict.fromkeys([text, text.rsplit("/", 1)[-1], text.rsplit(".", 1)[-1]]))


def sentence(why: Why, width: int) -> str:
    """Return the counts for the pane's title, using signs if the words do not fit."""
    found = why.grounding
    if found is None:
        return "no README"
    cut = " · first 100,000 characters" if found.cut else ""
    if len(found.sentence() + cut) <= width:
        return found.sentence() + cut
    if len(found.sentence()) <= width or not found.items:
        return found.sentence()
    statuses = (SEEN, UNSEEN, NOWHERE) if found.repository else (SEEN, NOT_SEEN)
    text = "  ".join(f"{SIGNS[status]} {found.counts[status]:,}" for status in statuses)
    return f"{len(found.items):,} items  {text}" + (" nowhere" if found.repository else "")


COLUMNS: tuple[TableColumn[Item], ...] = (
    TableColumn(title="", cell=lambda item: (SIGNS[item.status], STYLES[item.status]), width=1, text=True),
    TableColumn(title="item", cell=lambda item: one_line(item.text, 200), width=10, widest=44, text=True,
           sort=lambda item: item.text.casefold()),
    TableColumn(title="kind", cell=lambda item: (item.kind, "dim"), width=max(map(len, KINDS)), text=True, priority=1,
           sort=lambda item: item.kind),
    TableColumn(title="line", cell=lambda item: (f"{item.places[0].line:,}{'+' if len(item.places) > 1 else ''}", "dim"), width=6,
           sort=lambda item: item.places[0].line),
    TableColumn(title="comes from", cell=lambda item: (one_line(item.origin, 300), STYLES[item.status]), width=8, widest=300,
           text=True),
)  # fmt: skip


class GroundingList(VirtualTable[Item]):
    """A row per item; items contributed by the selected step are marked with ``›``."""

    LEAD = 1

    @dataclass
    class Followed(Message):
        """Posted when the cursor moves to an item or, with ``chosen``, when Enter is pressed on it."""

        item: Item
        chosen: bool

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(COLUMNS, key=lambda item: (item.kind, item.text), id=id)
        self.step = 0

    def show(self, grounding: Grounding | None, empty: str) -> None:
        """Show the items of a README; ``empty`` is the text to show if there are none."""
        self.empty = empty
        self.put(grounding.items if grounding is not None else ())

    def highlight(self, step: int) -> None:
        if step != self.step:
            self.step = step
            self.refresh()

    def lead_of(self, row: Item) -> str:
        return "›" if self.step in row.steps else ""

    def style_of(self, row: Item) -> str:
        return "marked" if self.step in row.steps else ""

    def action_choose(self) -> None:
        if self.selected is not None:
            self.post_message(self.Followed(self.selected, True))

    def on_row_list_row_highlighted(self, message: RowList.RowHighlighted) -> None:
        message.stop()
        if self.selected is not None and self.has_focus:
            self.post_message(self.Followed(self.selected, False))
