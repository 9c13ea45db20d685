"""A list with a cursor. Rows are painted on demand, so the cost depends only on the number of visible rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textual import events
from textual.message import Message
from textual.strip import Strip

from workbench.app.keys import bindings, with_keys
from workbench.app.toolkit.virtual_view import Part, VirtualView, fit

__all__ = ["HeadedList", "Part", "RowList", "fit"]


class RowList(VirtualView):
    """The base class of lists; a subclass returns the cells of a row from :meth:`parts_of`.

    The cursor skips rows that are not :meth:`selectable`.
    """

    DEFAULT_CSS = """
    RowList {
        background: $background; height: 1fr;
        & > .row--running { color: $verdict-running; text-style: bold; }
    }
    """
    BINDINGS = bindings("list/rows")
    narrows: ClassVar[bool] = True  # whether `/` narrows the list to matching rows
    headings: ClassVar[int] = 0  # number of heading rows, which stay visible when the list is narrowed

    @dataclass
    class RowHighlighted(Message):
        """The cursor moved to another row."""

        row_list: RowList
        index: int

    class RowSelected(RowHighlighted):
        """The user pressed enter on a row, or clicked the highlighted row."""

    @dataclass
    class Narrowed(Message):
        """The text that narrows the list was changed or removed."""

        row_list: RowList

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.cursor, self.narrowed = -1, ""
        self._visible: list[int] | None = None  # indexes of visible rows, None for all
        self._words: list[str] | None = None  # searchable text by row, while narrowed
        self._before = -1  # position of the cursor before narrowing

    # -- hooks for subclasses

    def row_count(self) -> int:
        raise NotImplementedError

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        raise NotImplementedError

    def selectable(self, index: int) -> bool:
        return True

    # -- narrowing

    def words_of(self, index: int) -> str:
        """Return the searchable text of a row, by default that of its cells."""
        return "".join(text for text, _ in self.parts_of(index, 240))

    def narrow(self, text: str) -> None:
        text = text.strip()
        if text != self.narrowed:
            if not self.narrowed:
                self._before = self.cursor
            self.narrowed = text
            self.rearranged(cursor=self.cursor if text or self.cursor >= 0 else self._before)
            self.post_message(self.RowHighlighted(self, self.cursor))
            self.post_message(self.Narrowed(self))

    def narrow_counts(self) -> tuple[int, int]:
        total = sum(map(self.selectable, range(self.row_count())))
        return (sum(map(self.selectable, self._visible or ())) if self.narrowed else total), total

    def _find_visible(self) -> None:
        words, count = self.narrowed.casefold().split(), self.row_count()
        if not words:
            self._visible = self._words = None
            return
        if self._words is None or len(self._words) != count:
            self._words = [self.words_of(index).casefold() if self.selectable(index) else "" for index in range(count)]
        kept = [index for index, text in enumerate(self._words) if text and all(word in text for word in words)]
        self._visible = [*range(self.headings), *kept] if count else []

    def shown_row(self, y: int) -> int:
        return y if self._visible is None else self._visible[y] if 0 <= y < len(self._visible) else -1

    def line_of(self, index: int) -> int:
        """Return the line of the view that shows a row, or -1 if the row is hidden."""
        if self._visible is None:
            return index
        return self._visible.index(index) if index in self._visible else -1

    def lines_shown(self) -> int:
        return self.row_count() if self._visible is None else len(self._visible)

    @property
    def followed(self) -> str:
        return self.narrowed

    def follow(self, text: str) -> None:
        self.narrow(text)

    def found_words(self, *, typing: bool) -> str:
        shown, total = self.narrow_counts()
        keys = "" if typing else with_keys("   {list.narrow} changes it, {list.all} shows all")
        return f"{shown:,} of {total:,}{keys}"

    async def action_narrow(self) -> None:
        from workbench.app.toolkit.typed_line import NarrowLine, ask_line

        await ask_line(NarrowLine, self)

    def action_widen(self) -> None:
        self.narrow("")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "narrow":
            searched = getattr(self.screen, "searches", False)
            return self.narrows and not searched and bool(self.narrowed or self.row_count())
        if action == "widen":
            return bool(self.narrowed)
        return super().check_action(action, parameters)

    def _show_narrowing(self) -> None:
        from workbench.app.toolkit.typed_line import NarrowLine

        for line in self.screen.query(NarrowLine):
            (line.serve if self.has_focus else line.show_count)(self)

    # -- painting

    def render_line(self, y: int) -> Strip:
        if self._visible is not None and y + self.scroll_offset.y >= len(self._visible):
            return Strip.blank(self.text_width + 1, self.style(""))
        return super().render_line(y)

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        row = self.shown_row(y)
        fill = "" if row != self.cursor else "cursor" if self.has_focus else "cursor-blurred"
        return list(self.parts_of(row, width)), fill

    def rows_changed(self, *, cursor: int | None = None) -> None:
        self._words = None
        self.rearranged(cursor=cursor)

    def rearranged(self, *, cursor: int | None = None) -> None:
        self._find_visible()
        count = self.row_count()
        wanted = self.cursor if cursor is None else cursor
        self.cursor = self._near(min(max(wanted, 0), count - 1), 1) if count else -1
        RowList.on_resize(self)
        if self.is_mounted and self.narrows:
            self._show_narrowing()
        self.refresh()

    def on_resize(self) -> None:
        self.set_size(self.lines_shown())
        if self.cursor >= 0:
            self.keep_in_sight(self.line_of(self.cursor))

    def on_focus(self) -> None:
        if self.narrows:
            self._show_narrowing()
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    # -- moving the cursor

    def _near(self, index: int, step: int) -> int:
        count = self.row_count()
        shown = None if self._visible is None else set(self._visible)
        for way in (step, -step):
            at = index
            while 0 <= at < count:
                if self.selectable(at) and (shown is None or at in shown):
                    return at
                at += way
        return -1

    def set_cursor(self, index: int, step: int = 1) -> None:
        """Move the cursor to a row or, if it is not selectable, to the next selectable one in direction ``step``."""
        count = self.row_count()
        if not count:
            return
        at = self._near(min(max(index, 0), count - 1), step)
        if at >= 0 and at != self.cursor:
            before, top = self.cursor, self.scroll_offset.y
            self.cursor = at
            self.keep_in_sight(self.line_of(at), margin=1)
            if before < 0 or self.scroll_offset.y != top:
                self.refresh()
            else:  # repaint only two lines instead of all visible ones
                self.refresh_line(self.line_of(before))
                self.refresh_line(self.line_of(at))
            self.post_message(self.RowHighlighted(self, at))

    def action_move(self, rows: int) -> None:
        self.set_cursor(self.cursor + rows, 1 if rows > 0 else -1)

    def action_page(self, step: int) -> None:
        line = min(max(self.line_of(self.cursor) + step * self.page_height(), 0), max(0, self.lines_shown() - 1))
        self.set_cursor(self.shown_row(line), step)

    def action_edge(self, last: bool) -> None:
        self.set_cursor(self.row_count() - 1 if last else 0, -1 if last else 1)

    def toggle_marked(self, marked: list[Any], key: object) -> None:
        """Toggle a key in a list of marked keys, and move the cursor to the next row."""
        if key in marked:
            marked.remove(key)
        else:
            marked.append(key)
        self.action_move(1)
        self.refresh()
        self.post_message(self.RowHighlighted(self, self.cursor))

    def action_choose(self) -> None:
        if self.cursor >= 0:
            self.post_message(self.RowSelected(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        line = event.y + self.scroll_offset.y
        row = self.shown_row(line)
        if 0 <= line < self.lines_shown() and self.selectable(row):
            if row == self.cursor and event.chain >= 2:
                self.action_choose()
            else:
                self.set_cursor(row)


class HeadedList(RowList):
    """A list with a heading in row 0 that stays visible."""

    headings = 1

    def heading_parts(self, width: int) -> Sequence[Part]:
        raise NotImplementedError

    def selectable(self, index: int) -> bool:
        return index > 0

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        if y == self.scroll_offset.y:
            return list(self.heading_parts(width)), ""
        return super().row_parts(y, width)

    def rearranged(self, *, cursor: int | None = None) -> None:
        super().rearranged(cursor=cursor)
        self.uncover_cursor()

    def set_cursor(self, index: int, step: int = 1) -> None:
        super().set_cursor(index, step)
        self.uncover_cursor()

    def uncover_cursor(self) -> None:
        if 0 < self.line_of(self.cursor) <= self.scroll_offset.y:
            self.scroll_to(y=self.line_of(self.cursor) - 1, animate=False, immediate=True)
