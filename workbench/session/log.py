"""The write-ahead log beside a session file: whether it belongs to the file, and checkpoints.

SQLite applies any log that it finds next to a database under the right name. If the database was removed and replaced
with a backup, that log has pages of another file and destroys the backup. To prevent this, every transaction writes the
row of ``log_identity`` to the log, and every checkpoint gives the file a new name:

- ``generation`` is the file's name after the current checkpoint is complete,
- ``base`` is the file's name before it.

A log belongs to a file if the file's own name, read without the log, is one of the two names in the log. This always
holds, no matter how many programs write and checkpoint a session, because a new ``generation`` is only created once the
file has the previous one. The order matters because SQLite may copy pages into the file during another program's
transaction.
"""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

from workbench.session import lease

#: Number of reads before differing names count, because two reads are not atomic and engines may write between them.
_LOOKS = 6
_MOST_LOOKS = 100
_PAUSE_SECONDS = 0.02
MOST_STEPS = 1_000_000
HEADER = 100  # bytes; a smaller file is not a database
_NAMES = "SELECT base, generation FROM log_identity"


class ForeignLog(sqlite3.DatabaseError):
    """The file is not the file to which the connection's log belongs."""


def log_path(path: Path) -> Path:
    real = path.resolve()
    return real.with_name(f"{real.name}-wal")


def log_size(path: Path) -> int:
    try:
        return log_path(path).stat().st_size
    except OSError:
        return 0


def is_writable(path: Path) -> bool:
    real = path.resolve()
    return os.access(real, os.W_OK) and os.access(real.parent, os.W_OK)


def touch(connection: sqlite3.Connection, path: Path) -> None:
    """Write the names to the log, in a transaction that holds the write lock."""
    base, generation = connection.execute(_NAMES).fetchone()
    if base != generation:
        # A checkpoint was made. Once the file has its new name, the log belongs to that file alone.
        own = _names(path, "mode=ro&immutable=1")
        if own and own[1] == generation:
            base = generation
    connection.execute("UPDATE log_identity SET base = ?, transactions = transactions + 1", (base,))


def belongs(path: Path) -> bool:
    """Return whether the log beside a session file is its own, without writing anything."""
    pause = threading.Event()
    before, same = None, 0
    for _ in range(_MOST_LOOKS):
        logged = _names(path, "mode=ro")
        own = _names(path, "mode=ro&immutable=1")
        if logged is None:
            # If the file is unreadable with the log but readable without it, the log is at fault.
            return own is None
        if own is None:
            return _is_sound(path)
        if own[1] in logged:
            return True
        # If the names keep changing, the session is being written; if they stay different, there are two different
        # files.
        same = same + 1 if (logged, own) == before else 1
        if same == _LOOKS:
            return False
        before = (logged, own)
        pause.wait(_PAUSE_SECONDS)
    return False


def age(path: Path) -> tuple[str, int] | None:
    """Return a session's creation time and the file's number of transactions, ignoring its log, or None if unreadable.

    SQLite does not notice if a file's content is replaced. The number of transactions reveals it, because it only ever
    grows within a session.
    """
    with (
        contextlib.suppress(sqlite3.Error, OSError, TypeError, ValueError, OverflowError),
        _opened(path, "mode=ro&immutable=1") as connection,
    ):
        created = connection.execute("SELECT value FROM meta WHERE key = 'created_at'").fetchone()[0]
        return str(created), int(connection.execute("SELECT transactions FROM log_identity").fetchone()[0])
    return None


def _names(path: Path, how: str) -> tuple[str, ...] | None:
    """Return (base, generation) as seen with or without the log, or None if unreadable."""
    with contextlib.suppress(sqlite3.Error, OSError), _opened(path, how) as connection:
        row = connection.execute(_NAMES).fetchone()
        return tuple(map(str, row)) if row else None
    return None


def _is_sound(path: Path) -> bool:
    with contextlib.suppress(sqlite3.Error, OSError), _opened(path, "mode=ro") as connection:
        connection.set_progress_handler(None, 0)
        return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    return False


@contextlib.contextmanager
def _opened(path: Path, how: str) -> Iterator[sqlite3.Connection]:
    if path.stat().st_size < HEADER:
        # SQLite would delete the log of an empty file, which contains the most recent data.
        raise sqlite3.DatabaseError("file is not a database")
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True, isolation_level=None, timeout=2.0)
    # The queried tables have one row, but a hostile file could make them endless, so limit the query.
    connection.set_progress_handler(lambda: True, MOST_STEPS)
    try:
        yield connection
    finally:
        connection.close()


def set_aside(path: Path) -> Path | None:
    found, number = log_path(path), 1
    while (target := found.with_name(f"{path.resolve().name}.foreign-log-{number}")).exists():
        number += 1
    try:
        found.rename(target)
    except OSError:
        return None
    with contextlib.suppress(OSError):
        found.with_name(found.name.removesuffix("-wal") + "-shm").unlink(missing_ok=True)
    return target


def logs_set_aside(path: Path) -> list[Path]:
    real = path.resolve()
    with contextlib.suppress(OSError):
        return sorted(real.parent.glob(f"{glob.escape(real.name)}.foreign-log-*"))
    return []


def _sync(log: Path) -> None:
    """Sync the log now, so that the checkpoint does not wait for the disk between its check and its first write."""
    with contextlib.suppress(OSError):
        handle = os.open(log, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def checkpoint(connection: sqlite3.Connection, path: Path, busy_ms: int) -> bool:
    """Checkpoint without waiting for readers, and return whether the file now contains the whole log.

    ``busy_ms`` is the connection's time limit for locks, which is restored afterwards. Raises ForeignLog if the file
    was replaced by another file's content, without writing to it, or sqlite3.Error if the file is not writable.
    """
    if not log_size(path):
        return True
    _sync(log_path(path))
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        connection.execute("BEGIN IMMEDIATE")
        base, generation = connection.execute(_NAMES).fetchone()
        own = _names(path, "mode=ro&immutable=1")
        if not own:
            connection.execute("ROLLBACK")
            return False
        if own[1] not in (base, generation):
            connection.execute("ROLLBACK")
            raise ForeignLog(f"{path.name} contains the content of another file")
        # Until the file has its new name, another program may be about to write that same name.
        names = (generation, secrets.token_hex(16)) if own[1] == generation else (base, generation)
        connection.execute("UPDATE log_identity SET base = ?, generation = ?, transactions = transactions + 1", names)
        connection.execute("COMMIT")
        # Check again as late as possible; an overwrite after this point is a known limitation.
        if not belongs(path):
            raise ForeignLog(f"{path.name} contains the content of another file")
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy
    except sqlite3.OperationalError as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if "locked" in str(error) or "busy" in str(error):
            return False
        raise
    finally:
        connection.execute(f"PRAGMA busy_timeout = {busy_ms}")


def tidy(path: Path) -> None:
    """Checkpoint the log and remove the side files, unless another program uses the session.

    A closed session should be a single file, and a read-only connection cannot remove the side files itself.
    """
    if not log_path(path).exists() or not is_writable(path) or (log_size(path) and not belongs(path)):
        return
    with contextlib.suppress(sqlite3.Error, OSError), _opened(path, "mode=rw") as connection:
        if log_size(path) and lease.engine_lives(connection):
            return  # the engine makes its own checkpoints
        connection.execute(_NAMES).fetchone()  # without a query, the connection would leave an empty log behind
        checkpoint(connection, path, 2000)
