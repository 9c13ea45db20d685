"""The items of a README, likely inventions first: what each is, where the README has it and where it comes from."""

from __future__ import annotations

from collections.abc import Sequence

from textual.message import Message

from workbench.app.toolkit.headed_list import HeadedList
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.virtual_view import Part
from workbench.app.trajectory.why import SIGNS, STYLES
from workbench.grounding.items import KINDS, NOWHERE, Grounding, Item
from workbench.text import one_line

_KIND = max(map(len, KINDS))
_LINE = 6
_ROOM_FOR_KINDS = 60


class GroundingList(HeadedList):
    """A row per item; what the selected step gave is marked with ``›``."""

    class Followed(Message):
        """The cursor stands on an item, or (``chosen``) enter was pressed on it."""

        def __init__(self, item: Item, chosen: bool) -> None:
            super().__init__()
            self.item = item
            self.chosen = chosen

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.grounding: Grounding | None = None
        self.step = 0
        self._empty = ""

    def show(self, grounding: Grounding | None, empty: str) -> None:
        """Show the items of a README; ``empty`` says why there are none."""
        self.grounding, self._empty = grounding, empty
        self.rows_changed(cursor=1)

    def light(self, step: int) -> None:
        """Mark what a step gave."""
        if step != self.step:
            self.step = step
            self.refresh()

    @property
    def current(self) -> Item | None:
        """The item under the cursor."""
        items = self.grounding.items if self.grounding else ()
        return items[self.cursor - 1] if 0 < self.cursor <= len(items) else None

    def row_count(self) -> int:
        """Return the number of rows, the heading included."""
        return 1 + max(1, len(self.grounding.items) if self.grounding else 0)

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return the names of the columns."""
        name, kind, origin = self._widths(width)
        words = [fit("item", name), *([fit("kind", kind)] if kind else []), fit("line", _LINE, right=True)]
        cells = f"  {' '.join(words)}  {fit('comes from', origin)}"
        return [(cells, "dim")]

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        """Return an item."""
        items = self.grounding.items if self.grounding else ()
        if not items:
            return [(fit(f" {self._empty}", width), "dim")]
        item = items[index - 1]
        name, kind, origin = self._widths(width)
        mine = self.step in item.steps
        lines = f"{item.places[0].line:,}" + ("+" if len(item.places) > 1 else "")
        came = item.origin if item.status != NOWHERE or origin >= len(item.origin) else "nothing"
        return [
            ("›" if mine else " ", "marked"),
            (SIGNS[item.status], STYLES[item.status]),
            (fit(one_line(item.text, 200), name) + " ", "marked" if mine else ""),
            (fit(item.kind, kind) + " " if kind else "", "dim"),
            (fit(lines, _LINE, right=True) + "  ", "dim"),
            (fit(one_line(came, 300), origin), STYLES[item.status]),
        ]

    @staticmethod
    def _widths(width: int) -> tuple[int, int, int]:
        """Return the widths of name, kind (0 where it has no room) and origin."""
        kind = _KIND if width >= _ROOM_FOR_KINDS else 0
        rest = max(12, width - (kind + 1 if kind else 0) - _LINE - 5)
        name = max(10, min(44, rest * 3 // 5))
        return name, kind, max(1, rest - name)

    def action_choose(self) -> None:
        """Go to where the item comes from."""
        if self.current is not None:
            self.post_message(self.Followed(self.current, True))

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        """Let the step follow the cursor."""
        message.stop()
        if self.current is not None and self.has_focus:
            self.post_message(self.Followed(self.current, False))
