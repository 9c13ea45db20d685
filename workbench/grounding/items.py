"""Claims of a README and what each rests on, as plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

KINDS = ("identifier", "path", "command", "option", "dependency", "number")
SEEN, UNSEEN, NOWHERE = "seen", "not looked at", "nowhere"
NOT_SEEN = "not seen"
"""Instead of *not looked at* and *nowhere* where the repository is not on this machine."""
STATUSES = (NOWHERE, UNSEEN, NOT_SEEN, SEEN)
"""What needs a look first."""
TASK = 0
"""The step number of the task that the agent was given."""


@dataclass(frozen=True, slots=True)
class Place:
    """Characters ``start`` to ``end`` of a README, in ``line`` (from 1)."""

    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that a README names as the project's own.

    All ``needles`` must be found, each in any of its spellings; the last one gives the origin. An uncertain claim may be
    the reader's own (an argument, a placeholder), and counts only where it is found. A number must stand near one of the
    word stems in ``context``. A build target counts only in files named in ``within``.
    """

    kind: str
    text: str
    place: Place
    needles: tuple[tuple[str, ...], ...]
    certain: bool = True
    context: frozenset[str] = frozenset()
    within: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """What a step showed the agent, :data:`TASK` for the task itself.

    ``path`` is the file or folder, "" for neither. ``data`` is UTF-8 text, a JSON list of names where ``listed``.
    """

    step: int
    path: str
    data: bytes
    listed: bool = False


@dataclass(frozen=True, slots=True)
class RepositoryFile:
    """A file that the agent could have seen; size in bytes, ``read`` returns b"" on failure."""

    path: str
    size: int
    read: Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class Item:
    """A claim with all its places and what it rests on.

    ``steps`` are those that showed it, the first one leads. Where none did, ``path`` and ``line`` (from 1, 0 for none) say
    where the repository has it.
    """

    kind: str
    text: str
    places: tuple[Place, ...]
    status: str
    steps: tuple[int, ...] = ()
    path: str = ""
    line: int = 0

    @property
    def origin(self) -> str:
        if self.status == SEEN:
            first = "the task" if self.steps[0] == TASK else f"step {self.steps[0]}"
            more = len(self.steps) - 1
            return f"{first} +{more}" if more else first
        if self.status == UNSEEN:
            return f"{self.path}:{self.line}" if self.line else self.path
        return "nothing: a likely invention" if self.status == NOWHERE else "no step"


@dataclass(frozen=True)
class Grounding:
    """All items of a README, the most doubtful first; ``repository`` is False where it is not on this machine."""

    items: tuple[Item, ...]
    repository: bool = True
    cut: bool = False

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(item.status for item in self.items)

    @cached_property
    def inventions(self) -> tuple[Item, ...]:
        return tuple(item for item in self.items if item.status == NOWHERE)

    def sentence(self) -> str:
        """``41 items · 30 seen · 6 not looked at · 5 nowhere``."""
        if not self.items:
            return "0 items"
        parts = [f"{len(self.items):,} item" + ("" if len(self.items) == 1 else "s")]
        shown = (SEEN, UNSEEN, NOWHERE) if self.repository else (SEEN, NOT_SEEN)
        return " · ".join(parts + [f"{self.counts[status]:,} {status}" for status in shown])
