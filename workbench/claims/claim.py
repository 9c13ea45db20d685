"""A claim: what a page says of its project. The check, grounding and the offline judge share it; each looks it up its own way."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

LookupT = TypeVar("LookupT")


class Truth(StrEnum):
    """Verdict on a claim."""

    TRUE = "true"
    UNTRUE = "untrue"
    UNKNOWN = "cannot be said"


@dataclass(frozen=True, slots=True)
class PageRange:
    """Characters ``start`` to ``end`` of a page in ``line`` (from 1); 0 to 0 is the whole line."""

    line: int
    start: int = 0
    end: int = 0
    path: str = ""


@dataclass(frozen=True, slots=True)
class LookupResult:
    """What the index of the project answers.

    ``nearest`` is the nearest true name; it may replace the claim's text where it is ``exact``, the only candidate.
    """

    truth: Truth
    reason: str = ""
    nearest: str = ""
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Needles:
    """What a text must contain to support a claim: one spelling of each group; the last group gives the origin.

    An uncertain claim may be the reader's own (an argument, a placeholder), and counts only where it is found. A number
    must stand near one of the word stems in ``context``. A build target counts only in files named in ``within``.
    """

    groups: tuple[tuple[str, ...], ...]
    certain: bool = True
    context: frozenset[str] = frozenset()
    within: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim(Generic[LookupT]):
    """Something that a page says of its project.

    ``kind`` is ``module``, ``name``, ``parameter``, ``option``, ``default``, ``variable``, ``file``, ``extra``,
    ``dependency``, ``version``, ``licence``, ``python``, ``command`` or ``url``; for grounding ``identifier``, ``path``,
    ``option``, ``command``, ``dependency`` or ``number``.
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
