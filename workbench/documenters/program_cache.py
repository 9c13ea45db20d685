"""The cache of docstrings from external programs, and the copy of a repository that such a program edits."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from workbench.base import paths
from workbench.base.errors import UsageError
from workbench.base.reasons import last_words
from workbench.documenters.types import Docstring, DocumentationFailed
from workbench.regeneration.grafting import collect_docstrings
from workbench.repository import Snapshot
from workbench.repository.functions import DefinitionKey

#: Incremented whenever the same program would produce different docstrings.
_FORMAT = 1
#: Name of the copy in the work folder.
COPY = "repository"
DOCSTRINGS_FILE = "docstrings.json"
"""Name of the file in a work folder that contains the program's docstrings."""
_BY_DEFINITION = ("texts", "edited")
_WAIT_SECONDS = 0.5
_GIT_SECONDS = 120


Texts = Mapping[tuple[str, DefinitionKey], str]


@dataclass(frozen=True, slots=True)
class WrittenDocs:
    """The docstrings by path and definition, including unchanged docstrings."""

    texts: Texts
    refused: Mapping[str, str] = field(default_factory=dict)
    # reasons for rejecting individual definitions in files that were accepted
    edited: Texts = field(default_factory=dict)

    def docstring(self, path: str, key: DefinitionKey, otherwise: str) -> Docstring:
        """Return a definition's docstring, or none with the reason; the default reason is ``otherwise``."""
        if path in self.refused:
            return Docstring(None, (f"refused: {self.refused[path]}",))
        if (path, key) in self.edited:
            return Docstring(None, (f"refused: {self.edited[path, key]}",))
        text = self.texts.get((path, key))
        return Docstring(text, () if text is not None else (otherwise,))


def read_edited(pristine: Path, copy: Path, paths: Iterable[str]) -> WrittenDocs:
    graft = collect_docstrings(pristine, copy, paths)
    return WrittenDocs(graft.definitions, graft.refused, graft.edited)


@dataclass(frozen=True, slots=True)
class DocumentedRepository(WrittenDocs):
    """A documented repository; ``counts`` has requests, tokens, dollars, seconds and the extent of documentation."""

    counts: Mapping[str, float] = field(default_factory=dict)
    made_at: float = field(default_factory=time.time)
    program: str = ""
    source: str = ""
    digest: str = ""


def cache_folder() -> Path:
    return paths.cache_dir() / "documented"


def read_documented(folder: Path) -> DocumentedRepository | None:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        data: dict[str, Any] = json.loads((folder / DOCSTRINGS_FILE).read_text(encoding="utf-8"))
        data.setdefault("edited", [])
        for field_name in _BY_DEFINITION:
            data[field_name] = {
                (path, DefinitionKey(kind, name, occurrence)): text
                for path, kind, name, occurrence, text in data[field_name]
            }
        return DocumentedRepository(**data)
    return None


class WorkFolder:
    """The cache folder of one program and one repository; ``basis`` contains all other inputs."""

    def __init__(self, snapshot: Snapshot, name: str, basis: str) -> None:
        self._snapshot = snapshot
        self._name = name
        stamp = json.dumps([_FORMAT, snapshot.digest, name, basis])
        self.folder = cache_folder() / hashlib.sha256(stamp.encode()).hexdigest()[:24]
        self.area = self.folder / "work"
        self.copy = self.area / COPY
        self.log = self.folder / "output.txt"

    @asynccontextmanager
    async def alone(self, waiting: Callable[[], None]) -> AsyncIterator[None]:
        """Lock the folder; ``waiting`` is called while another engine is documenting the same repository."""
        await asyncio.to_thread(self.folder.mkdir, parents=True, exist_ok=True)
        lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    waiting()
                    await asyncio.sleep(_WAIT_SECONDS)
            yield
        finally:
            os.close(lock)

    def save(self, documented: DocumentedRepository) -> None:
        data = asdict(documented)
        for name in _BY_DEFINITION:
            data[name] = [[path, *key, text] for (path, key), text in getattr(documented, name).items()]
        data |= {"program": self._name, "source": self._snapshot.source, "digest": self._snapshot.digest}
        part = self.folder / "docstrings.part"
        part.write_text(json.dumps(data), encoding="utf-8")
        part.replace(self.folder / DOCSTRINGS_FILE)
        remove_tree(self.area)

    def fresh_copy(self) -> Path:
        """Copy the files into a git repository with one commit that contains every file, and return the folder.

        The copy is always new, so a restarted program repeats its requests, whose answers are recorded in the session.
        In a half-edited copy it would send, and pay for, different requests.
        """
        remove_tree(self.area)
        for entry in self._snapshot.files:
            target = self.copy / entry.path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self._snapshot.root / entry.path, target)
            if os.access(self._snapshot.root / entry.path, os.X_OK):
                target.chmod(0o755)
        self.copy.mkdir(parents=True, exist_ok=True)
        ignore = self.copy / ".gitignore"
        if not ignore.exists():
            ignore.write_text("__pycache__/\n", encoding="ascii")
        # Forced, because the snapshot includes files that the repository's .gitignore excludes.
        for order in (
            ["init", "-q", "-b", "main"],
            ["add", "-A", "-f"],
            ["commit", "-q", "--allow-empty", "-m", "Snapshot"],
        ):
            _git(self.copy, order)
        return self.copy


