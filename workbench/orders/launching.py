"""Start engine processes, wait in the queue of a session, and report how engines ended.

Cheap to import. The functions spend some milliseconds on reading and writing files, so the app calls them in threads.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Collection
from pathlib import Path

from workbench.base import paths
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.read_only import must_write
from workbench.results.runs import waiting_runs
from workbench.session import SessionError, SessionReader, SessionWriter, engine_starts
from workbench.session.moved_files import Fate
from workbench.session.rows import RunRow

_LOOK_SECONDS = 0.25
#: The number of polls after which the queue is checked even if the session has not changed.
_LOOKS = 4


def enqueue(session: Path, run: str) -> None:
    """Put a planned run at the end of its session's queue."""
    with SessionWriter(session) as writer, writer.transaction() as connection:
        last = connection.execute("SELECT coalesce(max(queue_position), 0) FROM runs").fetchone()[0]
        connection.execute("UPDATE runs SET queue_position = ? WHERE id = ? AND state = 'queued'", (last + 1, run))


def move(session: Path, run: str, places: int) -> None:
    """Move a queued run up (negative ``places``) or down. Raises UsageError if it is not queued."""
    with SessionReader(session) as reader:
        rows = waiting_runs(reader)
    at = _place(rows, run)
    to = max(0, min(len(rows) - 1, at + places))
    order = [row.id for row in rows]
    order.insert(to, order.pop(at))
    turns = sorted(row.queue_position or 0.0 for row in rows)
    with SessionWriter(session) as writer, writer.transaction() as connection:
        for key, turn in zip(order, turns, strict=True):
            connection.execute("UPDATE runs SET queue_position = ? WHERE id = ? AND state = 'queued'", (turn, key))


def pause(session: Path, run: str, paused: bool) -> None:
    """Pause or continue a queued run; later runs overtake a paused one. Raises UsageError if it is not queued."""
    with SessionReader(session) as reader:
        _place(waiting_runs(reader), run)
    with SessionWriter(session) as writer, writer.transaction() as connection:
        connection.execute("UPDATE runs SET paused = ? WHERE id = ? AND state = 'queued'", (int(paused), run))


def has_turn(session: Path, run: str) -> bool:
    """Return whether a run is queued; False if the session cannot be read."""
    try:
        with SessionReader(session, surveyed=False) as reader:
            row = reader.run(run)
    except WorkbenchError:
        return False
    return row is not None and row.state == "queued" and row.queue_position is not None


def require_turn(session: Path, run: str) -> None:
    if not wait_for_turn(session, run):
        raise SessionError(f"{session.name} no longer exists, so its run was not started.")


def wait_for_turn(session: Path, run: str) -> bool:
    """Wait until it is the turn of a queued run; return False if its session disappears in the meantime."""
    waiting, seen, polls = threading.Event(), -1, 0
    try:
        reader = SessionReader(session, surveyed=False)
    except (FileNotFoundError, SessionError):
        if session.exists():
            raise
        return False
    with reader:
        while reader.fate() is Fate.IN_PLACE:
            # An engine that dies does not change the session, so do not wait for a change before checking again.
            version, polls = reader.data_version(), polls + 1
            if version != seen or polls >= _LOOKS:
                seen, polls = version, 0
                row = reader.run(run)
                if row is None or row.state != "queued" or row.queue_position is None:
                    break
                if not row.paused and not _before(reader, row):
                    break
            waiting.wait(_LOOK_SECONDS)
        # Values read from a file that has since been deleted are no longer valid.
        return reader.fate() is Fate.IN_PLACE


def _before(reader: SessionReader, mine: RunRow) -> bool:
    ahead = (run for run in waiting_runs(reader) if not run.paused)
    if next(ahead, mine).id != mine.id:
        return True
    going = (run for run in reader.all_runs() if run.id != mine.id and run.state in {"queued", "running"})
    return any(reader.holder(run.id) is not None for run in going)


def wait_for_others(session: Path, own: Collection[str] = ()) -> None:
    """Wait until no run of a session is queued or running, except the runs in ``own``."""
    waiting = threading.Event()
    with SessionReader(session, surveyed=False) as reader:
        while reader.fate() is Fate.IN_PLACE and any(
            run.state in {"queued", "running"}
            and (engine_starts.is_coming(run.id) or reader.holder(run.id) is not None)
            for run in reader.all_runs()
            if run.id not in own
        ):
            waiting.wait(_LOOK_SECONDS)


