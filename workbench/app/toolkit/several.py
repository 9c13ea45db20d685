"""A field of several things, chosen from a list: the line names them, enter opens the list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events, work
from textual.app import RenderResult
from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget

from workbench.app.key_table import key_of
from workbench.app.keys import bind
from workbench.app.toolkit.form_dialog import Filled
from workbench.text import one_line

_LONGEST = 40
"""Characters of one of them."""


@dataclass(frozen=True, slots=True)
class Option:
    """One of what is offered: its name, and what it is."""

    name: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class ListField:
    """A line of a form that holds several names.

    Attributes:
        name: What stands before it.
        chosen: What is chosen, in order.
        offered: What the list offers.
        others: What else may be typed in the list, as its placeholder says; "" for nothing.
    """

    name: str
    chosen: tuple[str, ...]
    offered: tuple[Option, ...]
    others: str = ""

    def widget(self) -> Widget:
        """Return the line."""
        return Several(self)


class Several(Widget, can_focus=True):
    """Shows ``white, planner-2 and 2 more``.

    Attributes:
        chosen: What is chosen, in order.
    """

    DEFAULT_CSS = """
    Several { height: 1; width: 1fr; background: $panel; }
    Several:focus { background: $primary-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [bind("several.pick", "pick", "choose", show=False)]

    def __init__(self, field: ListField) -> None:
        super().__init__(id=field.name)
        self._field = field
        self.chosen = field.chosen

    def put(self, chosen: Sequence[str]) -> None:
        """Choose these."""
        if tuple(chosen) != self.chosen:
            self.chosen = tuple(chosen)
            self.refresh()
            self.post_message(Filled())

    @work
    async def action_pick(self) -> None:
        """Open the list."""
        from workbench.app.toolkit.pick_list import PickList

        answer = await self.app.push_screen_wait(PickList(self._field, self.chosen))
        if answer is not None:
            self.put(answer)

    async def on_click(self, event: events.Click) -> None:
        """Open the list."""
        self.focus()
        self.action_pick()

    def render(self) -> RenderResult:
        """Return as many names as have room, and how many more there are."""
        if not self.chosen:
            return Content.styled(f"none chosen: {key_of('several.pick')} opens the list", "$text-muted")
        return Content(named(self.chosen, max(1, self.size.width)))


def named(names: Sequence[str], width: int) -> str:
    """Return as many of some names as have room in so many cells, with how many more there are: ``a, b and 3 more``."""
    from workbench.studies.declaration import row_titles

    titles = [one_line(title, _LONGEST) for title in row_titles(names)]
    best = ""
    for count in range(1, len(titles) + 1):
        listed, left = ", ".join(titles[:count]), len(titles) - count
        if count > 1 and len(listed) > width:
            break
        text = listed + (f" and {left:,} more" if left else "")
        if count == 1 or len(text) <= width:
            best = one_line(text, width)
    return best
