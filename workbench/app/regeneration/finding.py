"""The part of the Regeneration mode that searches and goes from hit to hit."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from workbench.app.regeneration.search import Found, search

if TYPE_CHECKING:
    from workbench.app.screens.regeneration import RegenerationScreen


class Finder:
    """Keeps the last search.

    Args:
        screen: The mode that is searched.
    """

    def __init__(self, screen: RegenerationScreen) -> None:
        self._screen = screen
        self._stop = threading.Event()
        self.found: Found | None = None
        self.at = -1

    def begin(self, needle: str) -> None:
        """Search for a text in a thread."""
        screen = self._screen
        reader, view = screen.workbench.reader, screen.view
        self.forget()
        if reader is None or view is None or not needle:
            return
        self._stop = stop = threading.Event()
        lines, evaluator = tuple(screen.table.lines), view.evaluator

        def work() -> Found:
            return search(reader, lines, evaluator, needle, stop.is_set)

        def done(found: Found) -> None:
            if stop is self._stop and not stop.is_set():
                self.found = found
                selected = screen.table.selected
                self._go(found.nearest([line.id for line in lines], selected.id if selected else ""))

        screen.set_remark(f"/{needle}  searching…")
        screen.searching.ask(work, done)

    def forget(self) -> None:
        """Drop the search and its marks."""
        self._stop.set()
        self.found = None
        self.at = -1
        for pane in (self._screen.sample, self._screen.failing):
            pane.text.find("")
        self._screen.set_remark("")

    def go(self, step: int) -> None:
        """Go to the next (1) or previous (-1) hit."""
        if self.found and self.found.hits:
            self._go((self.at + step) % len(self.found.hits))

    def _go(self, index: int) -> None:
        found, screen = self.found, self._screen
        if found is None:
            return
        for pane in (screen.sample, screen.failing):
            pane.text.find(found.needle)
        if not found.hits:
            screen.set_remark(f"/{found.needle}  nothing found")
            return
        self.at = index
        hit = found.hits[index]
        total = f"{len(found.hits):,}{'+' if found.more else ''}"
        where = hit.tab.lower() if hit.tab else "name"
        screen.set_remark(f"/{found.needle}  {index + 1:,} of {total} · {where} · n N go on, esc ends")
        screen.go_to(hit.task, hit.sample)
        if hit.tab == "Failing":
            screen.uncover(screen.failing)
        elif hit.tab:
            screen.sample.choose(hit.tab, hit=hit.ordinal, reach=hit.reach)
            screen.uncover(screen.sample)
