"""Notes on engines that are starting for a queued run, stored beside the engine's log.

A lease identifies the engine that executes a run. An engine takes seconds to start before it holds the lease, and may
die in the meantime. Notes are local to this machine; an engine on another machine is only known by its lease.
"""

from __future__ import annotations

import contextlib
import socket
import time
from pathlib import Path

from workbench.base import paths
from workbench.session.lease import process_started

#: Maximum seconds between the announcement of an engine and the start of its process.
_START_SECONDS = 3.0


def _notes(run_id: str) -> Path | None:
    # The id comes from a session file, which may be hostile, so it must not be used as a path.
    plain = run_id.replace("-", "").replace("_", "").isalnum()
    return paths.state_dir() / "engine" / f"{run_id}.started" if plain else None


def _note(run_id: str, *words: object) -> None:
    notes = _notes(run_id)
    if notes is None:
        return
    with contextlib.suppress(OSError):
        notes.parent.mkdir(parents=True, exist_ok=True)
        with notes.open("a", encoding="utf-8") as file:
            file.write(" ".join(map(str, (socket.gethostname(), *words))) + "\n")


def announce(run_id: str) -> None:
    """Note that an engine is about to start; without the note, a queued run looks abandoned."""
    _note(run_id, "soon", time.time())


def started(run_id: str, pid: int) -> None:
    _note(run_id, pid, process_started(pid) or "gone")


def is_coming(run_id: str) -> bool:
    """Return whether an engine process for the run is alive or about to start on this machine."""
    notes = _notes(run_id)
    try:
        lines = notes.read_text(encoding="utf-8").splitlines() if notes is not None else []
    except (OSError, UnicodeDecodeError):
        return False
    here = [words[1:] for line in lines if len(words := line.split()) == 3 and words[0] == socket.gethostname()]
    if not here:
        return False
    last, moment = here[-1]
    # The absolute value handles a clock that was set back; otherwise the note would count until it caught up.
    if last == "soon" and abs(time.time() - _number(moment)) < _START_SECONDS:
        return True
    return any(pid.isdecimal() and process_started(int(pid)) == mark for pid, mark in here)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
