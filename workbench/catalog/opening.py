"""From a test case to its files: the first source that can be had, and the view that an agent gets of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbench.catalog.cases import TestCase
from workbench.repository import (
    DEFAULT_HIDDEN,
    ChecksumMismatch,
    FetchError,
    Snapshot,
    SourceUnavailable,
    UnsafeArchive,
    View,
    cached,
    fetch,
)


def snapshot_of(case: TestCase, *, progress: Callable[[str], None] | None = None) -> Snapshot:
    """Fetch a case's repository: its source, or the first of its alternatives that is in reach.

    What was fetched before is used again, also an alternative: a case stays with one content, and needs no network.
    Content that fails its checksum or is unsafe is refused at once: an alternative would hide it.

    Raises:
        ChecksumMismatch: As in `workbench.repository.fetch`.
        UnsafeArchive: As in `workbench.repository.fetch`.
        SourceUnavailable: None of the sources could be had; the sentence says what was tried.
    """
    if not case.source and not case.alternatives:
        # Named by its case: where the program lies on somebody's disk has no place in a session.
        return replace(fetch(f"folder:{case.repository}", progress=progress), source=f"case {case.id}")
    sources = [text for text in (case.source, *case.alternatives) if text]
    tried: list[tuple[str, FetchError]] = []
    for text in sources:
        if (snapshot := cached(text, expected_sha256=case.sha256.get(text))) is not None:
            return snapshot
    for number, text in enumerate(sources, 1):
        try:
            return fetch(text, expected_sha256=case.sha256.get(text), progress=progress)
        except (ChecksumMismatch, UnsafeArchive):
            raise
        except FetchError as error:
            tried.append((text, error))
            if progress is not None and number < len(sources):
                progress(f"{error} Trying {sources[number]}…")
    if len(tried) == 1:
        raise tried[0][1]
    attempts = "; ".join(f"{text}: {str(error).rstrip('.')}" for text, error in tried)
    raise SourceUnavailable(f"None of the {len(tried)} sources of '{case.id}' could be had ({attempts}).")


def view_of(case: TestCase, snapshot: Snapshot) -> View:
    """Return what an agent may see of a case's snapshot: the case's own patterns come on top of the default ones."""
    return View(snapshot.root, hidden=(*DEFAULT_HIDDEN, *case.hidden))
