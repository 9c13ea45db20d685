"""The collector of a README's claims, and the items into which grounding turns them."""

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
"""Replaces *not looked at* and *nowhere* if the repository is not on this machine."""
STATUSES = (NOWHERE, UNSEEN, NOT_SEEN, SEEN)
"""The statuses, the most doubtful first."""
TASK = 0
"""The step number that represents the task given to the agent."""


OPTION = re.compile(r"(?<![\w-])(?:--[A-Za-z][\w-]*|-[A-Za-z](?![\w-]))")
_MOST = 120


class ClaimCollector:
    """Collects the claims of a text.

    Each method takes a name and its position, and ignores names that are not claims. An uncertain claim may be one of
    the reader's own names.
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
        """Add a dotted name; any commonly known parts of it are not searched for."""
        parts = [part for part in text.split(".") if not known.is_known(part)]
        if "." in text and known.is_python(text):
            return
        if parts:
            self.add("identifier", text, start, _each(parts), certain and not known.is_placeholder(text))
        elif known.may_be_own(text):
            # Python has this name too, so only a definition shows that it belongs to the project.
            self.add("identifier", text, start, (_definitions(text),), certain=False)

    def imported(self, text: str, start: int) -> None:
        """Add an import from the project; it belongs to the project whatever its name."""
        self.add("identifier", text, start, _each(text.split(".")), not known.is_placeholder(text))

    def attribute(self, name: str, start: int) -> None:
        """Add an attribute of one of the project's objects."""
        if name.startswith("__") and name.endswith("__"):
            return
        if known.is_attribute(name):
            # The object may be one of Python's own types, such as a list or a date.
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
        """Add a package; its case and the characters ``-``, ``_`` and ``.`` make no difference (PEP 503)."""
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
    """Text that a step showed to the agent; the step is :data:`TASK` for the task itself.

    ``path`` is the file or folder, or "" if it is neither. ``data`` is UTF-8 text, or a JSON list of names if
    ``listed``.
    """

    step: int
    path: str
    data: bytes
    listed: bool = False


@dataclass(frozen=True, slots=True)
class RepositoryFile:
    """A file that the agent could have seen, with its size in bytes; ``read`` returns b"" on failure."""

    path: str
    size: int
    read: Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class Item:
    """A claim with all its positions and its evidence.

    ``steps`` are the steps that showed it, in order. If there are none, ``path`` and ``line`` (from 1, or 0 for none)
    locate it in the repository.
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
    """All items of a README, the most doubtful first; ``repository`` is False if it is not on this machine."""

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
        """Summarise the items, as in ``41 items · 30 seen · 6 not looked at · 5 nowhere``."""
        if not self.items:
            return "0 items"
        parts = [f"{len(self.items):,} item" + ("" if len(self.items) == 1 else "s")]
        shown = (SEEN, UNSEEN, NOWHERE) if self.repository else (SEEN, NOT_SEEN)
        return " · ".join(parts + [f"{self.counts[status]:,} {status}" for status in shown])
