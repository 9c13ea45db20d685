"""What the Sessions mode lists: session files with their contents and state, read without ever failing as a whole."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench import paths
from workbench.app.facts import SessionFacts, gather
from workbench.errors import WorkbenchError
from workbench.session import SUFFIX, SessionReader


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """A session file as listed; ``facts`` are None while it is being read and where ``problem`` says why it cannot be.

    ``changed_at`` is unix seconds: when something was recorded in it last, of a file that was not looked into when it was
    written last; ``size`` is in bytes; ``warnings`` tell of files beside it.
    """

    path: Path
    example: bool
    changed_at: float
    size: int
    facts: SessionFacts | None = None
    problem: str = ""
    warnings: tuple[str, ...] = ()


def found_sessions(also: Path | None = None) -> list[SessionEntry]:
    """Return the session files of the user's folder, the open one, then the bundled examples; newest first."""
    own = _in_folder(paths.sessions_dir(), example=False)
    examples = _in_folder(paths.bundled("sessions"), example=True)
    if also is not None and also.resolve() not in {entry.path.resolve() for entry in (*own, *examples)}:
        own += [entry for entry in [_entry(also, example=False)] if entry is not None]
    own.sort(key=lambda entry: entry.changed_at, reverse=True)
    return own + examples


def _in_folder(folder: Path, *, example: bool) -> list[SessionEntry]:
    try:
        names = sorted(path for path in folder.iterdir() if path.suffix == SUFFIX and not path.name.startswith("."))
    except OSError:
        return []
    return [entry for entry in (_entry(path, example=example) for path in names) if entry is not None]


def _entry(path: Path, *, example: bool) -> SessionEntry | None:
    try:
        status = path.stat()
        newest = status.st_mtime
        with contextlib.suppress(OSError):
            # What was written last may still be in the file beside it; an empty one only says that somebody reads.
            log = Path(f"{path}-wal").stat()
            newest = max(newest, log.st_mtime) if log.st_size else newest
    except OSError:
        return None
    return SessionEntry(path, example, newest, status.st_size)


def looked_into(entry: SessionEntry) -> SessionEntry:
    """Return the entry with what is in the file, or with the sentence of what is wrong with it."""
    facts, problem = None, ""
    warnings: tuple[str, ...] = ()
    try:
        with SessionReader(entry.path) as reader:
            facts, warnings = gather(reader), tuple(reader.warnings())
    except WorkbenchError as error:
        problem = str(error)
    except Exception as error:
        # One file that nobody foresaw must not keep the others from the list.
        problem = f"{entry.path.name} cannot be looked into ({type(error).__name__}: {error})."
    changed_at = facts.changed_at if facts is not None and facts.changed_at is not None else entry.changed_at
    return SessionEntry(entry.path, entry.example, changed_at, entry.size, facts, problem, warnings)


def newest_first(entries: Iterable[SessionEntry]) -> list[SessionEntry]:
    """Return the user's own sessions, newest first, then the examples."""
    return sorted(entries, key=lambda entry: (entry.example, -entry.changed_at))


def latest_session() -> Path | None:
    """Return the session that was changed last and can be opened, else a bundled example, else None."""
    for entry in found_sessions():
        try:
            SessionReader(entry.path, surveyed=False).close()
        except WorkbenchError:
            continue
        return entry.path
    return None


def side_files(path: Path) -> Iterator[Path]:
    """Yield a session file and what SQLite may have left beside it."""
    yield path
    for suffix in ("-wal", "-shm"):
        yield Path(f"{path}{suffix}")


def size_text(size: int) -> str:
    """Return a size in kB or MB."""
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{max(1, round(size / 1e3)):,} kB"
