"""Get a test case's files: a snapshot of its first available source, and the view of it that an agent gets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, replace

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
    parse_source,
)


def snapshot_of(case: TestCase, *, progress: Callable[[str], None] | None = None) -> Snapshot:
    """Fetch a case's repository: its source, or the first of its alternatives that can be reached.

    Whatever was fetched before, even an alternative, is used again: the case's content does not change, and no network is
    needed. Content with a wrong checksum or unsafe content is refused at once, as an alternative would hide the problem.

    Raises:
        FetchError: None of the sources could be fetched; the message says what was tried.
    """
    if not case.source and not case.alternatives:
        # Named after its case: paths of this machine must not appear in a session.
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
    raise SourceUnavailable(f"None of the {len(tried)} sources of '{case.id}' could be fetched ({attempts}).")


def current_snapshot(case: TestCase) -> Snapshot | None:
    """Return the current content of a case's repository if it can change and can be read without the network.

    Folders, archives and local branches are read again; for a remote branch, it is the content fetched before. Returns
    None for a pinned release and for a remote branch that was never fetched.
    """
    source = parse_source(case.source) if case.source else None
    if source is None or source.kind in {"folder", "archive"} or source.location.startswith("file://"):
        return snapshot_of(case)
    if source.kind == "sdist":
        return None
    return cached(case.source, expected_sha256=case.sha256.get(case.source))


def kept_snapshot(case: TestCase, digest: str) -> Snapshot | None:
    """Return an earlier content of a case's repository, by its digest, if it is still cached."""
    from workbench import paths
    from workbench.repository.store import Known, Store

    source = case.source or f"case {case.id}"
    return Store(paths.cache_dir().absolute()).load(Known(source, digest, "", "", 0.0)) if digest else None


def content_of(case: TestCase, snapshot: Snapshot | None) -> str:
    """Return a digest of everything that a trial of a case depends on and that can change under the case's name.

    This covers the repository (:func:`current_snapshot`; None leaves it out), its hidden paths, the descriptions that the agent
    sees, and the ground truth used for scoring. It is "" for a pinned release without ground truth.
    """
    if snapshot is None and case.facts is None and case.reference_readme is None:
        return ""
    shown_to_agent = [case.name, case.agent_description, *case.hidden]
    truth = [asdict(case.facts) if case.facts else None, case.reference_readme]
    text = json.dumps([snapshot.digest if snapshot else "", shown_to_agent, truth], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def view_of(case: TestCase, snapshot: Snapshot) -> View:
    return View(snapshot.root, hidden=(*DEFAULT_HIDDEN, *case.hidden))
