"""Detect and rescue a session file that is removed, moved, replaced or overwritten while a writer has it open."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import sqlite3
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from workbench.base.files import building_beside, free_place
from workbench.session import log

#: Maximum size, in bytes, of a session that an engine caches in memory.
_MOST_REMEMBERED = 16_000_000


class Fate(Enum):
    """The state of a file that a writer has opened.

    ``MOVED``: it has a new name. ``REMOVED``: it was deleted, or another file took its name. ``OVERWRITTEN``: it is in
    place, but with the content of another file. ``WITHOUT_LOG``: its log is gone. ``LOG_EMPTIED``: its log was
    truncated.
    """

    IN_PLACE = "in place"
    MOVED = "moved"
    REMOVED = "removed"
    OVERWRITTEN = "overwritten"
    WITHOUT_LOG = "left without its log"
    LOG_EMPTIED = "left with an emptied log"


class Original:
    """The file that a writer opened, identified by inode and content."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # This handle can neither read nor write. Closing it does not drop SQLite's locks, unlike closing other handles.
        self._handle = os.open(path, os.O_PATH | os.O_CLOEXEC) if hasattr(os, "O_PATH") else -1
        self._inode = _inode(path)
        self._looked = self._stamp()
        self._age = log.age(path)
        self._log: tuple[int, int] | None = None
        self._logged = 0
        self._remembers = False
        self._image: bytes | None = None

    def close(self) -> None:
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)

    def _stamp(self) -> tuple[int, int]:
        with contextlib.suppress(OSError):
            status = self._path.stat()
            return status.st_mtime_ns, status.st_size
        return 0, 0

    def has_lost_log(self, connection: sqlite3.Connection) -> bool:
        """Return whether the log lost content that is not in the file.

        The connection is queried only if the log shrank.
        """
        before, self._logged = self._logged, log.log_size(self._path)
        # If the file changed too, our own checkpoint emptied the log, or the file was overwritten. In the latter case
        # it must not be read through the connection, which would then adopt the names of the other file.
        if self._logged >= before or self._stamp() != self._looked:
            return False
        try:
            recorded = connection.execute("SELECT transactions FROM log_identity").fetchone()[0]
        except sqlite3.OperationalError as error:
            return "locked" not in str(error)
        except sqlite3.Error:
            return True
        if log.log_size(self._path):
            return False
        in_file = log.age(self._path)
        return in_file is not None and in_file[1] < recorded

    def remember(self, connection: sqlite3.Connection, *, again: bool = False) -> None:
        """Cache the file's content in memory if it is small enough; later changes are in its log.

        Must be called outside any transaction, when the log is empty. With ``again``, the content is cached only if it
        was cached before.
        """
        if again and not self._remembers:
            return
        self._remembers = True
        with contextlib.suppress(sqlite3.Error, OSError, MemoryError):
            small = self._path.stat().st_size <= _MOST_REMEMBERED
            self._image = connection.serialize() if small else None

    def restored(self, log_file: Path | None) -> Path | None:
        """Write the cached content and newer log content to a new session beside the file; return its path, or None."""
        if self._image is None:
            return None
        target = _rescued(self._path)
        building = building_beside(target, "copy")
        with _built(building, target):
            building.write_bytes(self._image)
            beside = log.log_path(building)
            if log_file is not None:
                shutil.copyfile(log_file, beside)
                if not log.belongs(building):
                    beside.unlink()
            with contextlib.closing(sqlite3.connect(building, isolation_level=None)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                _made_its_own(connection)
        return target

    def fate(self) -> Fate:
        """Return what happened to the file; takes microseconds if nothing was written to it."""
        if _inode(self._path) != self._inode:
            linked = self._handle >= 0 and os.fstat(self._handle).st_nlink > 0
            return Fate.MOVED if linked else Fate.REMOVED
        beside = _inode(log.log_path(self._path))
        if self._log is None:
            self._log = beside if beside in _open_here() else None
        elif beside != self._log:
            # Another program has already opened the overwritten file and moved the log aside.
            aside = {_inode(kept) for kept in log.logs_set_aside(self._path)}
            return Fate.OVERWRITTEN if self._log in aside else Fate.WITHOUT_LOG
        stamp = self._stamp()
        if stamp[1] < log.HEADER:
            return Fate.OVERWRITTEN
        if stamp != self._looked:
            now = log.age(self._path)
            if now and self._age and (now[0] != self._age[0] or now[1] < self._age[1]):
                return Fate.OVERWRITTEN
            self._age = now or self._age
            if log.log_size(self._path):
                if not log.belongs(self._path):
                    return Fate.OVERWRITTEN
                # With an empty log, a fresh copy looks like the original; only the next write distinguishes them.
                self._looked = stamp
        return Fate.IN_PLACE


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def rescue(connection: sqlite3.Connection, path: Path) -> Path:
    """Copy the content seen by a connection to ``NAME.rescued.session`` (numbered) beside the lost file's path."""
    target = _rescued(path)
    copy_into(connection, target)
    return target


def _rescued(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return free_place(path.with_name(f"{path.stem}.rescued{path.suffix}"))


def copy_into(connection: sqlite3.Connection, target: Path) -> None:
    """Write a consistent copy of the content seen by a connection; it appears complete or not at all."""
    building = building_beside(target, "copy")
    with _built(building, target), contextlib.closing(sqlite3.connect(building, isolation_level=None)) as copy:
        connection.backup(copy)
        _made_its_own(copy)


def _made_its_own(copy: sqlite3.Connection) -> None:
    """Make a copy independent of the original: give it a new log identity and remove the leases of engines."""
    with contextlib.suppress(sqlite3.OperationalError):
        copy.execute("DELETE FROM leases")
        copy.execute(
            "UPDATE log_identity SET base = lower(hex(randomblob(16))), generation = lower(hex(randomblob(16)))"
        )


@contextlib.contextmanager
def _built(building: Path, target: Path) -> Iterator[None]:
    try:
        yield
        building.replace(target)
    finally:
        for leftover in (building, Path(f"{building}-wal"), Path(f"{building}-shm")):
            leftover.unlink(missing_ok=True)


def leave_open(connection: sqlite3.Connection, path: Path | None) -> Path | None:
    """Keep a connection open until the process ends, because closing it would write its log to the replacement file.

    The log beside the session file ``path`` is moved aside, unless ``path`` is None. Returns the log's new path, or
    None.
    """
    aside = log.set_aside(path) if path is not None and _inode(log.log_path(path)) in _open_here() else None
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
    if aside is None and path is not None:
        aside = next((one for one in log.logs_set_aside(path) if _inode(one) in _open_here()), None)
    return aside


def forget_log(path: Path) -> None:
    """Remove the log of this process's own lost file, wherever it is now, but no other program's log."""
    found = log.log_path(path)
    side = [found, found.with_name(found.name.removesuffix("-wal") + "-shm"), *log.logs_set_aside(path)]
    mine = _open_here()
    for file in side:
        if _inode(file) in mine:
            file.unlink(missing_ok=True)


def _open_here() -> set[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    with contextlib.suppress(OSError):
        for handle in Path("/proc/self/fd").iterdir():
            with contextlib.suppress(OSError):
                status = handle.stat()
                found.add((status.st_dev, status.st_ino))
    return found
