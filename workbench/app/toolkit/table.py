"""The table for all lists, which sorts, groups, filters and lays out declared columns.

Rows are painted on demand. Textual's ``DataTable`` was too slow with 5,000 rows of 12 columns at 120 × 40: filling it
blocks the event loop for 264 ms, and with 200 cell updates per second the response to a key takes 76 ms to appear (p95
202 ms; the limit is 33 ms).

Example: ``VirtualTable(COLUMNS, key=lambda run: run.id, order="age")``, then ``table.put(rows)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic

from textual import events
from textual.message import Message

from workbench.app.keys import bindings
from workbench.app.toolkit.columns import ColumnLayout, Row, TableColumn, cell_text
from workbench.app.toolkit.literal import title_of
from workbench.app.toolkit.row_list import HeadedList, fit
from workbench.app.toolkit.virtual_view import Part
from workbench.pages import page


@dataclass(frozen=True, slots=True)
class Grouping(Generic[Row]):
    """A way to group rows."""

    title: str
    group_of: Callable[[Row], str]


@dataclass(frozen=True, slots=True)
class TableGroup(Generic[Row]):
    """A group of rows, in display order."""

    name: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The user's arrangement of a table: sort order, grouping and folded groups."""

    order: str = ""
    reverse: bool = False
    grouping: str = ""
    folded: frozenset[str] = frozenset()


_FEW = 8  # maximum number of changed rows that are repainted individually


