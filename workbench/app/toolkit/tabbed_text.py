"""A frame with tabs over one text that is cut at first: which tab is shown, and how much of a long text."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from workbench.app.toolkit.document import Document
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.tab_line import TabLine
from workbench.app.toolkit.text_pane import GROWTH, TextPane

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
        """Show a tab."""
        raise NotImplementedError

    def _ask(self) -> None:
        """Have read what the tab shows, of a text up to :attr:`_limit` bytes."""
        raise NotImplementedError

    def reading_all(self) -> Callable[[], Document] | None:
        """Return what reads in a thread the text of the tab up to :data:`COPIED_AT_MOST` bytes, None where nothing is shown."""
        raise NotImplementedError

    @property
    def is_cut(self) -> bool:
        """Whether there is more than is shown."""
        return bool(self.text.document.cut)

    # -- what all of them do

    @property
    def text(self) -> TextPane:
        """What is shown."""
        return self.query_one(TextPane)

    @property
    def whole(self) -> Callable[[], Document] | None:
        """What reads all of the text, None where that is shown."""
        return self.reading_all() if self.is_cut else None

    def turn(self, step: int) -> None:
        """Show the next or previous tab."""
        self.choose(self.query_one(TabLine).beside(step))

    def more(self) -> None:
        """Show more of what is cut."""
        if self.is_cut:
            self._limit *= GROWTH
            self._ask()
        else:
            self.notify("All of it is shown.")

    def _reach(self, characters: int) -> None:
        """Let as much be shown as has so many characters."""
        if characters * 4 > self._limit:  # what is cut is counted in bytes: four are enough for any character
            self._limit = characters * 4 + 2000

    def on_tab_line_chosen(self, message: TabLine.Chosen) -> None:
        """Show the tab that was clicked."""
        message.stop()
        self.choose(message.name)
