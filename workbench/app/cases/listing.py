"""What the Cases mode lists: test cases with whether they are fetched."""

from __future__ import annotations

from dataclasses import dataclass

from workbench import paths
from workbench.catalog import TestCase, load_cases
from workbench.errors import WorkbenchError
from workbench.repository import parse_source
from workbench.repository.store import Store

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


def list_cases() -> tuple[list[CaseEntry], tuple[str, ...]]:
    """Return all cases of the catalog by name, and a sentence for each broken one."""
    cases, problems = load_cases()
    return [entry_of(case) for case in sorted(cases, key=lambda case: case.name.lower())], problems
