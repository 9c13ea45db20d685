"""What a README claims, and what each claim rests on: frozen values, no text is searched here."""

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
    """Where a README names something: characters ``start`` to ``end``, in ``line`` (from 1)."""

    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that a README names as the project's own.

    Attributes:
        kind: One of :data:`KINDS`.
        text: As the README has it.
        place: Where it stands.
        needles: Every one of these must be found; the last one says where the claim comes from. Each is a tuple of spellings,
            any of which will do.
        certain: False for what may as well be the reader's own (an argument, a placeholder): it counts only where it is found.
        context: For a number: stems of the words around it, one of which must stand near the number where it is found.
        within: For a target of a build tool: names of files in which alone it counts.
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
    """What one step showed to the agent.

    Attributes:
        step: Its number; :data:`TASK` for the task itself.
        path: The file that was read or the folder that was listed, "" for neither.
        data: The text, UTF-8.
        listed: Whether ``data`` is a list of names in ``path``, as JSON.
    """

    step: int
    path: str
    data: bytes
    listed: bool = False


@dataclass(frozen=True, slots=True)
class RepositoryFile:
    """A file that the agent could have seen: its size in bytes, and ``read`` returns its content (b"" for none)."""

    path: str
    size: int
    read: Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class Item:
    """A claim, once for all its places, and what it rests on.

    Attributes:
        kind: As of the claim.
        text: As of the claim.
        places: All its places, in order.
        status: One of :data:`STATUSES`.
        steps: The steps that showed it, the first one leads; :data:`TASK` is the agent's task.
        path: The file of the repository that has it where no step showed it, "" for none.
        line: The line in that file (from 1), 0 for none.
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
    """All items of a README, what needs a look first; ``repository`` is False where it is not on this machine."""

    items: tuple[Item, ...]
    repository: bool = True
    cut: bool = False

    @cached_property
    def counts(self) -> Counter[str]:
        """How many items have each status."""
        return Counter(item.status for item in self.items)

    @cached_property
    def inventions(self) -> tuple[Item, ...]:
        return tuple(item for item in self.items if item.status == NOWHERE)

    def sentence(self) -> str:
        """Return ``41 items · 30 seen · 6 not looked at · 5 nowhere``."""
        if not self.items:
            return "0 items"
        parts = [f"{len(self.items):,} item" + ("" if len(self.items) == 1 else "s")]
        shown = (SEEN, UNSEEN, NOWHERE) if self.repository else (SEEN, NOT_SEEN)
        return " · ".join(parts + [f"{self.counts[status]:,} {status}" for status in shown])
