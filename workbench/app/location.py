"""Locations and marks, as plain data: what a mode shows, the history, the list that led there, and items marked for comparison."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

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


KINDS = {"trial": "trial", "task": "task", "candidate": "sample", "group": "evaluator", "run": "run", "trials": "group"}
"""The kinds that can be marked, with their nouns."""
MANY = frozenset({"task"})
"""Kinds of which any number may be marked: tasks are improved together; only two are compared."""
SEVERAL = "■"
"""The sign of a mark if more than two items are marked."""


@dataclass(frozen=True, slots=True)
class MarkedItem:
    """A marked item; the ``key`` of a group is its columns, of trials their ids.

    ``run`` is "" if the key is unique without it.
    """

    session: Path
    kind: str
    key: str | tuple[str, ...]
    title: str = ""
    run: str = ""
    of_trials: bool = False

    def same(self, other: MarkedItem) -> bool:
        return replace(self, title="") == replace(other, title="")


@dataclass(frozen=True, slots=True)
class MarkedPair:
    """Two items to show side by side, by a rubric ("" for the first of both) and a judge.

    ``about`` is the pane to start with.
    """

    left: MarkedItem
    right: MarkedItem
    rubric: str = ""
    judge: str = ""
    about: str = ""

    @property
    def swapped(self) -> MarkedPair:
        return replace(self, left=self.right, right=self.left)


class Marks:
    """Marked items in order; another kind replaces all, a third item the oldest, except for :data:`MANY`."""

    def __init__(self) -> None:
        self._marked: list[MarkedItem] = []

    def toggle(self, one: MarkedItem) -> None:
        others = [known for known in self._marked if not known.same(one)]
        if len(others) < len(self._marked):
            self._marked = others
        else:
            alike = self.of(one.kind)
            self._marked = [*(alike if one.kind in MANY else alike[-1:]), one]

    def letter(self, one: MarkedItem) -> str:
        """Return the letter of an item in the comparison, ``A`` or ``B``.

        :data:`SEVERAL` if more than two are marked, "" if it is not.
        """
        return next((letter for letter, known in self._letters() if known.same(one)), "")

    def letters(self, session: Path, kind: str) -> dict[object, str]:
        return {
            known.key: letter for letter, known in self._letters() if (known.session, known.kind) == (session, kind)
        }

    def _letters(self) -> list[tuple[str, MarkedItem]]:
        letters = "AB" if len(self._marked) <= 2 else SEVERAL * len(self._marked)
        return list(zip(letters, self._marked, strict=False))

    def pair(self, kind: str, under_cursor: MarkedItem | None) -> MarkedPair | None:
        """Return the two items to compare: both marked ones, or the marked one and the one under the cursor.

        None otherwise.
        """
        found = self.of(kind)
        if len(found) == 1 and under_cursor is not None and not found[0].same(under_cursor):
            found = (*found, under_cursor)
        return MarkedPair(*found) if len(found) == 2 else None

    def of(self, kind: str) -> tuple[MarkedItem, ...]:
        return tuple(one for one in self._marked if one.kind == kind)

    def keep(self, session: Path, kind: str, keys: Container[object]) -> None:
        self._marked = [
            one for one in self._marked if (one.session, one.kind) != (session, kind) or one.key in keys
        ]  # fmt: skip

    def sentence(self, session: Path | None) -> str:
        """Return what is marked, for the header.

        a single item, with its session if that is another one, or the number of more than two.
        """
        if len(self._marked) > 2:
            return f"{len(self._marked):,} {KINDS[self._marked[0].kind]}s are marked"
        if len(self._marked) != 1:
            return ""
        one = self._marked[0]
        return f"marked: {one.title or KINDS[one.kind]}" + (f" of {one.session.name}" if one.session != session else "")

    def __len__(self) -> int:
        return len(self._marked)
