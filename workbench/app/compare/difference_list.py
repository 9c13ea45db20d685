"""A list whose rows are the same on both sides or differ: go from difference to difference, or see nothing else."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from textual.strip import Strip

from workbench.app.compare.text_rows import TextRows, wrapped_at
from workbench.app.toolkit.columns import Column, Columns, fit_end
from workbench.app.toolkit.document import prepared
from workbench.app.toolkit.row_list import HeadedList
from workbench.app.toolkit.virtual_view import Part, fit
from workbench.comparison import panes
from workbench.comparison.texts import Texts
from workbench.text import one_line, shortened

_CUTS = {"end": fit, "middle": shortened, "start": fit_end}


def laid_out(columns: Sequence[panes.Column[Any]], rows: Sequence[Any]) -> Columns[Any]:
    shown = [
        Column(title=one.title, cell=one.cell, width=one.width, widest=one.widest, text=one.text,
               priority=one.priority, shorten=_CUTS[one.cut])
        for one in columns
    ]  # fmt: skip
    return Columns(shown, rows)


class TableRows:
    """The rows of a table: a sign that says which side has it, then columns."""

    fills_row = True

    def __init__(self, table: panes.Table[Any]) -> None:
        self.rows, self.by_stretch, self.nothing = table.rows, table.by_stretch, table.nothing
        self.columns = laid_out(table.columns, table.rows)
        self.differing = [None if row.heading else row.sign != panes.SAME for row in table.rows]

    def heading(self, width: int) -> Sequence[Part]:
        return [("  ", ""), *self.columns.heading(width - 2)]

    def parts(self, place: int, width: int, cursor: str) -> Sequence[Part]:
        row = self.rows[place]
        sign, style = ("", "") if row.heading else row.sign
        row_style = style if (sign, style) in {panes.ONLY_A, panes.ONLY_B} else ""
        return [(f"{sign:2}", style), *self.columns.cells(row, width - 2, row_style)]


class DifferenceList(HeadedList):
    """The list of a pane; row 0 names the columns, or the texts, and stays at the top.

    Attributes:
        pane: What is shown, None before it was read.
        only_differences: Whether rows that are the same are folded into a line that counts them.
    """

    ALLOW_SELECT = False

    def __init__(self, title: str, *, id: str) -> None:
        super().__init__(id=id)
        self.title = title
        self.pane: panes.Pane | None = None
        self.only_differences = False
        self._shown: TableRows | TextRows | None = None
        self._rows: list[int] = []  # places of rows; negative: so many that are the same are left out

    # -- what is in it

    def put(self, pane: panes.Pane | None) -> None:
        place = self.place
        self.pane = pane
        self._lay_out()
        self._arrange(place)

    def _lay_out(self) -> None:
        pane = self.pane
        self._shown = TextRows(pane, self.text_width) if isinstance(pane, Texts) else TableRows(pane) if pane else None

    def show_only_differences(self, only: bool) -> None:
        self.only_differences = only
        self._arrange(self.place)

    @property
    def place(self) -> int:
        return self._rows[self.cursor - 1] if 0 < self.cursor <= len(self._rows) else -1

    @property
    def selected(self) -> Any:
        return self._shown.rows[self.place] if isinstance(self._shown, TableRows) and self.place >= 0 else None

    @property
    def differing(self) -> Sequence[bool | None]:
        """Whether each row differs, None of a heading, which stays in sight whatever is shown and takes no cursor."""
        return self._shown.differing if self._shown is not None else ()

    def below(self, lines: int) -> str:
        """Return what both sides say of the row under the cursor, each in so many lines, below a name that the list may cut."""
        pane, row, width = self.pane, self.selected, max(10, self.text_width - 1)
        if not isinstance(pane, panes.Table) or pane.says is None or row is None or row.heading:
            return ""
        a, b = pane.says(row.left), pane.says(row.right)
        named = [(row.name, 1)] if len(row.name) > width // 3 else []
        said = [(f"A and B: {a}", 2 * lines)] if a == b else [(f"A: {a}", lines), (f"B: {b}", lines)]
        return "\n".join(_wrapped(prepared(text), width, most) for text, most in [*named, *said])

    def on_resize(self) -> None:
        shown = self._shown
        if isinstance(shown, TextRows) and shown.width != self.text_width:
            line = shown.rows[self.place].number if self.place >= 0 else 0
            self._lay_out()
            assert isinstance(self._shown, TextRows)
            self._arrange(bisect_left(self._shown.rows, line, key=lambda row: row.number))
        super().on_resize()
        if 0 <= self.cursor < self.page_height():
            self.scroll_to(y=0, animate=False, immediate=True)
        self.uncover_cursor()
        if isinstance(self.pane, panes.Table) and self.pane.says is not None:
            self.post_message(self.Moved(self, self.cursor))  # what is said below is wrapped anew

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
        """Put the cursor on the next (1) or previous (-1) difference, round the ends; returns whether there is one."""
        count, by_stretch = len(self._rows), self._shown is not None and self._shown.by_stretch
        for distance in range(1, count + 1):
            index = (self.cursor - 1 + step * distance) % count
            if self._differs(index) and not (by_stretch and index > 0 and self._differs(index - 1)):
                self.set_cursor(index + 1, step)
                if by_stretch and not 0 < index + 1 - self.scroll_offset.y <= self.page_height() // 2:
                    # What follows is the rest of the difference.
                    self.scroll_to(y=max(0, index + 1 - self.page_height() // 3), animate=False, immediate=True)
                return True
        return False

    def go_to_first_difference(self) -> None:
        index = next((index for index in range(len(self._rows)) if self._differs(index)), None)
        if index is not None:
            self.set_cursor(index + 1)

    def _differs(self, index: int) -> bool:
        return self._rows[index] >= 0 and bool(self.differing[self._rows[index]])

    # -- painting

    def row_count(self) -> int:
        return 0 if self._shown is None else 1 + (len(self._rows) or self._shown.nothing.count("\n") + 1)

    def selectable(self, index: int) -> bool:
        place = self._rows[index - 1] if 0 < index <= len(self._rows) else -1
        return place >= 0 and self.differing[place] is not None

    def heading_parts(self, width: int) -> Sequence[Part]:
        return self._shown.heading(width) if self._shown is not None else ()

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        if index == 0 or self._shown is None:
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
        return parts, fill if self._shown is None or self._shown.fills_row else ""

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