def _git(folder: Path, order: Sequence[str]) -> None:
    settings = ("core.hooksPath=/dev/null", "core.autocrlf=false", "commit.gpgsign=false", "gc.auto=0")
    command = ["git", *(word for each in settings for word in ("-c", each)), *order]
    who = {f"GIT_{one}_{what}": value for one in ("AUTHOR", "COMMITTER")
           for what, value in (("NAME", "workbench"), ("EMAIL", "workbench@localhost"), ("DATE", "1700000000 +0000"))}  # fmt: skip
    variables = {
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    try:
        done = subprocess.run(
            command, cwd=folder, env=variables | who, capture_output=True, timeout=_GIT_SECONDS, check=False
        )
    except FileNotFoundError:
        raise DocumentationFailed("Programs that document a repository need git; install it.") from None
    except subprocess.TimeoutExpired:
        raise DocumentationFailed(f"git {order[0]} in {folder} did not end within {_GIT_SECONDS} s.") from None
    if done.returncode:
        why = last_words(done.stderr.decode("utf-8", "replace")) or f"exit status {done.returncode}"
        raise DocumentationFailed(f"git {order[0]} in {folder} failed: {why}.")


def remove_tree(folder: Path) -> None:
    """Remove a folder and everything in it as far as possible."""

    def again(function: Callable[[str], object], path: str, _: object) -> None:
        # A program may have changed the folder's permissions.
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)  # noqa: PTH101, PTH120
            os.chmod(path, 0o700)  # noqa: PTH101
            function(path)

    if folder.exists():
        shutil.rmtree(folder, onerror=again)


_ID = 8


@dataclass(frozen=True, slots=True)
class CachedDocs:
    """A work folder; ``documented`` is None if the program was interrupted or its output is unreadable."""

    id: str
    folder: Path
    documented: DocumentedRepository | None
    bytes: int
    changed_at: float


def cached_docs() -> list[CachedDocs]:
    found = []
    with contextlib.suppress(OSError):
        for folder in cache_folder().iterdir():
            if folder.is_dir() and not folder.is_symlink():
                documented = read_documented(folder)
                changed = documented.made_at if documented is not None else folder.stat().st_mtime
                found.append(CachedDocs(folder.name[:_ID], folder, documented, _bytes_in(folder), changed))
    return sorted(found, key=lambda one: (-one.changed_at, one.id))


def remove_cached(names: Sequence[str]) -> list[CachedDocs]:
    """Remove and return work folders by name prefix, or "all".

    Raises UsageError if a prefix matches no folder or several, or if a folder is in use.
    """
    every = cached_docs()
    chosen: dict[Path, CachedDocs] = {}
    for name in names:
        fitting = every if name == "all" else [one for one in every if one.folder.name.startswith(name.lower())]
        if not fitting and name != "all":
            raise UsageError(f"No cached documentation has the name {name!r}; workbench docs kept lists all.")
        if len(fitting) > 1 and name != "all":
            raise UsageError(
                f"The name {name!r} matches {len(fitting)} cached repositories; give more of its characters."
            )
        chosen |= {one.folder: one for one in fitting}
    with contextlib.ExitStack() as locked:
        for one in chosen.values():
            locked.enter_context(_locked(one))
        for one in chosen.values():
            remove_tree(one.folder)
    return list(chosen.values())


@contextlib.contextmanager
def _locked(one: CachedDocs) -> Iterator[None]:
    lock = os.open(one.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise UsageError(f"{one.id} is in use by a run; nothing was removed.") from None
    try:
        yield
    finally:
        os.close(lock)


def _bytes_in(folder: Path) -> int:
    total = 0
    for where, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(where, name)).st_size  # noqa: PTH118
    return total


KINDS = {"function": "functions", "class": "classes", "module": "modules"}


def summary_of(documented: DocumentedRepository) -> str:
    counts = documented.counts
    parts = [
        f"{counts[f'{kind}_documented']:,.0f} of {counts[kind]:,.0f} {plural}"
        for kind, plural in KINDS.items()
        if counts[kind] and (kind == "function" or counts[f"{kind}_documented"])
    ]
    parts[-1:] = [f"{parts[-1]} documented"] if parts else []
    if unchanged := sum(counts.get(f"{kind}_unchanged", 0) for kind in KINDS):
        # The repository's own docstrings that the program left unchanged.
        parts.append(f"{unchanged:,.0f} of these unchanged")
    for what, noun in (("refused", "file"), ("edited", "definition")):
        if count := counts.get(what, 0):
            parts.append(
                f"{count:,.0f} {noun}{'' if count == 1 else 's'} left out because "
                f"{'its' if count == 1 else 'their'} code was edited"
            )
    parts.append(f"{counts['requests']:,.0f} requests")
    if counts["failed_requests"]:
        parts.append(f"{counts['failed_requests']:.0f} failed")
    tokens = counts["prompt_tokens"] + counts["completion_tokens"]
    parts += [f"{tokens:,.0f} tokens"] if tokens else []
    parts += [f"${counts['cost_usd']:.2f}"] if counts["cost_usd"] else []
    parts.append(f"{counts['seconds']:.0f} s")
    return " · ".join(parts)
