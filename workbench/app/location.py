"""Where a person is, was, and came from; no widget in sight."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.app.marks import MarkedPair

MOST = 200
"""Locations that are kept in either direction; the oldest ones are forgotten."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A step (``number``, 0 for the outcome) or criterion (``item``) of a trial, or a sample (from 0) of a task, and what is sought from there."""

    number: int = 0
    needle: str = ""
    item: str = ""


@dataclass(frozen=True, slots=True)
class Location:
    """What a mode shows: an ``item`` (trial, run, case or study) of a session, and where in it; ``pair`` stands side by side over the mode."""

    session: Path | None
    mode: str
    item: str = ""
    place: Anchor | None = None
    evaluator: str = ""
    pair: MarkedPair | None = None


class History:
    """The locations behind and ahead of the one that is shown, as a browser keeps them."""

    def __init__(self) -> None:
        self.behind: list[Location] = []
        self.ahead: list[Location] = []

    def leave(self, here: Location | None) -> None:
        """Note a location that is about to be left for another one; what lay ahead is forgotten."""
        if here is not None:
            self.ahead.clear()
            _put(self.behind, here)

    def go(self, step: int, here: Location | None) -> Location | None:
        """Return the location to go to, back (-1) or forward (1), None where there is none; ``here`` is kept for the way back."""
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
    """The list that led to what is shown. Keys of a search go through ``searched`` rows; ``completed`` reads what a location still lacks."""

    show_list: Callable[[int], Any]
    locations: Sequence[Location]
    row: str
    at: int = 0
    searched: bool = False
    completed: Callable[[int], Awaitable[Location]] | None = None
