"""A list of rows that compare two sides; users can jump between differences or hide equal rows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from typing import Any

from rich.cells import cell_len
from textual.strip import Strip

from workbench.app.toolkit.columns import ColumnLayout, TableColumn, fit_end
from workbench.app.toolkit.document import TextDocument, TextLine, prepared
from workbench.app.toolkit.row_list import HeadedList
from workbench.app.toolkit.virtual_view import Part, fit
from workbench.base.text import one_line, shortened
from workbench.comparison import panes
from workbench.comparison.texts import LinePair, Pieces, Texts
from workbench.session.json_forms import picked

_CUTS = {"end": fit, "middle": shortened, "start": fit_end}
SAME, ONLY_A, ONLY_B, CHANGED = (sign for sign, _ in (panes.SAME, panes.ONLY_A, panes.ONLY_B, panes.CHANGED))
# Delimiters of words that only one side contains, as in ``git diff --word-diff``.
_MARKS = {SAME: ("", ""), ONLY_A: ("[-", "-]"), ONLY_B: ("{+", "+}")}
_STYLES = {ONLY_A: "only-a", ONLY_B: "only-b"}
_UNDER = {SAME: (" ", "dim"), ONLY_A: ("-", "poor"), ONLY_B: ("+", "good")}
"""Signs and styles of lines that are stacked instead of side by side."""
_BETWEEN = " │ "
_SIGN = 2

Half = tuple[str, Sequence[Part]]  # one side of a row: a sign and its text
NO_TEXT: Half = ("", ())  # filler where the other side has more rows


def laid_out(columns: Sequence[panes.PaneColumn[Any]], rows: Sequence[Any]) -> ColumnLayout[Any]:
    names = "title", "cell", "width", "widest", "text", "priority"
    return ColumnLayout([TableColumn(**picked(one, *names), shorten=_CUTS[one.cut]) for one in columns], rows)


class TableRows:
    """Table rows; the first cell is a sign that shows which side has the row."""

    def __init__(self, table: panes.PaneTable[Any]) -> None:
        self.rows, self.by_stretch, self.nothing = table.rows, table.number is not None, table.nothing
        self.columns = laid_out(table.columns, table.rows)
        self.differing = [None if row.heading else row.sign != panes.SAME for row in table.rows]

    def heading(self, width: int) -> Sequence[Part]:
        return [("  ", ""), *self.columns.heading(width - 2)]

    def parts(self, place: int, width: int, cursor: str) -> Sequence[Part]:
        row = self.rows[place]
        sign, style = ("", "") if row.heading else row.sign
        row_style = style if (sign, style) in {panes.ONLY_A, panes.ONLY_B} else ""
        return [(f"{sign:2}", style), *self.columns.cells(row, width - 2, row_style)]


_NO_TABLE: panes.PaneTable[Any] = panes.PaneTable(rows=(), columns=(), nothing="")


class TextRows:
    """Two texts laid out at a width, side by side or stacked.

    ``lines`` maps rows to logical lines, which are the same at every width. The cursor highlights only the signs in
    front of a row, so that the colours of the text remain visible.
    """

    by_stretch = True

    def __init__(self, texts: Texts, width: int) -> None:
        self.texts, self.width = texts, width
        self.half = max(4, width - _SIGN if texts.under else (width - len(_BETWEEN)) // 2 - _SIGN)
        self.rows: list[tuple[Half, Half]] = []
        self.differing: list[bool | None] = []
        self.lines: list[int] = []
        for number, (left, right, differs) in enumerate(self._halves()):
            if texts.under:
                left, right = (left + right if differs else left), []
            rows = list(zip_longest(left, right, fillvalue=NO_TEXT))
            self.rows += rows
            self.differing += [differs] * len(rows)
            self.lines += [number] * len(rows)
        a, b = texts.left.absent or "is empty", texts.right.absent or "is empty"
        self.nothing = one_line(f"A: {a} · B: {b}", 600)

    def _halves(self) -> Iterator[tuple[list[Half], list[Half], bool]]:
        """Yield the rows of each line of A and of the corresponding line of B, and whether the lines differ.

        If a text is missing, the reason is yielded instead.
        """
        texts = self.texts
        sides, pairs = (texts.left, texts.right), texts.pairs
        if (pairs or texts.under) and any(side.absent for side in sides):
            yield self._note(sides[0].absent), self._note(sides[1].absent), True
            if texts.under:
                return
        for single, found in groupby(pairs, key=lambda pair: pair.left is None or pair.right is None):
            stretch = list(found)
            if single and not texts.under:
                # To save space, show lines that only A has beside lines that only B has.
                alone = ([pair.left for pair in stretch if pair.left], [pair.right for pair in stretch if pair.right])
                stretch = [LinePair(a, b) for a, b in zip_longest(*alone)]
            for pair in stretch:
                left, right = (
                    [] if pieces is None else self._wrapped(pieces, SAME if pair.same else side, marked=not single)
                    for pieces, side in ((pair.left, ONLY_A), (pair.right, ONLY_B))
                )
                yield left, right, not pair.same
        left, right = (self._note("the rest is too long to compare" if side.cut else "") for side in sides)
        yield left, right, False

    def _note(self, text: str) -> list[Half]:
        shown = f"({text})"
        return [(" ", ((shown[at], "notice"),)) for at in wrapped_at(shown, self.half)] if text else []

    def _wrapped(self, pieces: Pieces, side: str, *, marked: bool) -> list[Half]:
        sign, style = side if side == SAME or not marked else CHANGED, _STYLES.get(side, "")
        if self.texts.under:
            sign, style = _UNDER[side]
        before, after = _MARKS[side] if marked else ("", "")
        alike = "strong" if pieces and pieces[0][0].startswith("#") else ""
        styled = [
            (prepared(text), alike) if same else (f"{before}{prepared(text)}{after}", style) for text, same in pieces
        ]
        rows = wrapped_at("".join(text for text, _ in styled), self.half)
        return [(sign if not row.start else " ", [*_cut(styled, row)]) for row in rows]

    def heading(self, width: int) -> Sequence[Part]:
        a, b = self.texts.left.title, self.texts.right.title
        if self.texts.under:
            return [(f"- {a}", "poor"), ("   ", ""), (f"+ {b}", "good")]
        room = self.half + _SIGN
        return [(fit(f"A  {a}", room), "only-a"), (_BETWEEN, "rule"), (fit(f"B  {b}", room), "only-b")]

    def parts(self, place: int, width: int, cursor: str) -> Sequence[Part]:
        left, right = self.rows[place]
        if self.texts.under:
            return self._half(left, dict(_UNDER.values()).get(left[0], "dim"), cursor)
        between = (_BETWEEN, cursor or "rule")
        return [*self._half(left, "only-a", cursor), between, *self._half(right, "only-b", cursor)]

    def _half(self, half: Half, style: str, cursor: str) -> list[Part]:
        sign, parts = half
        used = sum(cell_len(text) for text, _ in parts)
        lead = (fit(sign, 1), cursor or ("dim" if sign == SAME else style))
        return [lead, (" ", ""), *parts, (" " * max(0, self.half - used), "")]


def _cut(styled: Sequence[Part], row: slice) -> Iterator[Part]:
    at = 0
    for text, style in styled:
        if part := text[max(0, row.start - at) : max(0, row.stop - at)]:
            yield part, style
        at += len(text)


def wrapped_at(line: str, width: int) -> list[slice]:
    """Return the slices of a line that form its rows; a trailing space is left out, since it may not fit."""
    rows = TextDocument((TextLine(line),), line).rows(width)
    return [slice(row.start, row.start + len(line[row.start : row.end].rstrip())) for row in rows]


class DifferenceList(HeadedList):
    """The list in a pane, with the heading in row 0; ``pane`` is None until it is loaded."""

    ALLOW_SELECT = False

    def __init__(self, title: str, *, id: str) -> None:
        super().__init__(id=id)
        self.title = title
        self.pane: panes.Pane | None = None
        self.only_differences = False  # fold equal rows into one line that shows how many there are
        self._shown: TableRows | TextRows = TableRows(_NO_TABLE)
        self._rows: list[int] = []  # row indexes; a negative number stands for that many folded equal rows

    # -- content

    def put(self, pane: panes.Pane | None) -> None:
        place, self.pane = self._place(), pane
        self._shown = TextRows(pane, self.text_width) if isinstance(pane, Texts) else TableRows(pane or _NO_TABLE)
        self._arrange(place)

    def show_only_differences(self, only: bool) -> None:
        self.only_differences = only
        self._arrange(self._place())

    def _place(self, index: int | None = None) -> int:
        index = self.cursor if index is None else index
        return max(-1, self._rows[index - 1]) if 0 < index <= len(self._rows) else -1

    @property
    def selected(self) -> Any:
        place = self._place()
        return self._shown.rows[place] if isinstance(self._shown, TableRows) and place >= 0 else None

    @property
    def differing(self) -> Sequence[bool | None]:
        """For each row, whether it differs; None for a heading, which is always shown and cannot be selected."""
        return self._shown.differing

    def below(self, lines: int) -> str:
        """Return the explanations of both sides for the selected row, in up to ``lines`` lines each.

        The full name comes first if it is likely to be truncated in the row.
        """
        pane, row, width = self.pane, self.selected, max(10, self.text_width - 1)
        if not isinstance(pane, panes.PaneTable) or pane.says is None or row is None or row.heading:
            return ""
        a, b = pane.says(row.left), pane.says(row.right)
        named = [(row.name, 1)] if len(row.name) > width // 3 else []
        texts = [(f"A and B: {a}", 2 * lines)] if a == b else [(f"A: {a}", lines), (f"B: {b}", lines)]
        return "\n".join(_wrapped(prepared(text), width, most) for text, most in [*named, *texts])

    def on_resize(self) -> None:
        shown = self._shown
        if isinstance(shown, TextRows) and shown.width != self.text_width:
            line = shown.lines[self._place()] if self._place() >= 0 else 0
            self._shown = again = TextRows(shown.texts, self.text_width)
            self._arrange(bisect_left(again.lines, line))
        super().on_resize()
        if 0 <= self.cursor < self.page_height():
            self.scroll_to(y=0, animate=False, immediate=True)
        self.uncover_cursor()
        if isinstance(self.pane, panes.PaneTable) and self.pane.says is not None:
            self.post_message(self.RowHighlighted(self, self.cursor))  # rewrap the text below the list

    def _arrange(self, place: int) -> None:
        self._rows = []
        for at, differs in enumerate(self.differing):
            if differs is not False or not self.only_differences:
                self._rows.append(at)
            elif self._rows and self._rows[-1] < 0:
                self._rows[-1] -= 1
            else:
                self._rows.append(-1)
        row = next((index for index, at in enumerate(self._rows, 1) if at >= max(place, 0)), 1)
        self.rows_changed(cursor=row)

    def go_to_difference(self, step: int) -> bool:
        """Go to the next (1) or previous (-1) difference, wrapping around; returns False if there is none."""
        count, by_stretch = len(self._rows), self._shown.by_stretch
        for distance in range(1, count + 1):
            index = (self.cursor - 1 + step * distance) % count + 1
            if self._differs(index) and not (by_stretch and self._differs(index - 1)):
                self.set_cursor(index, step)
                if by_stretch and not 0 < index - self.scroll_offset.y <= self.page_height() // 2:
                    # Leave room to show the rest of the difference.
                    self.scroll_to(y=max(0, index - self.page_height() // 3), animate=False, immediate=True)
                return True
        return False

    def go_to_first_difference(self) -> None:
        self.set_cursor(next(filter(self._differs, range(self.row_count())), self.cursor))

    def _differs(self, index: int) -> bool:
        place = self._place(index)
        return place >= 0 and bool(self.differing[place])

    # -- painting

    def row_count(self) -> int:
        return 0 if self.pane is None else 1 + (len(self._rows) or self._shown.nothing.count("\n") + 1)

    def selectable(self, index: int) -> bool:
        place = self._place(index)
        return place >= 0 and self.differing[place] is not None

    def heading_parts(self, width: int) -> Sequence[Part]:
        return self._shown.heading(width)

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        if index == 0:
            return self.heading_parts(width)
        if not self._rows:
            return [(f"  {line}", "dim") for line in self._shown.nothing.split("\n")[index - 1 : index]]
        place = self._rows[index - 1]
        if place < 0:
            return [(f"  … {-place:,} the same", "dim")]
        cursor = "" if index != self.cursor else "cursor" if self.has_focus else "cursor-blurred"
        return self._shown.parts(place, width, cursor)

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        parts, fill = super().row_parts(y, width)
        return parts, "" if isinstance(self._shown, TextRows) else fill

    def render_line(self, y: int) -> Strip:
        if isinstance(self._shown, TextRows) and self._shown.width != self.text_width:
            self.call_next(self.on_resize)
        return super().render_line(y)


def _wrapped(text: str, width: int, lines: int) -> str:
    text = one_line(text, 2_000)
    rows = [text[at] for at in wrapped_at(text, width)]
    if len(rows) > lines:
        rows[lines - 1] = fit(rows[lines - 1] + " …", width)
    return "\n".join(rows[:lines])
