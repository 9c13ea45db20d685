"""Start the engine processes that execute runs, and tell how the last one of each run ended.

Cheap to import. Calls access the disk for some milliseconds, so the app makes them in a thread.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from workbench import paths
from workbench.engine.queue import has_turn
from workbench.read_only import must_write
from workbench.session import engine_starts


def engine_log(run: str) -> Path:
    return paths.state_dir() / "engine" / f"{run}.log"


def last_words(run: str) -> str:
    """Return the last line that the engine of a run wrote to its log, "" if there is none.

    The log spans the whole run; for an engine that this program started, only that engine's output counts.
    """
    try:
        text = engine_log(run).read_bytes()[_launched[run][1] if run in _launched else 0 :]
    except OSError:
        return ""
    lines = text.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""


def engine_process(arguments: list[str], log: Path, *, stdin: int, stdout: int | None) -> subprocess.Popen[bytes]:
    """Start ``python -m workbench.engine`` with these arguments in a session of its own; it writes into ``log``."""
    log.parent.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ)
    # Without bytecode files every engine would compile its libraries again, which takes seconds.
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
    # Nobody may ask for its exit code as long as this program lives, and until then an engine that ended stays a zombie.
    threading.Thread(target=process.wait, daemon=True).start()
    return process


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
        """Assign a run to the waiting process, start the next one, and return the first; None if none is waiting."""
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
    """Start an engine on a run; it keeps running when the caller exits.

    A run that waits in the queue gets a process of its own, which imports nothing until its turn: a warm one would hold its
    libraries in memory all the while.
    """
    must_write("start a run")
    said = _log_size(run)
    process = warm.serve(session, run) if warm is not None and not has_turn(session, run) else None
    if process is None:
        process = engine_process(
            ["--session", str(session.resolve()), "--run", run], engine_log(run), stdin=subprocess.DEVNULL, stdout=None
        )
    engine_starts.started(run, process.pid)
    _launched[run] = (process, said)
    return process


# Engines that this program started: the latest one of each run, and the size of its log before the start.
_launched: dict[str, tuple[subprocess.Popen[bytes], int]] = {}


def _log_size(run: str) -> int:
    try:
        return engine_log(run).stat().st_size
    except OSError:
        return 0


def engine_of(run: str) -> subprocess.Popen[bytes] | None:
    return _launched[run][0] if run in _launched else None


def end_of(run: str) -> str:
    """Return how the engine that this program started for a run ended: the last line of its log, else its signal."""
    process = engine_of(run)
    if words := last_words(run):
        return words
    if process is not None and (process.poll() or 0) < 0:
        number = -process.returncode
        return f"it was ended by {signal.Signals(number).name if number in set(signal.Signals) else f'signal {number}'}"
    return "it left no word"
