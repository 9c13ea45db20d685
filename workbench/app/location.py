"""Plain data about navigation: locations, the history, the list that led to a location, and marked items."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

MOST = 200
"""Maximum number of locations in each direction of the history."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A position in an item.

    In a trial it is a step (``number``, 0 for the outcome) or a criterion (``item``); in a run of tasks it is a task
    (``item``) and the number of a sample, counted from 0; in a case it is a file (``item``). ``needle`` is the text to
    search for from there.
    """

    number: int = 0
    needle: str = ""
    item: str = ""


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the app: a mode, an ``item`` (trial, run, case or study) of a session, and a position in the item.

    The items of ``pair`` are shown side by side on top of the mode.
    """

    session: Path | None
    mode: str
    item: str = ""
    place: Anchor | None = None
    evaluator: str = ""
    pair: MarkedPair | None = None


class History:
    """The previous and next locations, as in the history of a browser."""

    def __init__(self) -> None:
        self.behind: list[Location] = []
        self.ahead: list[Location] = []

    def leave(self, here: Location | None) -> None:
        """Record a location that the user is leaving, and clear the forward history."""
        if here is not None:
            self.ahead.clear()
            _put(self.behind, here)

    def go(self, step: int, here: Location | None) -> Location | None:
        """Return the previous (-1) or next (1) location, or None if there is none.

        ``here`` is recorded, so that the user can return to it.
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

    If the list is ``searched``, the keys for the next and previous hit step through it. ``completed`` loads the missing
    details of a location.
    """

    show_list: Callable[[int], Any]
    locations: Sequence[Location]
    row: str
    at: int = 0
    searched: bool = False
    completed: Callable[[int], Awaitable[Location]] | None = None


KINDS = {"trial": "trial", "task": "task", "candidate": "sample", "group": "evaluator", "run": "run", "trials": "group"}
"""The kinds of items that can be marked, with the nouns shown for them."""
MANY = frozenset({"task"})
"""The kinds that allow any number of marks: tasks can be improved together, while comparisons need only two items."""
SEVERAL = "■"
"""The sign of a marked item if more than two items are marked."""


@dataclass(frozen=True, slots=True)
class MarkedItem:
    """A marked item; the ``key`` of an evaluator group is its columns, that of a group of trials their ids.

    ``run`` is "" if the key is unique across runs.
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
    """Two items to show side by side, scored with a rubric ("" for the first one that both have) and a judge.

    ``about`` names the text that the user was viewing, which determines the initial pane.
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
    """Marked items in order.

    Marking an item of another kind removes all other marks. A third item replaces the oldest one, except for the
    kinds in :data:`MANY`.
    """

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

        The result is :data:`SEVERAL` if more than two items are marked, and "" if this one is not marked.
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
        """Return the two marked items, or the only marked item and the one under the cursor.

        The result is None if there are not two items.
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
        """Return the text about marked items for the header.

        It names a single item, and its session if that is not the open one. If more than two items are marked, it
        states their number; without marks, it is "".
        """
        if len(self._marked) > 2:
            return f"{len(self._marked):,} {KINDS[self._marked[0].kind]}s are marked"
        if len(self._marked) != 1:
            return ""
        one = self._marked[0]
        return f"marked: {one.title or KINDS[one.kind]}" + (f" of {one.session.name}" if one.session != session else "")

    def __len__(self) -> int:
        return len(self._marked)
