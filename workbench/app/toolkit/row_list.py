"""A list with a cursor, painted row by row: ten thousand rows cost what the visible ones do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from workbench.app.toolkit.virtual_view import Part, VirtualView
from workbench.app.toolkit.virtual_view import fit as _fit

_OWN_STYLES = ("passed", "failed", "waiting", "paused", "hidden", "marked", "group", "score", "good", "poor",
               "only-a", "only-b")  # fmt: skip


class RowList(VirtualView):
    """Subclasses fill :meth:`parts_of`; rows for which :meth:`selectable` is False are passed over by the cursor."""

    COMPONENT_CLASSES: ClassVar[set[str]] = VirtualView.COMPONENT_CLASSES | {f"row--{name}" for name in _OWN_STYLES}
    DEFAULT_CSS = """
    RowList {
        background: $background; height: 1fr;
        & > .row--passed { color: $verdict-passed; }
        & > .row--failed { color: $verdict-failed; }
        & > .row--waiting { color: $verdict-waiting; }
        & > .row--paused { color: $verdict-unscored; }
        & > .row--running { color: $verdict-running; text-style: bold; }
        & > .row--unscored { color: $verdict-unscored; }
        & > .row--hidden { color: $text-dim; text-style: italic; }
        & > .row--marked { color: $accent; text-style: bold; }
        & > .row--group { color: $primary; text-style: bold; }
        & > .row--score { color: $foreground; text-style: bold; }
        & > .row--good { color: $verdict-passed; }
        & > .row--poor { color: $verdict-failed; }
        & > .row--only-a { color: $text-primary; text-style: bold; }
        & > .row--only-b { color: $text-warning; text-style: bold; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move_cursor(1)", "Down", id="list.down", show=False),
        Binding("up,k", "move_cursor(-1)", "Up", id="list.up", show=False),
        Binding("pagedown,ctrl+d", "page(1)", "Page down", id="list.page-down", show=False),
        Binding("pageup,ctrl+u", "page(-1)", "Page up", id="list.page-up", show=False),
        Binding("g,home", "edge(False)", "First", id="list.first", show=False),
        Binding("G,end", "edge(True)", "Last", id="list.last", show=False),
    ]

    class Moved(Message):
        """The cursor stands on another row."""

        def __init__(self, row_list: RowList, index: int) -> None:
            super().__init__()
            self.row_list = row_list
            self.index = index

        @property
        def control(self) -> RowList:
            """The list."""
            return self.row_list

    class Chosen(Moved):
        """Enter was pressed on a row, or it was clicked while the cursor stood on it."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.cursor = -1

    # -- what subclasses say

    def row_count(self) -> int:
        """Return how many rows there are."""
        raise NotImplementedError

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return the pieces of a row."""
        raise NotImplementedError

    def selectable(self, index: int) -> bool:
        """Return whether the cursor may stand on a row."""
        return True

    # -- painting

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        """Return a row, with the cursor's style where it stands."""
        fill = ""
        if y == self.cursor:
            fill = "cursor" if self.has_focus else "cursor-blurred"
        return list(self.parts_of(y, width)), fill

    def rows_changed(self, *, cursor: int | None = None) -> None:
        """Rows came or went: paint again, keep the cursor on a row that exists."""
        count = self.row_count()
        wanted = self.cursor if cursor is None else cursor
        self.cursor = self._near(min(max(wanted, 0), count - 1), 1) if count else -1
        self.set_size(count)
        if self.cursor >= 0:
            self.keep_in_sight(self.cursor)
        self.refresh()

    def on_resize(self) -> None:
        """Keep the size in step."""
        self.set_size(self.row_count())
        if self.cursor >= 0:
            self.keep_in_sight(self.cursor)

    def on_focus(self) -> None:
        """Paint the cursor bright."""
        self.refresh()

    def on_blur(self) -> None:
        """Paint the cursor quiet."""
        self.refresh()

    # -- moving

    def _near(self, index: int, step: int) -> int:
        """Return the nearest row at or after ``index`` in the direction of ``step``, or behind it, -1 if none."""
        count = self.row_count()
        for way in (step, -step):
            at = index
            while 0 <= at < count:
                if self.selectable(at):
                    return at
                at += way
        return -1

    def set_cursor(self, index: int, step: int = 1) -> None:
        """Put the cursor on a row (or the next one that takes it) and tell who listens."""
        count = self.row_count()
        if not count:
            return
        at = self._near(min(max(index, 0), count - 1), step)
        if at >= 0 and at != self.cursor:
            self.cursor = at
            self.keep_in_sight(at, margin=1)
            self.refresh()
            self.post_message(self.Moved(self, at))

    def action_move_cursor(self, step: int) -> None:
        """Go up or down by a row."""
        self.set_cursor(self.cursor + step, step)

    def action_page(self, step: int) -> None:
        """Go up or down by a page."""
        self.set_cursor(self.cursor + step * self.page_height(), step)

    def action_edge(self, last: bool) -> None:
        """Go to the first or last row."""
        self.set_cursor(self.row_count() - 1 if last else 0, -1 if last else 1)

    def action_choose(self) -> None:
        """Choose the row under the cursor."""
        if self.cursor >= 0:
            self.post_message(self.Chosen(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        """Put the cursor under the mouse; a click on the cursor chooses."""
        row = event.y + self.scroll_offset.y
        if 0 <= row < self.row_count() and self.selectable(row):
            if row == self.cursor and event.chain >= 2:
                self.action_choose()
            else:
                self.set_cursor(row)


def fit(text: str, width: int, *, right: bool = False) -> str:
    """Return ``text`` at exactly ``width`` cells, also where the cut fell on a space."""
    return _fit(_fit(text, width, right=right), width, right=right)
