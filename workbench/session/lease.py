"""Leases: one engine executes a run, identified by process and heartbeat; only a dead engine's lease is taken over."""

from __future__ import annotations

import os
import secrets
import socket
import sqlite3
import time
from dataclasses import astuple, dataclass
from pathlib import Path

from workbench.base.errors import WorkbenchError

HEARTBEAT_SECONDS = 5.0
STALE_SECONDS = 30.0
WATCHED_SECONDS = 2.5 * HEARTBEAT_SECONDS
"""Seconds to watch a stale lease of another machine before taking it over."""


class RunHeld(WorkbenchError):
    """Another engine is executing the run."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A row of ``leases``; ``token`` is the secret name of the holder, and ``file`` identifies the session file."""

    run_id: str
    token: str
    pid: int
    process_started: str
    host: str
    heartbeat_at: float
    file: str = ""


def process_started(pid: int) -> str:
    """Return a process's start time, which distinguishes it from a later one with the same id, or "" if it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return ""
        except OSError:
            return "?"
        return "?"
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] == "Z" else fields[19]


def holder(connection: sqlite3.Connection, run_id: str) -> Lease | None:
    """Return the lease on a run if its holder is alive, or None.

    This is decided by the process table on this machine, or by the heartbeat for other machines.
    """
    row = connection.execute("SELECT * FROM leases WHERE run_id = ?", (run_id,)).fetchone()
    if row is None:
        return None
    lease = Lease(*row)
    if not isinstance(lease.pid, int) or not 0 < lease.pid < 2**31 or not isinstance(lease.heartbeat_at, int | float):
        return None  # damaged
    if lease.host == socket.gethostname():
        # A copied session also has the lease, but no engine writes to the copy, so the lease does not count there.
        if lease.file and lease.file != _file(connection):
            return None
        return lease if process_started(lease.pid) == lease.process_started else None
    # A heartbeat in the future is as stale as an old heartbeat, because a clock was changed.
    return lease if abs(time.time() - lease.heartbeat_at) < STALE_SECONDS else None


def beating_elsewhere(connection: sqlite3.Connection, run_id: str) -> tuple[str, float] | None:
    """Return token and heartbeat of a stale lease that another machine holds on this file, or None.

    The clocks may differ, so only a changing heartbeat proves that the holder is alive.
    """
    row = connection.execute("SELECT * FROM leases WHERE run_id = ?", (run_id,)).fetchone()
    if row is None or holder(connection, run_id) is not None:
        return None
    lease = Lease(*row)
    inode = str(lease.file).rpartition(":")[2]
    # Machines that share a file agree on its inode but not on its device.
    copied = inode and inode != _file(connection).rpartition(":")[2]
    return None if lease.host == socket.gethostname() or copied else (lease.token, lease.heartbeat_at)


def _file(connection: sqlite3.Connection) -> str:
    """Return device and inode of a session's file, which stay the same if it is moved but not if it is copied."""
    try:
        status = Path(connection.execute("PRAGMA database_list").fetchone()[2]).stat()
    except OSError:
        return ""
    return f"{status.st_dev}:{status.st_ino}"


def engine_lives(connection: sqlite3.Connection) -> bool:
    try:
        runs = [run for (run,) in connection.execute("SELECT run_id FROM leases")]
        return any(holder(connection, run) is not None for run in runs)
    except sqlite3.Error:
        return False


def acquire(connection: sqlite3.Connection, run_id: str) -> Lease:
    """Take the lease on a run, in a transaction that holds the write lock. Raises RunHeld if a living engine has it."""
    held = holder(connection, run_id)
    if held is not None:
        raise RunHeld(
            f"Run {run_id} is being executed by another engine (process {held.pid} on {held.host}); "
            "watch it in the app, or cancel it there first."
        )
    me = os.getpid()
    lease = Lease(
        run_id, secrets.token_hex(8), me, process_started(me), socket.gethostname(), time.time(), _file(connection)
    )
    connection.execute("INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?, ?, ?)", astuple(lease))
    return lease


def renew(connection: sqlite3.Connection, lease: Lease) -> None:
    connection.execute(
        "UPDATE leases SET heartbeat_at = ? WHERE run_id = ? AND token = ?", (time.time(), lease.run_id, lease.token)
    )


def release(connection: sqlite3.Connection, lease: Lease) -> None:
    connection.execute("DELETE FROM leases WHERE run_id = ? AND token = ?", (lease.run_id, lease.token))
