"""Where a hit is shown: which mode, which step or sample, and what is searched for there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.place import Place
from workbench.search.index import line_of

if TYPE_CHECKING:
    from workbench.app.host import Host
    from workbench.search import Query
    from workbench.search.index import Hit


@dataclass(slots=True)
class Searched:
    """The text that was typed, whether all sessions were meant, and the hit at which the cursor stood."""

    text: str = ""
    everywhere: bool = False
    at: int = 0


_SEARCHED_THERE = frozenset({"step", "file", "message", "readme", "metadata", "docstring", "candidate", "failing"})


@dataclass(frozen=True, slots=True)
class ListedHits:
    """The hits of a query in the order in which they were listed, shown one by one."""

    host: Host
    hits: Sequence[Hit]
    query: Query

    def __len__(self) -> int:
        """How many there are."""
        return len(self.hits)

    def session_of(self, at: int) -> Path:
        """The session that a hit is of."""
        return self.hits[at].session

    async def show(self, at: int) -> None:
        """Show the place of a hit of the open session, with the matched text marked there."""
        host, hit, needle = self.host, self.hits[at], ""
        if hit.entry.kind in _SEARCHED_THERE and host.reader is not None:
            line = await asyncio.to_thread(line_of, host.reader, hit, self.query)
            needle = line.text[line.start : line.end]
        if hit.item.kind == "session":
            host.open_session(hit.session, show=True)
        elif hit.item.kind == "trial":
            await host.show_trial(hit.item.id, Place(hit.entry.number, needle, hit.entry.criterion))
        else:
            task = hit.item.task or hit.item.id
            await host.show_run(hit.item.run, hit.item.model, Place(hit.entry.number, needle, task))
