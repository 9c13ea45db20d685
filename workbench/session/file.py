"""Open, create and migrate session files; every way in which that can fail is one sentence."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from workbench import __version__
from workbench.errors import WorkbenchError
from workbench.session import schema

SUFFIX = ".session"
_BUSY_MS = 10_000


class SessionError(WorkbenchError):
    """A session file cannot be used."""


class SessionMissing(SessionError):
    """There is no session at that path."""

    exit_code = 2


class SessionCorrupt(SessionError):
    """The file is damaged or not a session."""


class SessionNewer(SessionError):
    """The file was written by a newer version of the program."""


class SessionLocked(SessionError):
    """Somebody else is writing and did not let go in time."""


class SessionFull(SessionError):
    """The disk is full (or the file may not grow)."""


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors inside the block into sentences about ``path``."""
    try:
        yield
    except sqlite3.Error as error:
        raise translate(error, path) from error


def translate(error: sqlite3.Error, path: Path) -> SessionError:
    """Return the sentence for an SQLite error about ``path``."""
    words = str(error).lower()
    if "full" in words or "disk i/o" in words:
        return SessionFull(
            f"The disk is full: {path.name} could not be written. Everything finished so far is kept; "
            f"free some space, then run: workbench resume {path}"
        )
    if "locked" in words or "busy" in words:
        return SessionLocked(f"{path.name} is locked by another program; close it, then try again.")
    if "readonly" in words or "read-only" in words:
        return SessionError(f"{path.name} is read-only; copy it to a folder where you may write.")
    if "unable to open" in words:
        return SessionError(f"{path} cannot be opened; check that the folder exists and that you may write there.")
    return SessionCorrupt(
        f"{path.name} is damaged or not a session ({error}); nothing was changed. If you have a copy, open that."
    )


def connect(path: Path, *, write: bool) -> sqlite3.Connection:
    """Return a connection to an existing, current session file.

    Args:
        path: The session file.
        write: Whether rows may be written; a connection that only reads still needs to write side files
            while others write, so a file in a folder without write permission is opened as immutable.

    Raises:
        SessionError: The file is missing, damaged, newer, older (migrate first) or locked.
    """
    if not path.exists():
        raise SessionMissing(f"There is no session {path}; `workbench locate sessions` tells where they are kept.")
    connection, version = _opened(path, write=write)
    if version < schema.SCHEMA_VERSION:
        connection.close()
        migrate(path)
        connection, version = _opened(path, write=write)
    try:
        if version > schema.SCHEMA_VERSION:
            raise SessionNewer(
                f"{path.name} was written by a newer version of the workbench (schema {version}, this one knows "
                f"{schema.SCHEMA_VERSION}); upgrade the workbench to open it. The file was not changed."
            )
        with translated(path):
            if not write:
                connection.execute("PRAGMA query_only = ON")
            else:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("SELECT value FROM meta WHERE key = 'created_at'").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _opened(path: Path, *, write: bool) -> tuple[sqlite3.Connection, int]:
    """Return a bare connection to a session file and the file's schema version.

    Only SQLite may open the file: closing a file of one's own drops all POSIX locks that this process has on it, and
    then the next program to leave takes itself for the last and deletes the log from under a running engine
    (sqlite.org/howtocorrupt.html, 2.2).
    """
    if path.is_dir():
        raise SessionCorrupt(f"{path} is a folder, not a session file.")
    if path.stat().st_size < 100:
        raise _no_session(path)
    with translated(path):
        fixed = not write and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
        uri = f"{path.resolve().as_uri()}?{'immutable=1' if fixed else 'mode=rw'}"
        connection = sqlite3.connect(
            uri, uri=True, isolation_level=None, timeout=_BUSY_MS / 1000, check_same_thread=False
        )
        try:
            connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
            try:
                application = int(connection.execute("PRAGMA application_id").fetchone()[0])
                version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            except sqlite3.DatabaseError as error:
                if "not a database" in str(error):
                    raise _no_session(path) from None
                raise
            if application != schema.APPLICATION_ID:
                raise _no_session(path)
        except BaseException:
            connection.close()
            raise
    return connection, version


def _no_session(path: Path) -> SessionCorrupt:
    return SessionCorrupt(
        f"{path.name} is not a workbench session (or its first page is damaged); nothing was changed."
    )


def peek_version(path: Path) -> int:
    """Return the schema version of the file at ``path`` without changing it.

    Raises:
        SessionError: The file is no session or cannot be read.
    """
    connection, version = _opened(path, write=False)
    connection.close()
    return version


def create(path: Path, name: str | None = None) -> None:
    """Create an empty session file at ``path``; the folder is created too.

    The file appears complete or not at all: it is built beside its place and renamed.

    Raises:
        SessionError: The file exists or cannot be written.
    """
    if path.exists():
        raise SessionError(f"{path} exists already; choose another name or open it.")
    building = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with translated(path):
            connection = sqlite3.connect(building, isolation_level=None)
            try:
                connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
                connection.executescript(
                    f"BEGIN; {schema.TABLES} {schema.TRIGGERS} PRAGMA user_version = {schema.SCHEMA_VERSION}; COMMIT;"
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
        # A hard link fails where a rename would overwrite a session that somebody created meanwhile.
        try:
            os.link(building, path)
        except FileExistsError:
            raise SessionError(f"{path} exists already; choose another name or open it.") from None
        except OSError:
            building.rename(path)
    except OSError as error:
        raise SessionError(f"The session {path} cannot be created: {error.strerror}.") from None
    finally:
        building.unlink(missing_ok=True)


def migrate(path: Path) -> None:
    """Bring an older session file to the current schema, on a copy that then takes its place.

    Raises:
        SessionError: There is no way from that version, or the copy could not be made; the file is as it was.
    """
    version = peek_version(path)
    copy = path.with_name(f".{path.name}.{os.getpid()}.migrating")
    try:
        with translated(path):
            source = sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)
            target = sqlite3.connect(copy, isolation_level=None)
            try:
                source.backup(target)
                target.execute("BEGIN IMMEDIATE")
                while version < schema.SCHEMA_VERSION:
                    step = schema.MIGRATIONS.get(version)
                    if step is None:
                        raise SessionError(f"{path.name} has schema {version}, which this version cannot migrate.")
                    step(target)
                    version += 1
                    target.execute(f"PRAGMA user_version = {version}")
                target.execute("COMMIT")
                target.execute("PRAGMA journal_mode = WAL")
            finally:
                source.close()
                target.close()
        shutil.copymode(path, copy)
        copy.replace(path)
    except OSError as error:
        raise SessionError(f"{path.name} could not be migrated: {error.strerror}; it is as it was.") from None
    finally:
        for leftover in (copy, Path(f"{copy}-wal"), Path(f"{copy}-shm")):
            leftover.unlink(missing_ok=True)
