"""A field for one line: of a paste it takes what has room, however much that is."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.widgets import Input

from workbench.text import clean

LONGEST = 4_000
"""Characters that fit into a field."""


class LineInput(Input):
    """Textual's field, but a long paste neither stalls the app nor is refused in silence."""

    def __init__(self, value: str | None = None, *, max_length: int = LONGEST, **more: Any) -> None:
        super().__init__(value, max_length=max_length or LONGEST, **more)

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        most = self.max_length or LONGEST
        lines = clean(event.text[: 2 * most].replace("\r", "\n")).split("\n")  # terminals send \r for a line break
        pasted = next((line for line in lines if line.strip()), "").replace("\t", " ")
        start, end = sorted(self.selection)
        room = max(0, most - len(self.value) + end - start)
        if self.type == "text":
            self.replace(pasted[:room], start, end)
            if len(event.text) > room:
                self.notify(f"Only {room:,} of {len(event.text):,} characters fit here.", severity="warning", timeout=5)
        elif len(pasted) <= room:
            self.replace(pasted, start, end)
