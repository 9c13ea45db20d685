"""Test cases and whether they are available locally, the files of a case, and the text and outline of a file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.toolkit.document import TextDocument
from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.catalog import TestCase, load_cases, snapshot_of, view_of
from workbench.repository import FileEntry, Snapshot, parse_source, read_text
from workbench.repository.store import Store

if TYPE_CHECKING:
    from workbench.repository.functions import OutlineItem

GROUPS = ("synthetic", "real", "own")
TITLES = {"synthetic": "Synthetic", "real": "Real projects", "own": "Your own"}


@dataclass(frozen=True, slots=True)
class CaseEntry:
    """A listed case; ``key`` identifies the case in a plan: its id, or its source if the case is not in the catalog."""

    case: TestCase
    key: str
    fetched: bool


def sources_of(case: TestCase) -> tuple[str, ...]:
    return tuple(text for text in (case.source or f"folder:{case.repository}", *case.alternatives) if text)


def is_local(case: TestCase) -> bool:
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
    return CaseEntry(case, key or case.id, is_local(case))


def list_cases() -> tuple[list[CaseEntry], tuple[str, ...]]:
    """Return all cases of the catalog, sorted by name, and a message for each broken case."""
    cases, problems = load_cases()
    return [entry_of(case) for case in sorted(cases, key=lambda case: case.name.lower())], problems


READ_LIMIT = 400_000
"""Maximum number of characters shown of a file."""


@dataclass(frozen=True, slots=True)
class Node:
    """A file or folder of a repository; agents cannot list or read it if it is ``hidden``."""

    name: str
    path: str
    depth: int
    folder: bool
    size: int
    hidden: bool


@dataclass(frozen=True, slots=True)
class CaseFiles:
    """The files of a case in tree order, folders first; ``hidden`` is the number of files hidden from agents."""

    key: str
    snapshot: Snapshot
    nodes: Sequence[Node]
    hidden: int


@dataclass(frozen=True, slots=True)
class FileContent:
    """The content of a file, prepared for display."""

    path: str
    document: TextDocument
    outline: tuple[OutlineItem, ...]


def local_snapshot(case: TestCase) -> Snapshot | None:
    """Return a snapshot of the files of a case, or None if they are not available offline."""
    store = Store(paths.cache_dir().absolute())
    for text in sources_of(case):
        source = parse_source(text)
        if source.kind == "folder":
            return snapshot_of(case)
        known = store.recall(str(source))
        if known is not None and (snapshot := store.load(known)) is not None:
            return snapshot
    return None


def load_files(entry: CaseEntry) -> CaseFiles | None:
    """Return the files of a case, or None if they must be fetched first."""
    snapshot = local_snapshot(entry.case)
    if snapshot is None:
        return None
    visible = {file.path for file in view_of(entry.case, snapshot).files} & {file.path for file in snapshot.files}
    seen_folders = {folder for path in visible for folder in _folders(path)}
    nodes: dict[str, Node] = {}
    for file in sorted(snapshot.files, key=_in_tree):
        folders = _folders(file.path)
        for depth, folder in enumerate(folders):
            name = folder.rpartition("/")[2]
            nodes.setdefault(folder, Node(name, folder, depth, True, 0, folder not in seen_folders))
        name, hidden = file.path.rpartition("/")[2], file.path not in visible
        nodes[file.path] = Node(name, file.path, len(folders), False, file.size, hidden)
    return CaseFiles(entry.key, snapshot, tuple(nodes.values()), len(snapshot.files) - len(visible))


def _folders(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]


def _in_tree(file: FileEntry) -> list[tuple[bool, str, str]]:
    *folders, name = file.path.split("/")
    return [*((False, part.lower(), part) for part in folders), (True, name.lower(), name)]


def read_file(root: Path, path: str) -> FileContent:
    """Return the highlighted text of a file, cut if it is very long, and the outline if it is a Python file.

    Raises ViewError if the file cannot be read.
    """
    from workbench.app.toolkit.document import code

    file = read_text(root, path, limit=READ_LIMIT)
    cut = None
    if file.truncated:
        cut = f"Cut after {READ_LIMIT:,} characters of {file.size:,} bytes; full file: {root / path}"
    outline: tuple[OutlineItem, ...] = ()
    if path.endswith((".py", ".pyi")):
        from workbench.repository.functions import outline as outline_of

        outline = outline_of(file.text.encode("utf-8", "replace"), path)
    return FileContent(path, code(file.text, path, cut=cut), outline)


class Fetcher:
    """Fetches cases in a child process, because git and archive code must not run in the app's process."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()

    def fetch(self, entry: CaseEntry, progress: Callable[[str], None]) -> None:
        """Fetch the files of a case into the cache; raises WorkbenchError. Call from a thread."""
        process = subprocess.Popen(
            [sys.executable, "-m", "workbench", "cases", "--fetch", "--", entry.key],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8", errors="replace",
        )  # fmt: skip
        self._running.add(process)
        texts: list[str] = []
        try:
            assert process.stderr is not None
            for line in filter(str.strip, process.stderr):
                texts.append(line.strip())
                progress(texts[-1])
            code = process.wait()
        finally:
            self._running.discard(process)
            process.kill()
            process.wait()
        if code and (code < 0 or not texts):
            raise WorkbenchError(f"Fetching {entry.case.name} was interrupted.")
        if code:
            raise WorkbenchError("\n".join(texts).rpartition("workbench: ")[2])

    def close(self) -> None:
        for process in tuple(self._running):
            process.kill()
