"""Rename, trash and restore session files with their logs, unless a run is writing to them."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.base.files import building_beside, free_place
from workbench.base.read_only import must_write
from workbench.session import log
from workbench.session.file import BUSY_MS, SUFFIX, SessionError, SessionExists, SessionLocked
from workbench.session.lease import engine_lives
from workbench.session.reader import SessionReader

TRASH = "trash"
"""Name of the folder for deleted sessions, inside the folder of sessions."""
_NOTE = ".deleted.json"


@dataclass(frozen=True, slots=True)
class Deleted:
    """A session in the trash: its path, its original path, time of deletion (unix seconds), and size in bytes."""

    path: Path
    was: Path
    at: float
    size: int


def move(path: Path, target: Path) -> None:
    """Move a session file with its log.

    Raises SessionExists if the target exists, or SessionLocked if a program is writing the session.
    """
    must_write("move a session")
    if target.exists():
        raise SessionExists(f"{target} exists already; choose another name.")
    with _held(path) as beside:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            _rename(path, target)
            for file in beside:
                if file.exists():
                    _rename(file, target.with_name(target.name + file.name.removeprefix(path.name)))
        except FileExistsError:
            raise SessionExists(f"{target} exists already; choose another name.") from None
        except OSError as error:
            raise SessionError(f"{path.name} cannot be moved to {target}: {error.strerror}.") from None


def discard_empty(path: Path) -> bool:
    """Delete a session that has no runs, remarks or labels, and return whether it is gone.

    Raises SessionError if it cannot be read.
    """
    with SessionReader(path) as reader:
        if reader.all_runs() or reader.annotations() or reader.labels():
            return False
    with contextlib.suppress(SessionLocked), _held(path):
        path.unlink(missing_ok=True)
    return not path.exists()


@contextlib.contextmanager
def _held(path: Path) -> Iterator[list[Path]]:
    """Lock writers out of a session and yield the side files that have to move with it.

    The log of a damaged file is moved along unread.
    """
    if not path.is_file():
        raise SessionError(f"{path} no longer exists.")
    wal, index = Path(f"{path}-wal"), Path(f"{path}-shm")
    try:
        yield from _holding(path, wal)
    finally:
        # The index need not move, because SQLite recreates it.
        if not path.exists():
            with contextlib.suppress(OSError):
                index.unlink(missing_ok=True)


def _holding(path: Path, wal: Path) -> Iterator[list[Path]]:
    try:
        if log.log_size(path) and not log.belongs(path):
            log.set_aside(path)
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=BUSY_MS / 1000
        )
    except sqlite3.Error:
        yield [wal]
        return
    with contextlib.closing(connection):
        connection.set_progress_handler(lambda: True, log.MOST_STEPS)
        try:
            if engine_lives(connection):
                raise _busy(path)
            log.tidy(path)
            connection.execute("BEGIN IMMEDIATE")
            if log.log_size(path) or engine_lives(connection):
                raise _busy(path)
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                raise _busy(path) from None
            yield [wal]
            return
        except sqlite3.DatabaseError:
            yield [wal]
            return
        yield []
        if not path.exists():
            # The log is empty and no longer belongs to any file, so delete it.
            with contextlib.suppress(OSError):
                wal.unlink(missing_ok=True)


def _busy(path: Path) -> SessionLocked:
    return SessionLocked(f"{path.name} is being written: cancel its run, or let the other program end, then try again.")


def _rename(path: Path, target: Path) -> None:
    try:
        os.link(path, target)  # unlike a rename, this fails if the name was taken in the meantime
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno == errno.EXDEV:
            building = building_beside(target, "moving")
            try:
                shutil.copy2(path, building)
                building.rename(target)
            finally:
                building.unlink(missing_ok=True)
        else:
            path.rename(target)
            return
    path.unlink()


# -- the trash


def delete(path: Path, folder: Path) -> Deleted:
    place = free_place(folder / TRASH / path.name, lambda place: place.exists() or _note(place).exists())
    size = path.stat().st_size if path.exists() else 0
    deleted = Deleted(place, path.absolute(), time.time(), size)
    move(path, place)
    with contextlib.suppress(OSError):  # on failure, the session is restored to the folder of sessions
        _note(place).write_text(json.dumps({"was": str(deleted.was), "at": deleted.at}), encoding="utf-8")
    return deleted


def deleted_sessions(folder: Path) -> list[Deleted]:
    """Return the sessions in a folder's trash, most recently deleted first.

    This includes files placed there by hand.
    """
    try:
        files = [file for file in (folder / TRASH).iterdir() if file.suffix == SUFFIX and not file.name.startswith(".")]
    except OSError:
        return []
    found = []
    for file in files:
        with contextlib.suppress(OSError):
            status = file.stat()
            was, at = _noted(file, folder / file.name, status.st_mtime)
            found.append(Deleted(file, was, at, status.st_size))
    return sorted(found, key=lambda one: (-one.at, one.path.name))


def restore(deleted: Deleted) -> Path:
    """Restore a session to its original path, with a number appended if the path is taken.

    Raises SessionError if the file is gone.
    """
    place = free_place(deleted.was)
    if not deleted.path.exists():
        raise SessionError(f"{deleted.path.name} is no longer in the trash.")
    move(deleted.path, place)
    _note(deleted.path).unlink(missing_ok=True)
    return place


def _note(place: Path) -> Path:
    return place.with_name(place.name + _NOTE)


def _noted(place: Path, was: Path, at: float) -> tuple[Path, float]:
    try:
        values = json.loads(_note(place).read_text(encoding="utf-8"))
        return Path(str(values["was"])), float(values["at"])
    except (OSError, ValueError, KeyError, TypeError):
        return was, at