class VirtualTable(HeadedList, Generic[Row]):
    """A heading, then rows of one type. ``key`` identifies a row, so that the cursor stays on it when rows change.

    ``order`` is the title of the column to sort by initially, "" for the order in which rows are passed;
    ``next_order`` is the first column that the sort key chooses. ``empty`` is shown if there are no rows; ``notes``
    are lines (text, style) below the rows.
    """

    ALLOW_SELECT = False
    RESTORED: ClassVar[tuple[str, ...]] = ("rows", "arrangement")
    """Attributes that :meth:`restore` restores when the list is opened again."""
    LEAD = 2  # number of cells before the first column, for a mark or a fold arrow
    BINDINGS = bindings("table")

    @dataclass
    class Arranged(Message):
        """The rows were sorted, grouped or folded."""

        table: VirtualTable[Any]

    def __init__(
        self,
        columns: Sequence[TableColumn[Row]],
        *,
        key: Callable[[Row], object],
        groupings: Sequence[Grouping[Row]] = (),
        order: str = "",
        next_order: str = "",
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.columns: ColumnLayout[Row] = ColumnLayout(columns)
        self.groupings = tuple(groupings)
        self.rows: tuple[Row, ...] = ()
        self.empty = ""
        self.notes: tuple[Part, ...] = ()
        self.shown: list[Row] = []
        self.arrangement = Arrangement(order)
        self._key, self._first_order, self._next_order = key, order, next_order
        self._leads: Mapping[object, str] = {}
        self._to: object = None  # key of the row to go to once there are rows
        self._is_restored = False
        self._lines: list[Row | TableGroup[Row]] = []
        self._places: dict[object, int] = {}  # index by row key
        self._figures: dict[tuple[str, int], list[Part]] = {}  # group figures by name and width

    # -- hooks for subclasses

    def lead_of_group(self, group: TableGroup[Row]) -> str:
        return "▸" if group.name in self.arrangement.folded else "▾"

    def lead_of(self, row: Row) -> str:
        return self._leads.get(self._key(row), "")

    def show_leads(self, leads: Mapping[object, str]) -> None:
        if leads != self._leads:
            self._leads = leads
            self.refresh()

    def style_of(self, row: Row) -> str:
        return ""

    def span_of(self, row: Row) -> tuple[str, Part] | None:
        """Return the title of a column and a text that replaces all cells from that column on, or None."""
        return None

    def filtered(self, rows: Sequence[Row]) -> list[Row]:
        return list(rows)

    def section_of(self, row: Row) -> Any:
        """Return the primary sort key of a row, which applies before the user's sort order."""
        return 0

    def sort_key(self, column: TableColumn[Row], rows: Sequence[Row]) -> Callable[[Row], Any] | None:
        """Return the sort key function of a column; tables override this if only some of their rows are comparable."""
        return column.sort

    def rank_of_group(self, group: TableGroup[Row]) -> Any:
        return group.name.casefold()

    def title_of_group(self, group: TableGroup[Row]) -> str:
        return f"{group.name}  {len(group.rows):,}"

    def words_of_row(self, row: Row) -> str:
        return " ".join(cell_text(column.cell(row)) for column in self.columns.all)

    # -- content

    @property
    def selected(self) -> Row | None:
        line = self._line(self.cursor)
        return None if isinstance(line, TableGroup) else line

    @property
    def selected_group(self) -> TableGroup[Row] | None:
        line = self._line(self.cursor)
        return line if isinstance(line, TableGroup) else None

    def _line(self, index: int) -> Row | TableGroup[Row] | None:
        return self._lines[index - 1] if 0 < index <= len(self._lines) else None

    def put(self, rows: Sequence[Row]) -> None:
        were_some, self.rows = bool(self.rows), tuple(rows)
        if self.is_attached and were_some is not bool(rows):
            self.refresh_bindings()  # the sort keys depend on whether there are rows
        self._places = {self._key(row): place for place, row in enumerate(self.rows)}
        to, self._to = self._to, None if rows else self._to
        self.rearrange(to=to)

    def restore(self, to: object = None) -> None:
        """Restore the arrangement that the table had when it was last shown in this session.

        The cursor goes to the row with the key ``to``, or to its last position.
        """
        session, key, left = self._left.get(type(self).__name__, (None, None, {}))
        if session is not None and session == getattr(self.app, "session_path", None):
            for name, value in left.items():
                setattr(self, name, value)
            self.rearrange(to=to or key)
        self._to, self._is_restored = to or key, True

    def on_unmount(self) -> None:
        if self._is_restored and self.rows:
            line = self._line(self.cursor)
            key = self._key(line) if line is not None and not isinstance(line, TableGroup) else None
            left = {name: getattr(self, name) for name in self.RESTORED}
            if getattr(self.app, "is_following", False):
                left["narrowed"] = self.narrowed  # keep the narrowing only if the user left to follow a row
            self._left[type(self).__name__] = getattr(self.app, "session_path", None), key, left

    @property
    def _left(self) -> dict[str, Any]:
        left: dict[str, Any] = getattr(self.app, "lists_left", {})
        return left

    def in_order(self) -> list[Row]:
        """Return the rows in display order, including those of folded groups but not those hidden by narrowing."""
        groups = self.groups()
        rows = [row for group in groups for row in group.rows] if groups else self.shown
        words = self.narrowed.casefold().split()
        return [row for row in rows if all(word in self.words_of_row(row).casefold() for word in words)]

    def update_rows(self, fresh: Sequence[Row]) -> bool:
        """Replace changed rows; returns False if some are not in the table."""
        rows, before = list(self.rows), list(map(self._key_of, self._lines))
        known = [row for row in fresh if self._key(row) in self._places]
        for row in known:
            rows[self._places[self._key(row)]] = row
        self.rows = tuple(rows)
        here = self._key_of(self._line(self.cursor))
        self.arrange_rows(measure=False)
        wider = self.columns.widen(known)
        if (now := list(map(self._key_of, self._lines))) != before:
            self.rows_changed(cursor=now.index(here) + 1 if here in now else max(1, min(self.cursor, len(now))))
        self._words = None
        if wider or now != before or self.narrowed or self.arrangement.grouping or len(known) > _FEW:
            self.refresh()
        else:
            for row in known:
                self.refresh_line(now.index(self._key(row)) + 1 if self._key(row) in now else 0)
        return len(known) == len(fresh)

    def knows(self, key: object) -> bool:
        return key in self._places

    def rearrange(self, *, to: object = None) -> None:
        """Filter, sort and group again.

        The cursor goes to the row with the key ``to``, or else stays on its row or goes to the next visible one.
        """
        after = list(map(self._key_of, self._lines[max(0, self.cursor - 1) :])) if self.cursor > 0 else []
        self.arrange_rows()
        now = {self._key_of(line): index for index, line in reversed(list(enumerate(self._lines, 1)))}
        at = next((now[key] for key in ([to] if to is not None else []) + after if key in now), 0)
        if self.cursor < 0 and len(self._lines) > 1 and isinstance(self._lines[0], TableGroup):
            at = at or 1 + (not isinstance(self._lines[1], TableGroup))  # the first row, not the heading of its group
        self.rows_changed(cursor=at or max(1, min(self.cursor, len(self._lines))))

    def _key_of(self, line: Row | TableGroup[Row] | None) -> object:
        return (TableGroup, line.name) if isinstance(line, TableGroup) else None if line is None else self._key(line)

    def as_page(self) -> page.ReportPage:
        """Return the visible rows as a page with all columns."""
        columns = self.columns.all
        rows = tuple(tuple(cell_text(one.cell(row)).strip() for one in columns) for row in self.shown)
        right = frozenset(place for place, one in enumerate(columns) if not one.text)
        table = page.PageTable(tuple(one.title for one in columns), rows, right)
        return page.ReportPage(title_of(self) or "Rows", (table,), over="Workbench list")

    def arrange_rows(self, *, measure: bool = True) -> None:
        """Filter, sort and group the rows and fit the columns, without painting."""
        self.shown = self._sorted(self.filtered(self.rows))
        self._lines = [] if self.arrangement.grouping else [*self.shown]
        for one in self.groups():
            self._lines += (one, *(one.rows if one.name not in self.arrangement.folded else ()))
        if measure:
            self.columns.measure(self.shown)
        self._figures = {}

    def go_to(self, key: object) -> None:
        """Unfold the group of the row with a key, and move the cursor to the row if it is visible."""
        folded = next((one for one in self.groups() if any(self._key(row) == key for row in one.rows)), None)
        if folded is not None and folded.name in self.arrangement.folded:
            self.arrangement = replace(self.arrangement, folded=self.arrangement.folded - {folded.name})
            self.rearrange()
        at = next((index for index, line in enumerate(self._lines, 1) if self._key_of(line) == key), 0)
        if at:
            self.set_cursor(at)

    def _sorted(self, rows: list[Row]) -> list[Row]:
        column = next((one for one in self.columns.all if one.title == self.arrangement.order), None)
        key = self.sort_key(column, rows) if column is not None else None
        if column is not None and key is not None:
            values = [(key(row), row) for row in rows]
            known = [pair for pair in values if pair[0] is not None]
            known.sort(key=lambda pair: pair[0], reverse=column.descending is not self.arrangement.reverse)
            rows = [row for _, row in known] + [row for value, row in values if value is None]
        elif self.arrangement.reverse:
            rows = rows[::-1]
        return sorted(rows, key=self.section_of)

    def groups(self) -> list[TableGroup[Row]]:
        grouping = next((one for one in self.groupings if one.title == self.arrangement.grouping), None)
        if grouping is None:
            return []
        found: dict[str, list[Row]] = {}
        for row in self.shown:
            found.setdefault(grouping.group_of(row), []).append(row)
        return sorted((TableGroup(name, tuple(rows)) for name, rows in found.items()), key=self.rank_of_group)

    # -- arranging

    def change_arrangement(self, **changes: Any) -> None:
        """Change the arrangement and go to the first row, which users want to see after sorting."""
        self.arrangement = replace(self.arrangement, **changes)
        self.cursor = -1
        self.rearrange()
        self.post_message(self.Arranged(self))

    def arranged_by(self) -> list[str]:
        order, reverse, grouping = self.arrangement.order, self.arrangement.reverse, self.arrangement.grouping
        parts = [f"by {grouping}"] if grouping else []
        if order != self._first_order or reverse:
            descending = any(column.descending for column in self.columns.all if column.title == order)
            way = "descending" if descending is not reverse else "ascending"
            parts.append(f"sorted by {order}, {way}" if order else "reversed")
        return parts

    def _orders(self) -> list[str]:
        titles = [column.title for column in self.columns.all if column.sort is not None]
        first = [self._first_order, *filter(None, (self._next_order,))]
        return list(dict.fromkeys([*first, *titles]))

    def action_sort_next(self) -> None:
        orders = self._orders()
        at = orders.index(self.arrangement.order) if self.arrangement.order in orders else -1
        self.change_arrangement(order=orders[(at + 1) % len(orders)], reverse=False)

    def action_reverse(self) -> None:
        self.change_arrangement(reverse=not self.arrangement.reverse)

    def action_group_next(self) -> None:
        titles = ["", *(one.title for one in self.groupings)]
        grouping = titles[(titles.index(self.arrangement.grouping) + 1) % len(titles)]
        self.arrangement = replace(self.arrangement, grouping=grouping)
        names = frozenset(one.name for one in self.groups())
        fits = len(names) < 2 or len(self.shown) + len(names) < self.page_height()
        self.change_arrangement(folded=frozenset() if fits else names)

    def action_fold(self) -> None:
        line = self._line(self.cursor)
        if line is None or not self.arrangement.grouping:
            return
        if not isinstance(line, TableGroup):
            line = next(one for one in reversed(self._lines[: self.cursor]) if isinstance(one, TableGroup))
        self.cursor = self._lines.index(line) + 1
        self.arrangement = replace(self.arrangement, folded=self.arrangement.folded ^ {line.name})
        self.rearrange()
        self.post_message(self.Arranged(self))

    def action_choose(self) -> None:
        if self.selected_group is not None:
            self.action_fold()
        else:
            super().action_choose()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in {"sort_next", "reverse"}:
            return bool(self.rows) and len(self._orders()) > 1
        if action in {"group_next", "fold"}:
            return bool(self.rows and self.groupings)
        return super().check_action(action, parameters)

    # -- painting

    def row_count(self) -> int:
        return len(self._lines) + 1 + len(self.notes) if self._lines else 2 if self.empty else 0

    def selectable(self, index: int) -> bool:
        noted = index > len(self._lines)
        return index > 0 and bool(self._lines) and (not noted or bool(self.notes[index - len(self._lines) - 1][0]))

    def words_of(self, index: int) -> str:
        line = self._line(index)
        if line is None:
            return self.notes[index - len(self._lines) - 1][0] if self._lines and index > len(self._lines) else ""
        return line.name if isinstance(line, TableGroup) else self.words_of_row(line)

    def heading_parts(self, width: int) -> Sequence[Part]:
        return [(" " * self.LEAD, ""), *self.columns.heading(width - self.LEAD, self.arrangement.order)]

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        if index == 0:
            return self.heading_parts(width)
        if not self._lines:
            return [(f" {self.empty}", "dim")]
        if index > len(self._lines):
            text, style = self.notes[index - len(self._lines) - 1]
            return [(fit(f" {text}", width), style)]
        line, width = self._lines[index - 1], width - self.LEAD
        if isinstance(line, TableGroup):
            if (line.name, width) not in self._figures:
                self._figures[line.name, width] = self.columns.figures(line.rows, self.title_of_group(line), width)
            return [(fit(self.lead_of_group(line), self.LEAD), "group"), *self._figures[line.name, width]]
        cells = self.columns.cells(line, width, self.style_of(line), self.span_of(line))
        return [(fit(self.lead_of(line), self.LEAD), "marked"), *cells]

    def on_click(self, event: events.Click) -> None:
        if event.y != 0 or not self._lines:
            return
        event.prevent_default()  # otherwise Textual also calls the base handler, which moves the cursor
        column = self.columns.at(event.x - self.LEAD, self.text_width - self.LEAD)
        if column is not None and column.sort is not None:
            again = self.arrangement.order == column.title
            self.change_arrangement(order=column.title, reverse=again and not self.arrangement.reverse)
