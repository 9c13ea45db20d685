"""Locations: what a mode shows, the history of locations, and the list that led to one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.app.marks import MarkedPair

MOST = 200
"""Maximum number of locations in either direction of the history."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A position in an item.

    a step (``number``, 0 for the outcome) or criterion (``item``) of a trial, or a sample (from 0) of a task.

    ``needle`` is the text to search for from there.
    """

    number: int = 0
    needle: str = ""
    item: str = ""


@dataclass(frozen=True, slots=True)
class Location:
    """What a mode shows: an ``item`` (trial, run, case or study) of a session, and a position in it.

    ``pair`` is shown side by side over the mode.
    """

    session: Path | None
    mode: str
    item: str = ""
    place: Anchor | None = None
    evaluator: str = ""
    pair: MarkedPair | None = None


class History:
    """The locations behind and ahead of the current one, as in a browser."""

    def __init__(self) -> None:
        self.behind: list[Location] = []
        self.ahead: list[Location] = []

    def leave(self, here: Location | None) -> None:
        """Record a location that is left for another one; the forward history is dropped."""
        if here is not None:
            self.ahead.clear()
            _put(self.behind, here)

    def go(self, step: int, here: Location | None) -> Location | None:
        """Return the location to go to, back (-1) or forward (1), None if there is none.

        ``here`` is recorded for the way back.
        """
        source, other = (self.behind, self.ahead) if step < 0 else (self.ahead, self.behind)
        while source:
            found = source.pop()
            if found != here:
                if here is not None:
                    _put(other, here)
                return found
        return None


def _put(locations: list[Location], location: Location) -> None:
    if not locations or locations[-1] != location:
        locations.append(location)
        del locations[:-MOST]


@dataclass(slots=True)
class ResultList:
    """The list that led to the current location.

    The hit keys go through ``searched`` lists; ``completed`` reads what a location still lacks.
    """

    show_list: Callable[[int], Any]
    locations: Sequence[Location]
    row: str
    at: int = 0
    searched: bool = False
    completed: Callable[[int], Awaitable[Location]] | None = None
