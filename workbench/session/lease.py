"""Who executes a run: one engine at a time, known by process and heartbeat, taken over only from the dead."""

from __future__ import annotations

import os
import secrets
import socket
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import WorkbenchError

HEARTBEAT_SECONDS = 5.0
STALE_SECONDS = 30.0


class RunHeld(WorkbenchError):
    """Another engine executes that run."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A row of ``leases``; ``token`` is the holder's secret name."""

    run_id: str
    token: str
    pid: int
    process_started: str
    host: str
    heartbeat_at: float


def process_started(pid: int) -> str:
    """Return a mark that tells a process from a later one with the same id ("" where there is no such process)."""
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
    """Return the lease on a run if its holder lives, else None.

    On the same machine the process table decides at once; for another machine the heartbeat does.
    """
    row = connection.execute(
        "SELECT run_id, token, pid, process_started, host, heartbeat_at FROM leases WHERE run_id = ?", (run_id,)
    ).fetchone()
    if row is None:
        return None
    lease = Lease(*row)
    if lease.host == socket.gethostname():
        return lease if process_started(lease.pid) == lease.process_started else None
    return lease if time.time() - lease.heartbeat_at < STALE_SECONDS else None


def acquire(connection: sqlite3.Connection, run_id: str) -> Lease:
    """Take the lease on a run.

    Raises:
        RunHeld: A living engine holds it.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        held = holder(connection, run_id)
        if held is not None:
            raise RunHeld(
                f"Run {run_id} is being executed by another engine (process {held.pid} on {held.host}); "
                "watch it in the app, or cancel it there first."
            )
        lease = Lease(
            run_id, secrets.token_hex(8), os.getpid(), process_started(os.getpid()), socket.gethostname(), time.time()
        )
        connection.execute(
            "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?, ?)",
            (run_id, lease.token, lease.pid, lease.process_started, lease.host, lease.heartbeat_at),
        )
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return lease


def renew(connection: sqlite3.Connection, lease: Lease) -> None:
    """Write a heartbeat."""
    connection.execute(
        "UPDATE leases SET heartbeat_at = ? WHERE run_id = ? AND token = ?", (time.time(), lease.run_id, lease.token)
    )


def release(connection: sqlite3.Connection, lease: Lease) -> None:
    """Give the lease back."""
    connection.execute("DELETE FROM leases WHERE run_id = ? AND token = ?", (lease.run_id, lease.token))
