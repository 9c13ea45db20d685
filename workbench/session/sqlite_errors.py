"""What stands behind SQLite's "disk I/O error" and "unable to open": looked up, because the error itself does not tell."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

from workbench.disks import is_full
from workbench.session.log import log_path

#: Less room than this is none: one transaction of a step with its texts takes more.
_NO_ROOM = 64 * 1024


def name_of(error: sqlite3.Error) -> str:
    """Return SQLite's extended name of an error, ``SQLITE_IOERR_SHORT_READ``; "" for an error that is not SQLite's own."""
    return str(getattr(error, "sqlite_errorname", "") or "")


def has_no_room(path: Path) -> bool:
    """Return whether the disk that holds ``path`` is full for this user."""
    return is_full(path.resolve().parent, _NO_ROOM)


def size_limit(path: Path) -> int | None:
    """Return the bytes to which a file of this process may grow (``ulimit -f``), if a session or its log has come there."""
    try:
        import resource
    except ImportError:
        return None  # not POSIX
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    return limit if max(_size(path), _size(log_path(path))) + _NO_ROOM >= limit else None


def log_was_deleted(error: sqlite3.Error, path: Path) -> bool:
    """Return whether the log that others still write was deleted or emptied: its index is there, its content is not.

    Who has it open goes on writing into a file without a name; who comes later finds less than the index says.
    """
    if name_of(error) not in ("SQLITE_IOERR_SHORT_READ", "SQLITE_IOERR_READ"):
        return False
    found = log_path(path)
    return found.with_name(found.name.removesuffix("-wal") + "-shm").exists() and _size(found) == 0


def has_no_descriptor() -> bool:
    """Return whether this process may open no more files (``ulimit -n``)."""
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
