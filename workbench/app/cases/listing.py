"""What the Cases mode lists: test cases with whether they are fetched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench import paths
from workbench.catalog import TestCase, load_cases
from workbench.errors import WorkbenchError
from workbench.repository import parse_source
from workbench.repository.store import Store

if TYPE_CHECKING:
    pass

GROUPS = ("synthetic", "real", "own")
TITLES = {"synthetic": "Synthetic", "real": "Real projects", "own": "Your own"}


@dataclass(frozen=True, slots=True)
class CaseEntry:
    """A case as listed; ``key`` is what a plan calls it: its id, or the source's text for one that was opened on the fly."""

    case: TestCase
    key: str
    fetched: bool


def sources_of(case: TestCase) -> tuple[str, ...]:
    return tuple(text for text in (case.source or f"folder:{case.repository}", *case.alternatives) if text)


def is_here(case: TestCase) -> bool:
    store = Store(paths.cache_dir().absolute())
    for text in sources_of(case):
        try:
            source = parse_source(text)
        except WorkbenchError:
            continue
        if source.kind == "folder" or store.recall(str(source)) is not None:
            return True
    return False


def entry_of(case: TestCase, key: str = "") -> CaseEntry:
    return CaseEntry(case, key or case.id, is_here(case))


def list_cases() -> tuple[tuple[CaseEntry, ...], tuple[str, ...]]:
    cases, problems = load_cases()
    return in_order(entry_of(case) for case in cases), problems


def in_order(entries: Iterable[CaseEntry]) -> tuple[CaseEntry, ...]:
    """Return entries by kind, then name; a kind that is not known comes last."""

    def place(entry: CaseEntry) -> tuple[int, str]:
        kind = entry.case.kind
        return (GROUPS.index(kind) if kind in GROUPS else len(GROUPS), entry.case.name.lower())

    return tuple(sorted(entries, key=place))