def _place(rows: list[RunRow], run: str) -> int:
    for place, row in enumerate(rows):
        if row.id == run:
            return place
    raise UsageError(f"Run {run} is not in the queue: it has started, has ended, or its engine is gone.")


def engine_log(run: str) -> Path:
    return paths.state_dir() / "engine" / f"{run}.log"


def last_words(run: str) -> str:
    """Return the last line of a run's log, or "" if the log is empty.

    For an engine started by this process, only the output of that engine counts.
    """
    try:
        text = engine_log(run).read_bytes()[_launched[run][1] if run in _launched else 0 :]
    except OSError:
        return ""
    lines = text.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""


def engine_process(arguments: list[str], log: Path, *, stdin: int, stdout: int | None) -> subprocess.Popen[bytes]:
    """Start ``python -m workbench.engine`` in its own process session, with its output appended to ``log``."""
    log.parent.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ)
    # Without bytecode files, every engine would have to compile its libraries again, which takes seconds.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "workbench.engine", *arguments],
            stdin=stdin,
            stdout=stdout if stdout is not None else output,
            stderr=output,
            start_new_session=True,
            env=environment,
            close_fds=True,
        )
    # Reap the engine when it ends. Otherwise it stays a zombie if the caller never asks for its exit code.
    threading.Thread(target=process.wait, daemon=True).start()
    return process


def engine_for(session: Path, kind: str, key: str, log: str = "", *, queue: bool = False) -> subprocess.Popen[bytes]:
    """Start an engine for a ``run``, ``study`` or ``improvement``; it outlives the caller."""
    arguments = ["--session", str(session.resolve()), f"--{kind}", key, *(["--queue"] if queue else [])]
    return engine_process(arguments, engine_log(log or key), stdin=subprocess.DEVNULL, stdout=None)


class WarmEngine:
    """An idle engine process that has imported its libraries; closing it never stops an active run."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        if self._process is None or self._process.poll() is not None:
            self._process = engine_process(
                ["--warm"], paths.state_dir() / "engine" / "warm.log", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
            )

    def serve(self, session: Path, run: str) -> subprocess.Popen[bytes] | None:
        """Assign a run to the idle process, start the next idle one, and return the process that serves the run.

        Return None if there is no idle process.
        """
        process, self._process = self._process, None
        if process is None or process.poll() is not None or process.stdin is None:
            return None
        order = json.dumps({"session": str(session.resolve()), "run": run, "log": str(engine_log(run))})
        try:
            process.stdin.write(order.encode() + b"\n")
            process.stdin.flush()
            process.stdin.close()
        except OSError:
            return None
        with contextlib.suppress(OSError):
            self.start()
        return process

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()


def launch(session: Path, run: str, warm: WarmEngine | None = None) -> subprocess.Popen[bytes]:
    """Start an engine for a run; it outlives the caller.

    A queued run always starts a new process, which imports nothing until its turn: a warm engine would keep its
    libraries in memory while it waits.
    """
    must_write("start a run")
    log_size = engine_log(run).stat().st_size if engine_log(run).exists() else 0
    process = warm.serve(session, run) if warm is not None and not has_turn(session, run) else None
    if process is None:
        process = engine_for(session, "run", run)
    engine_starts.started(run, process.pid)
    _launched[run] = (process, log_size)
    return process


# The latest engine that this process started for each run, and the size of the run's log before the start.
_launched: dict[str, tuple[subprocess.Popen[bytes], int]] = {}


def engine_of(run: str) -> subprocess.Popen[bytes] | None:
    return _launched[run][0] if run in _launched else None


def end_of(run: str) -> str:
    """Return how the engine of a run ended: the last line of its log, or else its signal."""
    process = engine_of(run)
    if words := last_words(run):
        return words
    if process is not None and (process.poll() or 0) < 0:
        number = -process.returncode
        return (
            "it was terminated by "
            f"{signal.Signals(number).name if number in set(signal.Signals) else f'signal {number}'}"
        )
    return "the engine wrote no message"
