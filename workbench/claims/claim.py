"""Claims, which are statements of a page about its project.

The check, grounding and the offline judge share this class; each looks claims up in its own way.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

LookupT = TypeVar("LookupT")


class Truth(StrEnum):
    """The verdict on a claim."""

    TRUE = "true"
    UNTRUE = "untrue"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class PageRange:
    """Characters ``start`` to ``end`` of a page on ``line`` (from 1); if both are 0, the whole line."""

    line: int
    start: int = 0
    end: int = 0
    path: str = ""


@dataclass(frozen=True, slots=True)
class LookupResult:
    """The result of looking a claim up in the project's index.

    ``nearest`` is the closest true name. If it is ``exact``, that is, the only candidate, it may replace the claim's
    text.
    """

    truth: Truth
    reason: str = ""
    nearest: str = ""
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Needles:
    """The strings that a text must contain to support a claim: one spelling from each group.

    The last group determines the origin.

    An uncertain claim may be the reader's own (an argument or a placeholder), so it counts only if it is found. A
    number must be near one of the word stems in ``context``. A build target counts only in the files named in
    ``within``.
    """

    groups: tuple[tuple[str, ...], ...]
    certain: bool = True
    context: frozenset[str] = frozenset()
    within: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim(Generic[LookupT]):
    """A statement of a page about its project.

    ``kind`` is ``module``, ``name``, ``parameter``, ``option``, ``default``, ``variable``, ``file``, ``extra``,
    ``dependency``, ``version``, ``licence``, ``python``, ``command`` or ``url``. For grounding, it is ``identifier``,
    ``path``, ``option``, ``command``, ``dependency`` or ``number``.
    """

    kind: str
    text: str
    place: PageRange
    lookup: LookupT

    @property
    def line(self) -> int:
        return self.place.line

    @property
    def path(self) -> str:
        return self.place.path


CheckedClaim = Claim[LookupResult]
