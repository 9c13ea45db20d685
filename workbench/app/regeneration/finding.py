"""The part of the Regeneration mode that searches and goes from hit to hit."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from workbench.app.regeneration.search import Found, search

if TYPE_CHECKING:
    from workbench.app.regeneration.screen import RegenerationScreen


class Finder:
    """Keeps the last search.

    Args:
        place: Where hits are shown.
    """

    def __init__(self, place: RegenerationScreen) -> None:
        self._place = place
        self._stop = threading.Event()
        self.found: Found | None = None
        self.at = -1

    def begin(self, needle: str) -> None:
        """Search for a text in a thread."""
        place = self._place
        reader, view = place.reader, place.view
        self.forget()
        if reader is None or view is None or not needle:
            return
        self._stop = stop = threading.Event()
        lines, group = tuple(place.lines), view.group

        def work() -> Found:
            return search(reader, lines, group, needle, stop.is_set)

        def done(found: Found) -> None:
            if stop is self._stop and not stop.is_set():
                self.found = found
                selected = place.selected_task
                self._go(found.nearest([line.id for line in lines], selected.id if selected else ""))

        place.set_remark(f"/{needle}  searching…")
        place.searching.ask(work, done)

    def forget(self) -> None:
        """Drop the search and its marks."""
        self._stop.set()
        self.found = None
        self.at = -1
        self._place.mark_hits("")
        self._place.set_remark("")

    def go(self, step: int) -> None:
        """Go to the next (1) or previous (-1) hit."""
        if self.found and self.found.hits:
            self._go((self.at + step) % len(self.found.hits))

    def _go(self, index: int) -> None:
        found, place = self.found, self._place
        if found is None:
            return
        place.mark_hits(found.needle)
        if not found.hits:
            place.set_remark(f"/{found.needle}  nothing found")
            return
        self.at = index
        hit = found.hits[index]
        total = f"{len(found.hits):,}{'+' if found.more else ''}"
        where = hit.tab.lower() if hit.tab else "name"
        place.set_remark(f"/{found.needle}  {index + 1:,} of {total} · {where} · n N go on, esc ends")
        place.go_to_hit(hit)
