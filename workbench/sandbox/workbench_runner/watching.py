"""Watch one candidate: its report, time, memory and exit; and the standard error of a run of the whole suite."""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import signal
import time
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple, Protocol

from . import processes


class WatchedRun(NamedTuple):
    """Events with the right nonce, wait status or None, and the end: ``exit``, ``timeout``, ``flood``, ``memory``."""

    events: list[dict[str, Any]]
    status: int | None
    ended: str
    exceeded: bool


class End(Protocol):
    """The end of a process. Its ``descriptor``, if any, then becomes readable, and ``peak`` (bytes) is known."""

    descriptor: int | None
    peak: int

    def poll(self) -> int | None:
        """Return the process's wait status, or None while it runs."""


#: Final events of a candidate's process.
_LAST_EVENTS = ("end", "invalid", "slower")

_LOOK_FIRST, _LOOK_AGAIN = 0.25, 0.1  # seconds between checks of the memory in use

#: Seconds between reads of the report while the candidate runs; waking up for each test would cost as much as the test.
_READ_AGAIN = 0.02


class Exit:
    """The exit of one of our child processes."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.descriptor: int | None = None
        self.peak = 0
        with contextlib.suppress(OSError, AttributeError):  # not Linux, or an old kernel
            self.descriptor = os.pidfd_open(pid)

    def close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None

    def poll(self) -> int | None:
        ended = processes.reap().get(self.pid)
        if ended is None:
            return None
        status, self.peak = ended
        return status


#: Number of bytes stored from the beginning of the output, which names the file, and from its end, which has the
#: reason.
_FIRST, _LAST = 4096, 12288


class SuiteErrors:
    """The standard error of a run of the whole suite, where pytest says why it refuses a repository.

    Only such runs record it, because they test the pristine tree. A candidate's standard error is discarded.
    """

    def __init__(self) -> None:
        self.descriptor, self.writer = os.pipe()
        self._first = b""
        self._last = b""

    def drain(self) -> None:
        """Read the available output, a few pipe buffers at most, so that endless output cannot delay the timeout."""
        for _ in range(16):
            if not select.select([self.descriptor], [], [], 0)[0]:
                return
            data = os.read(self.descriptor, 1 << 16)
            if not data:
                return
            room = _FIRST - len(self._first)
            self._first += data[:room]
            self._last = (self._last + data[room:])[-_LAST:]

    def close(self, root: str) -> str:
        """Return the output, with paths of the tree at ``root`` relative to it."""
        self.drain()
        os.close(self.descriptor)
        return (self._first + self._last).decode("utf-8", "replace").replace(root + os.sep, "")


def watch(
    reader: int,
    nonce: str,
    job: dict[str, Any],
    end: End,
    keep: Callable[[], Collection[int]],
    words: SuiteErrors | None = None,
) -> WatchedRun:
    """Read events from ``reader`` until the process ends, or until a limit is reached; kills nothing.

    ``keep`` returns the processes whose memory does not count toward the candidate; ``words`` has the candidate's
    standard error if it is recorded.
    """
    deadline = time.monotonic() + job["limits"]["seconds"]
    room = job["limits"]["output_kb"] * 1024 * (64 if job["trace"] or job.get("record") else 1)
    memory = job["limits"]["memory_mb"] * 2**20
    events: list[dict[str, Any]] = []
    pending, next_look = b"", time.monotonic() + _LOOK_FIRST
    listening, patience = ([reader], math.inf) if end.descriptor is None else ([end.descriptor], _READ_AGAIN)
    while True:
        now = time.monotonic()
        if now >= deadline:
            return WatchedRun(events, None, "timeout", False)
        if now >= next_look:
            next_look = now + _LOOK_AGAIN
            if processes.resident_bytes(processes.others(keep())) > memory:
                return WatchedRun(events, None, "memory", True)
        ready = select.select(listening, [], [], max(0.0, min(deadline - now, next_look - now, patience)))[0]
        if words is not None:
            words.drain()  # a full pipe would block the candidate
        closed = False
        status = end.poll()  # before reading, so that everything written before the exit is read
        while select.select([reader], [], [], 0)[0]:
            data = os.read(reader, 1 << 20)
            closed = not data
            if closed:
                break
            room -= len(data)
            if room < 0:
                return WatchedRun(events, None, "flood", False)
            *lines, pending = (pending + data).split(b"\n")
            events.extend(_read(lines, nonce))
            if status is None and time.monotonic() > deadline:
                break
        if status is not None:
            # Between two checks, a candidate may exceed the memory of the machine or of a surrounding control group,
            # which does not report kills.
            killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
            return WatchedRun(events, status, "exit", killed and end.peak > memory)
        if end.descriptor is None and ((events and events[-1]["e"] in _LAST_EVENTS) or (closed and ready)):
            time.sleep(0.0005)  # the report is complete; wait for the exit status


def _read(lines: list[bytes], nonce: str) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and event.get("n") == nonce and isinstance(event.get("e"), str):
            yield event
