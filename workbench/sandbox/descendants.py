"""Ending every process that a sandbox has started, found through its ancestry or its user id."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path


def _processes() -> dict[int, tuple[int, str, int]]:
    """Map process ids to (parent, state, real user id)."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            parent, state = _parent_and_state(folder)
            found[int(folder.name)] = (parent, state, folder.stat().st_uid)
    return found


def _parent_and_state(folder: Path) -> tuple[int, str]:
    fields = (folder / "stat").read_bytes().rsplit(b")", 1)[1].split()
    return int(fields[1]), fields[0].decode()


def _stands_still(pid: int) -> bool:
    """Return whether a process is stopped or gone: until then it may be starting another."""
    try:
        return _parent_and_state(Path(f"/proc/{pid}"))[1] in "TtZX"
    except (OSError, IndexError, ValueError):
        return True


def _end(pids: Sequence[int]) -> None:
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, number)


def end_below(root: int, patience: float = 5.0) -> None:
    """Kill every descendant of ``root``, which is stopped first because it adopts orphaned processes."""
    with contextlib.suppress(OSError):
        os.kill(root, signal.SIGSTOP)
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        still = _stands_still(root)  # asked before the list is read: what it started until now is then in there
        table = _processes()
        below = {root}
        while True:
            more = {pid for pid, (parent, _, _) in table.items() if parent in below} - below
            if not more:
                break
            below |= more
        alive = [pid for pid in below - {root} if table[pid][1] not in "ZX"]
        if still and not alive:
            return
        _end(alive)


def end_user(user: int, patience: float = 5.0) -> None:
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        alive = [pid for pid, (_, state, owner) in _processes().items() if owner == user and state not in "ZX"]
        if not alive:
            return
        _end(alive)
