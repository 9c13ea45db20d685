"""The queue of a session: runs that wait for their turn, each with an engine that waits for it. Cheap to import.

A run in the queue has a ``turn``. Its engine starts at once, as a small process that imports nothing heavy yet, and takes the run
up only when no run of the session is being executed and none before it in the queue is about to be. So nothing has to hand over: an engine that dies takes only its own run
out of the queue, which is then interrupted and can be resumed like any other.
"""

from __future__ import annotations

import threading
from pathlib import Path

from workbench.errors import UsageError, WorkbenchError
from workbench.results.runs import waiting_runs
from workbench.session import SessionError, SessionReader, SessionWriter
from workbench.session.moved_files import Fate
from workbench.session.rows import RunRow

_LOOK_SECONDS = 0.25
#: After so many looks at which nothing was written, the queue is gone through all the same.
_LOOKS = 4


def enqueue(session: Path, run: str) -> None:
    """Let a run that was planned and not launched yet wait for its turn, after those that wait already."""
    with SessionWriter(session) as writer, writer.transaction() as connection:
        last = connection.execute("SELECT coalesce(max(turn), 0) FROM runs").fetchone()[0]
        connection.execute("UPDATE runs SET turn = ? WHERE id = ? AND state = 'queued'", (last + 1, run))


def move(session: Path, run: str, places: int) -> None:
    """Let a waiting run go so many places up (negative) or down in the queue, as far as it goes.

    Raises UsageError: it does not wait.
    """
    with SessionReader(session) as reader:
        rows = waiting_runs(reader)
    at = _place(rows, run)
    to = max(0, min(len(rows) - 1, at + places))
    order = [row.id for row in rows]
    order.insert(to, order.pop(at))
    turns = sorted(row.turn or 0.0 for row in rows)
    with SessionWriter(session) as writer, writer.transaction() as connection:
        for key, turn in zip(order, turns, strict=True):
            connection.execute("UPDATE runs SET turn = ? WHERE id = ? AND state = 'queued'", (turn, key))


def pause(session: Path, run: str, paused: bool) -> None:
    """Let a waiting run not come to its turn until it may go on; those behind it overtake it.

    Raises UsageError: it does not wait.
    """
    with SessionReader(session) as reader:
        _place(waiting_runs(reader), run)
    with SessionWriter(session) as writer, writer.transaction() as connection:
        connection.execute("UPDATE runs SET paused = ? WHERE id = ? AND state = 'queued'", (int(paused), run))


def has_turn(session: Path, run: str) -> bool:
    """Return whether a run waits in the queue, so that its engine may wait for long; False where that cannot be read."""
    try:
        with SessionReader(session, surveyed=False) as reader:
            row = reader.run(run)
    except WorkbenchError:
        return False
    return row is not None and row.state == "queued" and row.turn is not None


def come_to_turn(session: Path, run: str) -> None:
    """Wait until a run's turn has come. Raises SessionError: its session is gone, or cannot be read."""
    if not wait_for_turn(session, run):
        raise SessionError(f"{session.name} is gone, so its run was not begun.")


def wait_for_turn(session: Path, run: str) -> bool:
    """Wait until a run's turn has come; returns False where its session is gone meanwhile.

    A run that is in no queue, or was cancelled, is not waited for.
    """
    look, seen, looks = threading.Event(), -1, 0
    try:
        reader = SessionReader(session, surveyed=False)
    except (FileNotFoundError, SessionError):
        if session.exists():
            raise
        return False
    with reader:
        while reader.fate() is Fate.IN_PLACE:
            # Nothing tells of an engine that dies, so this also looks now and then where nothing was written.
            version, looks = reader.data_version(), looks + 1
            if version != seen or looks >= _LOOKS:
                seen, looks = version, 0
                row = reader.run(run)
                if row is None or row.state != "queued" or row.turn is None:
                    break
                if not row.paused and not _before(reader, row):
                    break
            look.wait(_LOOK_SECONDS)
        # Of a file that was deleted meanwhile nothing that was read holds.
        return reader.fate() is Fate.IN_PLACE


def _before(reader: SessionReader, mine: RunRow) -> bool:
    ahead = (run for run in waiting_runs(reader) if not run.paused)
    if next(ahead, mine).id != mine.id:
        return True
    going = (run for run in reader.every_run() if run.id != mine.id and run.state in {"queued", "running"})
    return any(reader.holder(run.id) is not None for run in going)


def _place(rows: list[RunRow], run: str) -> int:
    for place, row in enumerate(rows):
        if row.id == run:
            return place
    raise UsageError(f"Run {run} does not wait in the queue: it has begun, has ended, or its engine is gone.")
