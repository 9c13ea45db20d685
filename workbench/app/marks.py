"""What is marked: two things of one kind to be compared, of one session or of two, or any number of tasks; no widget in sight."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from pathlib import Path

KINDS = {"trial": "trial", "task": "task", "candidate": "sample", "group": "evaluator", "run": "run", "trials": "group"}
"""What can be marked, each with the word for it."""
MANY = frozenset({"task"})
"""Kinds of which any number may be marked: tasks are improved together; only two of them are compared."""
SEVERAL = "■"
"""The sign of each where more than two are marked."""


@dataclass(frozen=True, slots=True)
class Marked:
    """Something of a session that was marked; the ``key`` of a group is its columns, of trials their ids, and ``run`` is "" where that says all."""

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
    """Two to be shown side by side by a rubric ("" for the first of both) and a judge; ``about`` (``Docstring``, ``Prompt``) is compared first."""

    left: Marked
    right: Marked
    rubric: str = ""
    judge: str = ""
    about: str = ""

    @property
    def swapped(self) -> MarkedPair:
        return replace(self, left=self.right, right=self.left)


class Marks:
    """What is marked, in the order in which it was; another kind takes the place of all, a third one that of the oldest but for :data:`MANY`."""

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
        """Return what something will be in the comparison, ``A`` or ``B``; :data:`SEVERAL` of more than two, "" where it is not marked."""
        return next((letter for letter, known in self._letters() if known.same(one)), "")

    def letters(self, session: Path, kind: str) -> dict[object, str]:
        return {
            known.key: letter for letter, known in self._letters() if (known.session, known.kind) == (session, kind)
        }

    def _letters(self) -> list[tuple[str, Marked]]:
        letters = "AB" if len(self._marked) <= 2 else SEVERAL * len(self._marked)
        return list(zip(letters, self._marked, strict=False))

    def pair(self, kind: str, under_cursor: Marked | None) -> MarkedPair | None:
        """Return the two of a kind to compare: those that are marked, or the marked one with the one under the cursor; None for more."""
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
        """Return what is marked while only one is, with its session where another one is open; of more than two how many; "" else."""
        if len(self._marked) > 2:
            return f"{len(self._marked):,} {KINDS[self._marked[0].kind]}s are marked"
        if len(self._marked) != 1:
            return ""
        one = self._marked[0]
        return f"marked: {one.title or KINDS[one.kind]}" + (f" of {one.session.name}" if one.session != session else "")

    def __len__(self) -> int:
        return len(self._marked)
