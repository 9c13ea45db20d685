"""Open and create session files; each failure is described in one sentence."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench import __version__
from workbench.base.disks import is_full
from workbench.base.errors import WorkbenchError
from workbench.base.files import building_beside, put_in_place
from workbench.base.read_only import must_write
from workbench.base.text import one_line
from workbench.session import log, schema

SUFFIX = ".session"
BUSY_MS = 10_000

_COUNTED_STEPS, _LEAST_STEPS, _STEPS_PER_BYTE = 100_000, 50_000_000, 100

#: Names of SQLite's errors for failed writes.
_WRITING = frozenset(
    f"SQLITE_IOERR_{step}" for step in ("WRITE", "FSYNC", "DIR_FSYNC", "TRUNCATE", "SHMSIZE", "SHMMAP", "SHMOPEN")
)


class SessionError(WorkbenchError):
    """A session file that cannot be used."""


class SessionMissing(SessionError):
    """There is no session at the path."""

    exit_code = 2


class SessionCorrupt(SessionError):
    """The file is damaged or not a session."""


class SessionOfOtherVersion(SessionError):
    """The file has the schema of another Workbench version."""


class SessionLocked(SessionError):
    """Another program is writing and did not release its lock in time."""


class SessionExists(SessionError):
    """A session with that name already exists."""


class SessionFull(SessionError):
    """The disk is full, or the file has reached its size limit."""


class _Bounded(sqlite3.Connection):
    """A connection with a step limit, because a hostile file could contain a table that never ends."""

    _calls = 0  # of the progress handler until a statement is aborted

    def bound(self, path: Path) -> None:
        """Limit the steps of each statement in proportion to the size of the file."""
        self._calls = (_LEAST_STEPS + _STEPS_PER_BYTE * path.stat().st_size) // _COUNTED_STEPS

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        if self._calls:
            # The end of this iterator aborts the statement. It has no bytecode: in a handler written in Python, ctrl+c
            # would raise KeyboardInterrupt, which sqlite3 discards, and the session would be reported as damaged.
            self.set_progress_handler(itertools.repeat(False, self._calls).__next__, _COUNTED_STEPS)
        return super().execute(*arguments)


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise translate(error, path) from error


def translate(error: sqlite3.Error, path: Path) -> SessionError:
    words = str(error).lower()
    if "full" in words or (is_full(path.resolve().parent, _NO_ROOM) and _name_of(error) in _WRITING):
        return SessionFull(
            f"The disk is full: {path.name} could not be written. Everything finished so far is kept; "
            f"free some space, then run: workbench resume {path}"
        )
    if "interrupted" in words:
        return SessionCorrupt(f"{path.name} is damaged: checking it did not finish; nothing was changed.")
    if "disk i/o" in words:
        return _disk_error(error, path)
    if "locked" in words or "busy" in words:
        return SessionLocked(f"{path.name} is locked by another program; close it, then try again.")
    if "readonly" in words or "read-only" in words:
        return SessionError(f"{path.name} is read-only; copy it to a folder where you may write.")
    if "unable to open" in words and _has_no_descriptor():
        return SessionError(
            f"{path.name} cannot be opened: this program may open no more files; raise the limit (ulimit -n), then try again."
        )
    if "unable to open" in words:
        return SessionError(f"{path} cannot be opened; check that the folder exists and that you may write there.")
    return SessionCorrupt(
        f"{path.name} is damaged or not a session ({error}); nothing was changed. If you have a copy, open that."
    )


def _disk_error(error: sqlite3.Error, path: Path) -> SessionError:
    limit = _size_limit(path)
    if limit is not None and _name_of(error) in _WRITING:
        return SessionFull(
            f"{path.name} cannot grow: files are limited to {limit:,} bytes here (ulimit -f). Everything finished so "
            f"far is kept; raise that limit, then run: workbench resume {path}"
        )
    if _log_was_deleted(error, path):
        return SessionError(
            f"The log of {path.name} ({log.log_path(path).name}) was deleted while a program writes the session, "
            "so it cannot be read now; let that program end, which writes the log into the file, then try again."
        )
    if not path.exists():
        return SessionMissing(f"{path} was moved or deleted while it was open; put it back, then try again.")
    kind = _name_of(error).removeprefix("SQLITE_IOERR_").lower().replace("_", " ") or "no reason given"
    return SessionError(
        f"The disk refused {path.name} ({kind}), although it is not full: a quota, the disk itself or its connection; "
        "finished work is kept."
    )


def connect(path: Path, *, write: bool) -> sqlite3.Connection:
    """Return a connection to an existing session file.

    If the log beside the file belongs to another file, it is moved away first. If a killed engine left the file's own
    log behind, it is merged into the file, provided that the file is writable. Raises SessionError if the file is
    missing, damaged, locked, or from another version, or if its log cannot be read.
    """
    _require_session(path)
    with translated(path):
        if log.log_size(path) and not log.belongs(path):
            if not log.is_writable(path):
                raise SessionCorrupt(
                    f"The log beside {path.name} belongs to another file and cannot be moved away; "
                    f"copy {path.name} alone to another folder and open it there."
                )
            log.set_aside(path)
    connection = _opened(path, write=write)
    if not write and log.log_size(path):
        connection.close()
        log.tidy(path)
        connection = _opened(path, write=False)
    try:
        with translated(path):
            if write:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute("PRAGMA foreign_keys = ON")
                # Checkpoints are left to workbench.session.log, which renames the file at each of them.
                connection.execute("PRAGMA wal_autocheckpoint = 0")
            else:
                connection.execute("PRAGMA temp_store = MEMORY")
                connection.execute("PRAGMA query_only = ON")
            # Only a writer needs ``meta``; a reader shows as much as it can.
            connection.execute("SELECT 1 FROM " + ("meta" if write else "sqlite_master")).fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _require_session(path: Path) -> None:
    """Reject a path that cannot be a session without opening it, because opening a pipe would block forever."""
    try:
        status = path.stat()
    except OSError as error:
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            raise SessionMissing(
                f"There is no session {path}; `workbench locate sessions` prints their folder."
            ) from None
        raise SessionError(f"{path} cannot be opened: {error.strerror}.") from None
    if stat.S_ISDIR(status.st_mode):
        raise SessionCorrupt(f"{path} is a folder, not a session file.")
    if not stat.S_ISREG(status.st_mode):
        raise SessionCorrupt(f"{path} is not a regular file, so it is not a session.")
    if status.st_size < log.HEADER:
        raise _no_session(path)


def _opened(path: Path, *, write: bool) -> sqlite3.Connection:
    """Return a plain connection to a session file.

    Only SQLite may open the file. If we opened and closed it ourselves, we would drop all POSIX locks that this process
    holds on it. The next program to close the session would then think that it was the last one and delete the log of a
    running engine (sqlite.org/howtocorrupt.html, 2.2).
    """
    with translated(path):
        # There cannot be a writer if there is no log and no permission to create one, so open the file as immutable.
        fixed = not write and not log.log_size(path) and not log.is_writable(path)
        how = "mode=ro&immutable=1" if fixed else "mode=rw" if write else "mode=ro"
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?{how}",
            uri=True,
            isolation_level=None,
            timeout=BUSY_MS / 1000,
            check_same_thread=False,
            factory=_Bounded,
        )
        try:
            connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
            # The file may be hostile, so its schema must not call functions with side effects.
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            connection.bound(path)
            try:
                application = int(connection.execute("PRAGMA application_id").fetchone()[0])
                version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            except sqlite3.DatabaseError as error:
                if "not a database" in str(error):
                    raise _no_session(path) from None
                raise
            if application != schema.APPLICATION_ID:
                raise _no_session(path)
            if version != schema.SCHEMA_VERSION:
                raise SessionOfOtherVersion(
                    f"{path.name} was made by {_release(connection)} (schema {version}), and only that version "
                    "can read it: this is workbench "
                    f"{__version__}, for schema {schema.SCHEMA_VERSION}. The file was not changed."
                )
            if part := schema.foreign_part(connection):
                raise SessionCorrupt(
                    f"{path.name} was not opened: it contains {part}, which no workbench session has; nothing was "
                    "changed."
                )
        except BaseException:
            connection.close()
            raise
    return connection


def _release(connection: sqlite3.Connection) -> str:
    with contextlib.suppress(sqlite3.Error, TypeError):
        (made,) = connection.execute("SELECT value FROM meta WHERE key = 'created_by'").fetchone()
        return one_line(str(made), 60) or "an unknown release"
    return "an unknown release"


def _no_session(path: Path) -> SessionCorrupt:
    return SessionCorrupt(
        f"{path.name} is not a workbench session (or its first page is damaged); nothing was changed."
    )


def ensure(path: Path) -> bool:
    """Create an empty session unless it exists, and return whether this call created it.

    Several programs may try to create it at the same time.
    """
    if path.exists():
        return False
    try:
        create(path)
    except SessionExists:
        return False
    return True


def create(path: Path, name: str | None = None) -> None:
    """Create a session file and its folder, completely or not at all.

    Raises SessionError if the file exists or cannot be written.
    """
    must_write("make a session")
    if path.exists():
        raise SessionExists(f"{path} exists already; choose another name or open it.")
    building = building_beside(path, "new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with translated(path):
            connection = sqlite3.connect(building, isolation_level=None)
            try:
                connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
                connection.executescript(
                    f"BEGIN; {schema.TABLES} {schema.TRIGGERS} {schema.VIEWS} PRAGMA user_version = {schema.SCHEMA_VERSION}; COMMIT;"
                )
                connection.executemany(
                    "INSERT INTO meta VALUES (?, ?)",
                    [
                        ("name", name or path.stem),
                        ("created_at", repr(time.time())),
                        ("created_by", f"workbench {__version__}"),
                    ],
                )
                connection.execute("PRAGMA journal_mode = WAL")
            finally:
                connection.close()
        try:
            put_in_place(building, path)
        except FileExistsError:
            raise SessionExists(f"{path} exists already; choose another name or open it.") from None
    except OSError as error:
        raise SessionError(f"The session {path} cannot be created: {error.strerror}.") from None
    finally:
        building.unlink(missing_ok=True)


#: A disk with less free space (in bytes) counts as full, because a step with its texts may need more.
_NO_ROOM = 64 * 1024


def _name_of(error: sqlite3.Error) -> str:
    return str(getattr(error, "sqlite_errorname", "") or "")


def _size_limit(path: Path) -> int | None:
    """Return this process's file size limit in bytes (``ulimit -f``) if session or log has reached it, or None."""
    try:
        import resource
    except ImportError:
        return None  # not POSIX
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    return limit if max(_size(path), _size(log.log_path(path))) + _NO_ROOM >= limit else None


def _log_was_deleted(error: sqlite3.Error, path: Path) -> bool:
    """Return whether the log of an open session was deleted or emptied: its index exists, but its content does not.

    Programs that already have the log open write to an unlinked file, and programs that open it later find less than
    the index promises.
    """
    if _name_of(error) not in ("SQLITE_IOERR_SHORT_READ", "SQLITE_IOERR_READ"):
        return False
    found = log.log_path(path)
    return found.with_name(found.name.removesuffix("-wal") + "-shm").exists() and _size(found) == 0


def _has_no_descriptor() -> bool:
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in (errno.EMFILE, errno.ENFILE)
    return False


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
