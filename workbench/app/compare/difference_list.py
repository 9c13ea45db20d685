"""A list whose rows are the same on both sides or differ: go from difference to difference, or see nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from workbench.app.compare.wording import ONLY_A, ONLY_B, SAME
from workbench.app.toolkit.columns import Column, Columns, Row
from workbench.app.toolkit.row_list import HeadedList
from workbench.app.toolkit.virtual_view import Part

Shown = TypeVar("Shown")
"""What is compared: see :mod:`workbench.comparison`."""


class Kind(Enum):
    """What a row is: a heading stays in sight whatever is shown and takes no cursor."""

    SAME = 0
    DIFFERENT = 1
    HEADING = 2


class DifferenceList(HeadedList, Generic[Shown]):
    """Row 0 names the columns and stays at the top; subclasses fill :meth:`kinds_of` and :meth:`entry_parts`.

    Attributes:
        comparison: What is shown, None before it was read.
        only_differences: Whether rows that are the same are folded into a line that counts them.
    """

    ALLOW_SELECT = False
    by_stretch: bool = False
    """Whether adjoining differences are one, which the keys for the next difference pass at once."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.comparison: Shown | None = None
        self.only_differences = False
        self._kinds: Sequence[Kind] = ()
        self._rows: list[int] = []  # places of entries; negative: so many that are the same are left out

    # -- what subclasses say

    def kinds_of(self, comparison: Shown) -> Sequence[Kind]:
        """Prepare the entries and return what each is."""
        raise NotImplementedError

    def entry_parts(self, place: int, width: int) -> Sequence[Part]:
        raise NotImplementedError

    def empty_text(self, comparison: Shown) -> str:
        """Return what to say where there is no entry."""
        raise NotImplementedError

    # -- what is in it

    def put(self, comparison: Shown | None) -> None:
        """Show a comparison; the cursor stays where it is."""
        self.comparison = comparison
        self._kinds = () if comparison is None else self.kinds_of(comparison)
        self._arrange(self.place)

    def show_only_differences(self, only: bool) -> None:
        """Fold what is the same, or unfold it; the cursor stays on its entry."""
        self.only_differences = only
        self._arrange(self.place)

    @property
    def place(self) -> int:
        return self._rows[self.cursor - 1] if 0 < self.cursor <= len(self._rows) else -1

    @property
    def differences(self) -> int:
        return sum(kind is Kind.DIFFERENT for kind in self._kinds)

    def on_resize(self) -> None:
        super().on_resize()
        if 0 <= self.cursor < self.page_height():
            self.scroll_to(y=0, animate=False, immediate=True)
        self.uncover_cursor()

    def _arrange(self, place: int) -> None:
        self._rows = []
        for at, kind in enumerate(self._kinds):
            if kind is not Kind.SAME or not self.only_differences:
                self._rows.append(at)
            elif self._rows and self._rows[-1] < 0:
                self._rows[-1] -= 1
            else:
                self._rows.append(-1)
        row = next((index for index, at in enumerate(self._rows, 1) if at >= max(place, 0)), 1)
        self.rows_changed(cursor=row)

    def go_to_difference(self, step: int) -> bool:
        """Put the cursor on the next (1) or previous (-1) difference, round the ends; returns whether there is one."""
        count = len(self._rows)
        for distance in range(1, count + 1):
            index = (self.cursor - 1 + step * distance) % count
            if self._starts_difference(index):
                self.set_cursor(index + 1, step)
                if self.by_stretch and not 0 < index + 1 - self.scroll_offset.y <= self.page_height() // 2:
                    # What follows is the rest of the difference.
                    self.scroll_to(y=max(0, index + 1 - self.page_height() // 3), animate=False, immediate=True)
                return True
        return False

    def go_to_first_difference(self) -> None:
        """Put the cursor on the first difference, where there is one."""
        index = next((index for index in range(len(self._rows)) if self._differs(index)), None)
        if index is not None:
            self.set_cursor(index + 1)

    def _starts_difference(self, index: int) -> bool:
        return self._differs(index) and not (self.by_stretch and index > 0 and self._differs(index - 1))

    def _differs(self, index: int) -> bool:
        return self._rows[index] >= 0 and self._kinds[self._rows[index]] is Kind.DIFFERENT

    # -- painting

    def row_count(self) -> int:
        return 0 if self.comparison is None else 1 + (len(self._rows) or len(self._why_empty()))

    def selectable(self, index: int) -> bool:
        place = self._rows[index - 1] if 0 < index <= len(self._rows) else -1
        return place >= 0 and self._kinds[place] is not Kind.HEADING

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        if index == 0:
            return self.heading_parts(width)
        if not self._rows:
            why = self._why_empty()
            return [(f"  {why[index - 1]}" if index <= len(why) else "", "dim")]
        place = self._rows[index - 1]
        return [(f"  … {-place:,} the same", "dim")] if place < 0 else self.entry_parts(place, width)

    def _why_empty(self) -> list[str]:
        return self.empty_text(self.comparison).split("\n") if self.comparison is not None else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences(Generic[Shown, Row]):
    """What a list of differences shows of a comparison.

    Attributes:
        rows: Its rows.
        columns: The columns of these.
        sign: Which side has a row, or that both differ in it.
        nothing: What to say where there is no row.
        heading: Whether a row is a heading.
        by_stretch: Whether adjoining differences are one.
        below: What is said below the list of the row under the cursor, in lines of at most so many cells, so many of each side.
    """

    rows: Callable[[Shown], Sequence[Row]]
    columns: Callable[[Shown], Sequence[Column[Row]]]
    sign: Callable[[Row], Part]
    nothing: str | Callable[[Shown], str]
    heading: Callable[[Row], bool] = lambda row: False
    by_stretch: bool = False
    below: Callable[[Row | None, int, int], str] | None = None


class DifferenceTable(DifferenceList[Shown], Generic[Shown, Row]):
    """A difference a row: a sign that says which side has it, then columns."""

    def __init__(self, shows: Differences[Shown, Row], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.shows = shows
        self.by_stretch = shows.by_stretch
        self.columns: Columns[Row] = Columns(())
        self.entries: Sequence[Row] = ()

    @property
    def selected(self) -> Row | None:
        return self.entries[self.place] if 0 <= self.place < len(self.entries) else None

    def below(self, lines: int) -> str:
        """Return what is said below the list."""
        return self.shows.below(self.selected, max(10, self.text_width - 1), lines) if self.shows.below else ""

    def kinds_of(self, comparison: Shown) -> Sequence[Kind]:
        self.entries = self.shows.rows(comparison)
        self.columns = Columns(self.shows.columns(comparison), self.entries)
        return [
            Kind.HEADING
            if self.shows.heading(row)
            else Kind.SAME
            if self.shows.sign(row)[0] == SAME
            else Kind.DIFFERENT
            for row in self.entries
        ]

    def empty_text(self, comparison: Shown) -> str:
        return self.shows.nothing if isinstance(self.shows.nothing, str) else self.shows.nothing(comparison)

    def on_resize(self) -> None:
        super().on_resize()
        if self.shows.below is not None:
            self.post_message(self.Moved(self, self.cursor))  # what is said below is wrapped anew

    def heading_parts(self, width: int) -> Sequence[Part]:
        return [("  ", ""), *self.columns.heading(width - 2)]

    def entry_parts(self, place: int, width: int) -> Sequence[Part]:
        row = self.entries[place]
        sign, style = self.shows.sign(row)
        row_style = style if sign in {ONLY_A, ONLY_B} else ""
        return [(f"{sign:2}", style), *self.columns.cells(row, width - 2, row_style)]
