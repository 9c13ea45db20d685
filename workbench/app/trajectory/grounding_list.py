"""The items of a README, likely inventions first: what each is, where the README has it and where it comes from."""

from __future__ import annotations

from textual.message import Message

from workbench.app.toolkit.columns import Column
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.table import Table
from workbench.app.trajectory.why import SIGNS, STYLES
from workbench.grounding.items import KINDS, Grounding, Item
from workbench.text import one_line

COLUMNS: tuple[Column[Item], ...] = (
    Column(title="", cell=lambda item: (SIGNS[item.status], STYLES[item.status]), width=1, text=True),
    Column(title="item", cell=lambda item: one_line(item.text, 200), width=10, widest=44, text=True,
           sort=lambda item: item.text.casefold()),
    Column(title="kind", cell=lambda item: (item.kind, "dim"), width=max(map(len, KINDS)), text=True, priority=1,
           sort=lambda item: item.kind),
    Column(title="line", cell=lambda item: (f"{item.places[0].line:,}{'+' if len(item.places) > 1 else ''}", "dim"), width=6,
           sort=lambda item: item.places[0].line),
    Column(title="comes from", cell=lambda item: (one_line(item.origin, 300), STYLES[item.status]), width=8, widest=300,
           text=True),
)  # fmt: skip


class GroundingList(Table[Item]):
    """A row an item; what the selected step gave is marked with ``›``."""

    LEAD = 1

    class Followed(Message):
        """The cursor stands on an item, or (``chosen``) enter was pressed on it."""

        def __init__(self, item: Item, chosen: bool) -> None:
            super().__init__()
            self.item = item
            self.chosen = chosen

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(COLUMNS, key=lambda item: (item.kind, item.text), id=id)
        self.step = 0

    def show(self, grounding: Grounding | None, empty: str) -> None:
        """Show the items of a README; ``empty`` says why there are none."""
        self.empty = empty
        self.put(grounding.items if grounding is not None else ())

    def light(self, step: int) -> None:
        """Mark what a step gave."""
        if step != self.step:
            self.step = step
            self.refresh()

    def lead_of(self, row: Item) -> str:
        """Mark what the selected step gave."""
        return "›" if self.step in row.steps else ""

    def style_of(self, row: Item) -> str:
        """Let what the selected step gave stand out."""
        return "marked" if self.step in row.steps else ""

    def action_choose(self) -> None:
        """Go to where the item comes from."""
        if self.selected is not None:
            self.post_message(self.Followed(self.selected, True))

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        """Let the step follow the cursor."""
        message.stop()
        if self.selected is not None and self.has_focus:
            self.post_message(self.Followed(self.selected, False))
