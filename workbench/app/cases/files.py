"""The files of a case as a tree that is opened folder by folder, and one file's text with its outline."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import paths
from workbench.app.cases.listing import CaseEntry, sources_of
from workbench.app.toolkit.document import Document
from workbench.catalog import TestCase, snapshot_of, view_of
from workbench.errors import WorkbenchError
from workbench.repository import Snapshot, parse_source, read_text
from workbench.repository.store import Store

if TYPE_CHECKING:
    from workbench.repository.functions import OutlineItem

READ_LIMIT = 400_000
"""Characters of a file that are shown; a notice says so and how to see the rest."""


@dataclass(frozen=True, slots=True)
class Node:
    """A file or folder of a repository; ``hidden`` is what agents neither list nor read."""

    name: str
    path: str
    folder: bool
    size: int
    hidden: bool


@dataclass(frozen=True, slots=True)
class Repository:
    """The files of a case by folder path ("" is the root), folders first; ``hidden`` is how many agents do not see."""

    key: str
    snapshot: Snapshot
    children: dict[str, tuple[Node, ...]]
    hidden: int


@dataclass(frozen=True, slots=True)
class FileShown:
    """One file ready for the screen."""

    path: str
    document: Document
    outline: tuple[OutlineItem, ...]


def local_snapshot(case: TestCase) -> Snapshot | None:
    """Return the files of a case if they can be had without the network, else None."""
    store = Store(paths.cache_dir().absolute())
    for text in sources_of(case):
        source = parse_source(text)
        if source.kind == "folder":
            return snapshot_of(case)
        known = store.recall(str(source))
        if known is not None and (snapshot := store.load(known)) is not None:
            return snapshot
    return None


def open_repository(entry: CaseEntry) -> Repository | None:
    """Return the files of a case, None if they must be fetched first."""
    snapshot = local_snapshot(entry.case)
    if snapshot is None:
        return None
    visible = {file.path for file in view_of(entry.case, snapshot).files} & {file.path for file in snapshot.files}
    contents: dict[str, dict[str, Node]] = {"": {}}
    shown_folders: set[str] = set()
    for file in snapshot.files:
        parts = file.path.split("/")
        hidden = file.path not in visible
        for depth in range(len(parts) - 1):
            folder, parent = "/".join(parts[: depth + 1]), "/".join(parts[:depth])
            if folder not in contents:
                contents[folder] = {}
                contents[parent][parts[depth]] = Node(parts[depth], folder, True, 0, True)
            if not hidden:
                shown_folders.add(folder)
        contents["/".join(parts[:-1])][parts[-1]] = Node(parts[-1], file.path, False, file.size, hidden)
    children = {}
    for folder, names in contents.items():
        nodes = [
            Node(node.name, node.path, True, 0, node.path not in shown_folders) if node.folder else node
            for node in names.values()
        ]
        children[folder] = tuple(sorted(nodes, key=lambda node: (not node.folder, node.name.lower(), node.name)))
    return Repository(entry.key, snapshot, children, len(snapshot.files) - len(visible))


def read_file(root: Path, path: str) -> FileShown:
    """Return a file coloured, cut where it is very long, with its outline if it is Python; raises ViewError where it cannot be shown."""
    from workbench.app.toolkit.document import code

    file = read_text(root, path, limit=READ_LIMIT)
    cut = None
    if file.truncated:
        cut = f"Cut after {READ_LIMIT:,} characters of {file.size:,} bytes; the file itself: {root / path}"
    outline: tuple[OutlineItem, ...] = ()
    if path.endswith((".py", ".pyi")):
        from workbench.repository.functions import outline as outline_of

        outline = outline_of(file.text.encode("utf-8", "replace"), path)
    return FileShown(path, code(file.text, path, cut=cut), outline)


class Fetcher:
    """Fetches a case in a child process, because git and archive code have no place in the app's process."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()

    def fetch(self, entry: CaseEntry, progress: Callable[[str], None]) -> None:
        """Fetch the files of a case into the cache, in a thread; raises WorkbenchError."""
        process = subprocess.Popen(
            [sys.executable, "-m", "workbench", "cases", "--fetch", "--", entry.key],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8", errors="replace",
        )  # fmt: skip
        self._running.add(process)
        said: list[str] = []
        try:
            assert process.stderr is not None
            for line in filter(str.strip, process.stderr):
                said.append(line.strip())
                progress(said[-1])
            code = process.wait()
        finally:
            self._running.discard(process)
            process.kill()
            process.wait()
        if code and (code < 0 or not said):
            raise WorkbenchError(f"Fetching {entry.case.name} was interrupted.")
        if code:
            raise WorkbenchError("\n".join(said).rpartition("workbench: ")[2])

    def close(self) -> None:
        for process in tuple(self._running):
            process.kill()
