"""The collector of a README's claims, and the items that grounding makes of them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Set
from dataclasses import dataclass
from functools import cached_property

from packaging.utils import canonicalize_name

from workbench.claims import known
from workbench.claims.claim import Claim, Needles, PageRange

KINDS = ("identifier", "path", "command", "option", "dependency", "number")
SEEN, UNSEEN, NOWHERE = "seen", "not looked at", "nowhere"
NOT_SEEN = "not seen"
"""Instead of *not looked at* and *nowhere* where the repository is not on this machine."""
STATUSES = (NOWHERE, UNSEEN, NOT_SEEN, SEEN)
"""The most doubtful first."""
TASK = 0
"""The step number of the task that the agent was given."""


OPTION = re.compile(r"(?<![\w-])(?:--[A-Za-z][\w-]*|-[A-Za-z](?![\w-]))")
_MOST = 120


class ClaimCollector:
    """Collects the claims of a text. Each method takes a name and its position, and ignores names that are no claim.

    An uncertain claim may be the reader's own.
    """

    def __init__(self, text: str) -> None:
        self.found: list[Claim[Needles]] = []
        self._lines = [0, *(match.end() for match in re.finditer(r"\r\n?|\n", text))]

    def add(
        self,
        kind: str,
        text: str,
        start: int,
        needles: tuple[tuple[str, ...], ...],
        certain: bool = True,
        *,
        context: Set[str] = frozenset(),
        within: tuple[str, ...] = (),
        end: int | None = None,
    ) -> None:
        if len(text) <= _MOST:
            place = PageRange(bisect_right(self._lines, start), start, start + len(text) if end is None else end)
            self.found.append(Claim(kind, text, place, Needles(needles, certain, frozenset(context), within)))

    def identifier(self, text: str, start: int, *, certain: bool = True) -> None:
        """A dotted name; its commonly known parts are not searched."""
        parts = [part for part in text.split(".") if not known.is_known(part)]
        if "." in text and known.is_python(text):
            return
        if parts:
            self.add("identifier", text, start, _each(parts), certain and not known.is_placeholder(text))
        elif known.may_be_own(text):
            # Python has this name too, so only a definition makes it the project's.
            self.add("identifier", text, start, (_definitions(text),), certain=False)

    def imported(self, text: str, start: int) -> None:
        """An import from the project, which is the project's under any name."""
        self.add("identifier", text, start, _each(text.split(".")), not known.is_placeholder(text))

    def attribute(self, name: str, start: int) -> None:
        """An attribute of a project's object."""
        if name.startswith("__") and name.endswith("__"):
            return
        if known.is_attribute(name):
            # The project may return a list or a date of Python's own.
            self.add("identifier", name, start, ((f".{name}", *_definitions(name)),), certain=False)
        else:
            self.add("identifier", name, start, ((name,),), not known.is_placeholder(name))

    def path(self, text: str, start: int, *, certain: bool = True) -> None:
        plain = re.sub(r"^(?:\./)+", "", text.replace("\\", "/")).rstrip("/")
        if plain in {"", ".", "*"} or plain.startswith(("/", "~", "..", "http:", "https:", "-")):
            return
        if not known.is_everybodys_file(plain):
            self.add("path", text, start, ((plain,),), certain and not known.is_placeholder(plain))

    def option(self, text: str, start: int) -> None:
        if text not in {"--help", "-h"}:
            self.add("option", text, start, ((text,),), not known.is_placeholder(text))

    def dependency(self, text: str, start: int, *, certain: bool = True) -> None:
        """A package; capitals, ``-``, ``_`` and ``.`` make no difference (PEP 503)."""
        found = re.match(r"[A-Za-z0-9][\w.-]*[A-Za-z0-9]|[A-Za-z]", text)
        if found is not None and len(text) <= _MOST:
            name = found.group()
            dashed = re.sub(r"[-_.]", "-", name)
            cases = (dashed, dashed.lower(), dashed.title(), dashed.upper())
            forms = {name, *(form.replace("-", mark) for form in cases for mark in "-_.")}
            certain = certain and not known.is_placeholder(name)
            self.add("dependency", name, start, (tuple(sorted(forms)),), certain, end=start + len(text))

    def command(self, text: str, start: int) -> None:
        if re.fullmatch(r"[A-Za-z][\w.-]*", text):
            self.add("command", text, start, ((text,),), not known.is_placeholder(text))


def plain(name: str) -> str:
    return canonicalize_name(re.sub(r"\s+", "-", name))


def _each(parts: list[str]) -> tuple[tuple[str, ...], ...]:
    return tuple((part,) for part in parts)


def _definitions(name: str) -> tuple[str, ...]:
    return f"def {name}", f"class {name}"


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
    """A claim with all its places and its evidence.

    ``steps`` are those that showed it, in order. If none did, ``path`` and ``line`` (from 1, 0 for none) are its place in
    the repository.
    """

    kind: str
    text: str
    places: tuple[PageRange, ...]
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
