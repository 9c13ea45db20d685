"""Marks: two items of one kind to compare, of one session or two, or any number of tasks."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from pathlib import Path

KINDS = {"trial": "trial", "task": "task", "candidate": "sample", "group": "evaluator", "run": "run", "trials": "group"}
"""The kinds that can be marked, with their nouns."""
MANY = frozenset({"task"})
"""Kinds of which any number may be marked: tasks are improved together; only two are compared."""
SEVERAL = "■"
"""The sign of a mark if more than two items are marked."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A marked item; the ``key`` of a group is its columns, of trials their ids.

    ``run`` is "" if the key is unique without it.
    """

    session: Path
    kind: str
    key: str | tuple[str, ...]
    title: str = ""
    run: str = ""
    of_trials: bool = False

    def same(self, other: Marked) -> bool:
        return replace(self, title="") == replace(other, title="")


@dataclass(frozen=True, slots=True)
class MarkedPair:
    """Two items to show side by side, by a rubric ("" for the first of both) and a judge.

    ``about`` is the pane to start with.
    """

    left: Marked
    right: Marked
    rubric: str = ""
    judge: str = ""
    about: str = ""

    @property
    def swapped(self) -> MarkedPair:
        return replace(self, left=self.right, right=self.left)


class Marks:
    """Marked items in order; another kind replaces all, a third item the oldest, except for :data:`MANY`."""

    def __init__(self) -> None:
        self._marked: list[Marked] = []

    def toggle(self, one: Marked) -> None:
        others = [known for known in self._marked if not known.same(one)]
        if len(others) < len(self._marked):
            self._marked = others
        else:
            alike = self.of(one.kind)
            self._marked = [*(alike if one.kind in MANY else alike[-1:]), one]

    def letter(self, one: Marked) -> str:
        """Return the letter of an item in the comparison, ``A`` or ``B``.

        :data:`SEVERAL` if more than two are marked, "" if it is not.
        """
        return next((letter for letter, known in self._letters() if known.same(one)), "")

    def letters(self, session: Path, kind: str) -> dict[object, str]:
        return {
            known.key: letter for letter, known in self._letters() if (known.session, known.kind) == (session, kind)
        }

    def _letters(self) -> list[tuple[str, Marked]]:
        letters = "AB" if len(self._marked) <= 2 else SEVERAL * len(self._marked)
        return list(zip(letters, self._marked, strict=False))

    def pair(self, kind: str, under_cursor: Marked | None) -> MarkedPair | None:
        """Return the two items to compare: both marked ones, or the marked one and the one under the cursor.

        None otherwise.
        """
        found = self.of(kind)
        if len(found) == 1 and under_cursor is not None and not found[0].same(under_cursor):
            found = (*found, under_cursor)
        return MarkedPair(*found) if len(found) == 2 else None

    def of(self, kind: str) -> tuple[Marked, ...]:
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
