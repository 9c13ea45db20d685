"""One line of tabs inside a pane: the current one is underlined and bold, the empty ones are dim."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.cells import cell_len
from textual import events, getters
from textual.app import RenderResult
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from workbench.app.toolkit.document import Document
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.text_pane import GROWTH, TextPane


class TabLine(Widget):
    """Names of tabs; a click chooses one. A remark at the right begins with a key, which a click on it presses."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    TabLine { height: 1; width: 1fr; background: $background; color: $text-muted; }
    """

    class Chosen(Message):
        """A tab was chosen with the mouse."""

        def __init__(self, line: TabLine, name: str) -> None:
            super().__init__()
            self.line = line
            self.name = name

        @property
        def control(self) -> TabLine:
            return self.line

    current: reactive[str] = reactive("")
    empty: reactive[frozenset[str]] = reactive(frozenset())
    remark: reactive[str] = reactive("")

    def __init__(self, names: tuple[str, ...], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.names = names
        self.set_reactive(TabLine.current, names[0])

    def beside(self, step: int) -> str:
        """Return the name of the tab ``step`` places on, around the ends."""
        at = self.names.index(self.current) if self.current in self.names else 0
        return self.names[(at + step) % len(self.names)]

    @property
    def _shown(self) -> list[tuple[str, str]]:
        """The tabs as (name, what is written), as many as fit around the chosen one; "" is an ellipsis for those left out.

        Where they do not fit, the first word of each that is not chosen is written, then of all.
        """
        short = [name.split()[0] for name in self.names]
        mixed = [name if name == self.current else first for name, first in zip(self.names, short, strict=True)]
        width = self.size.width
        for written in (list(self.names), mixed, short):
            if sum(map(cell_len, written)) + 2 * len(written) <= width:
                return list(zip(self.names, written, strict=True))
        tabs = list(zip(self.names, short, strict=True))
        at = self.names.index(self.current) if self.current in self.names else 0
        first, last = 0, len(tabs)
        while last - first > 1 and _width(tabs, first, last) > width:
            if last - 1 > at:
                last -= 1
            else:
                first += 1
        return [*([("", "…")] if first else []), *tabs[first:last], *([("", "…")] if last < len(tabs) else [])]

    def render(self) -> RenderResult:
        parts: list[tuple[str, str]] = []
        used = 0
        for name, shown in self._shown:
            style = "$text-faint" if name in self.empty else "$text-muted"
            space = " " if name else ""
            parts += [
                (space, ""),
                (shown, "bold underline $primary" if name == self.current else style),
                (space, ""),
            ]
            used += cell_len(shown) + 2 * len(space)
        room = self.size.width - used - 1
        if self.remark and room >= len(self.remark):
            parts.append((self.remark.rjust(room), "$text-dim"))
        return Content.assemble(*parts)

    def on_click(self, event: events.Click) -> None:
        x = 0
        tabs = self._shown
        for place, (name, shown) in enumerate(tabs):
            x += cell_len(shown) + (2 if name else 0)
            if event.x < x:
                # An ellipsis leads to the nearest of those that it stands for.
                self.post_message(self.Chosen(self, name or self._left_out(tabs, place)))
                return
        if self.remark and event.x >= max(x, self.size.width - len(self.remark) - 1):
            self.app.simulate_key(self.remark.split()[0])

    def _left_out(self, tabs: list[tuple[str, str]], place: int) -> str:
        if place:
            return self.names[self.names.index(tabs[place - 1][0]) + 1]
        return self.names[self.names.index(tabs[1][0]) - 1]


def _width(tabs: list[tuple[str, str]], first: int, last: int) -> int:
    left_out = (first > 0) + (last < len(tabs))
    return left_out + sum(cell_len(written) + 2 for _, written in tabs[first:last])


COPIED_AT_MOST = 16_000_000
"""Bytes of a text that are copied, or opened elsewhere."""


class TabbedText(Pane):
    """Turns its tabs and shows more of the text; a subclass composes a tab line and a text, and loads what a tab has.

    Attributes:
        at_first: Bytes of a text that are shown at first.
    """

    at_first: ClassVar[int]

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._limit = self.at_first

    # -- what subclasses say

    def choose(self, tab: str) -> None:
        raise NotImplementedError

    def _ask(self) -> None:
        raise NotImplementedError

    def reading_all(self) -> Callable[[], Document] | None:
        """Return what reads in a thread the text of the tab up to :data:`COPIED_AT_MOST` bytes, None where nothing is shown."""
        raise NotImplementedError

    @property
    def is_cut(self) -> bool:
        return bool(self.text.document.cut)

    # -- what all of them do

    text = getters.query_one(TextPane)

    @property
    def whole(self) -> Callable[[], Document] | None:
        """What reads all of the text, None where that is shown."""
        return self.reading_all() if self.is_cut else None

    def turn(self, step: int) -> None:
        """Show the next or previous tab."""
        self.choose(self.query_one(TabLine).beside(step))

    def more(self) -> None:
        if self.is_cut:
            self._limit *= GROWTH
            self._ask()
        else:
            self.notify("All of it is shown.")

    def _reach(self, characters: int) -> None:
        if characters * 4 > self._limit:  # what is cut is counted in bytes: four are enough for any character
            self._limit = characters * 4 + 2000

    def on_tab_line_chosen(self, message: TabLine.Chosen) -> None:
        message.stop()
        self.choose(message.name)
