"""Where a hit is shown: which mode, which step or sample, and what is searched for there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.app.location import Location, Place
from workbench.search.index import line_of

if TYPE_CHECKING:
    from workbench.search import Query
    from workbench.search.index import Hit
    from workbench.session.reader import SessionReader


@dataclass(slots=True)
class Searched:
    """The text that was typed, whether all sessions were meant, and the hit at which the cursor stood."""

    text: str = ""
    everywhere: bool = False
    at: int = 0


_SEARCHED_THERE = frozenset({"step", "file", "message", "readme", "metadata", "docstring", "candidate", "failing"})


def location_of(reader: SessionReader | None, hit: Hit, query: Query) -> Location:
    """Return where a hit is; with the reader of its session also which text is to be marked there."""
    needle = ""
    if hit.entry.kind in _SEARCHED_THERE and reader is not None:
        line = line_of(reader, hit, query)
        needle = line.text[line.start : line.end]
    if hit.item.kind == "session":
        return Location(hit.session, "")
    if hit.item.kind == "trial":
        return Location(hit.session, "trajectory", hit.item.id, Place(hit.entry.number, needle, hit.entry.criterion))
    task = hit.item.task or hit.item.id
    place = Place(hit.entry.number, needle, task)
    return Location(hit.session, "regeneration", hit.item.run, place, hit.item.model)
