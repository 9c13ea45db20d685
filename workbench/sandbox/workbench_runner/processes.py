"""Processes inside the sandbox: hardening, limits, memory in use, and ending everything that a candidate started."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
import time
from collections.abc import Collection, Iterable
from typing import Any

from . import confine

_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38

#: Memory below which the cheaper upper bound is accurate enough.
_WORTH_A_CLOSER_LOOK = 64 * 2**20


_libc = ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(OSError, AttributeError):  # not Linux: the process back end says so in its guarantees
        _libc.prctl(option, value, 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants; only for the server, which reaps every child."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def harden() -> None:
    """Make this process unreadable and unstoppable for the processes that it starts."""
    _prctl(_PR_SET_DUMPABLE, 0)  # a process of the same user may neither trace it nor open its memory or descriptors
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGQUIT"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)


def unharden_child() -> None:
    """Undo :func:`harden` in a candidate's process."""
    _prctl(_PR_SET_DUMPABLE, 1)
    for name in ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGQUIT"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def limit_work(limits: dict[str, Any]) -> None:
    """Set the limits of a single candidate: processor time and maximum file size."""
    _limit(resource.RLIMIT_FSIZE, int(limits["file_mb"] * 2**20))
    _limit(resource.RLIMIT_CPU, int(limits["seconds"] * 4) + 10)


def confine_child(address_space_mb: int | None, processes: int | None) -> None:
    """Set the limits of every candidate, which can then signal only itself and its children (Landlock 6)."""
    _limit(resource.RLIMIT_CORE, 0)
    if hasattr(resource, "RLIMIT_MSGQUEUE"):
        _limit(resource.RLIMIT_MSGQUEUE, 0)  # queues outlive their processes and cannot be listed
    if address_space_mb:
        _limit(resource.RLIMIT_AS, address_space_mb * 2**20)
    if processes and hasattr(resource, "RLIMIT_NPROC"):
        _limit(resource.RLIMIT_NPROC, processes)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # if memory runs out, the kernel kills the candidate, not the server
    confine.scope_signals()


def _limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def own_limits() -> list[tuple[str, tuple[int, int]]]:
    """Return all resource limits of this process: a process of the same user can change them from outside."""
    names = sorted(name for name in dir(resource) if name.startswith("RLIMIT_"))
    return [(name, resource.getrlimit(getattr(resource, name))) for name in names]


def wake(pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGCONT)


def limits_of(pid: int) -> bytes:
    """Return the resource limits of another process, as the kernel prints them; empty if it is gone."""
    try:
        with open(f"/proc/{pid}/limits", "rb") as file:
            return file.read()
    except OSError:
        return b""


def others(keep: Collection[int] = ()) -> list[int]:
    """Return the live descendants or, in a PID namespace, all of its processes."""
    me = os.getpid()
    parents = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rsplit(b")", 1)[1].split()
        except (OSError, IndexError):
            continue
        parents[int(name)] = (int(fields[1]), fields[0])
    found = []
    for pid, (_, state) in parents.items():
        if pid == me or pid in keep or state in (b"Z", b"X"):
            continue
        ancestor, steps = pid, 0
        while me != 1 and ancestor not in (me, 0, 1) and steps < 10_000:
            ancestor, steps = parents.get(ancestor, (0, b""))[0], steps + 1
        if me == 1 or ancestor == me:
            found.append(pid)
    return found


def resident_bytes(pids: Iterable[int]) -> int:
    """Return the memory that ``pids`` use together; pages that they share count once."""
    total, several = 0, list(pids)
    for pid in several:
        total += _resident(pid)
    if len(several) == 1 or total < _WORTH_A_CLOSER_LOOK:
        return total
    return sum(_proportional(pid) for pid in several)


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm") as file:
            fields = file.read().split()
        return (int(fields[1]) - int(fields[2])) * resource.getpagesize()
    except (OSError, IndexError, ValueError):
        return 0


def _proportional(pid: int) -> int:
    """Return a process's memory with every page divided by the number of its users."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            for line in file:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
    except (OSError, IndexError, ValueError):
        pass
    return _resident(pid)


def end_all(keep: Collection[int] = (), patience: float = 2.0) -> bool:
    """Stop, then kill all descendants (fork bombs would outrun a plain kill); return whether only ``keep`` remains."""
    deadline = time.monotonic() + patience
    while True:
        pids = others(keep)
        if not pids:
            reap(keep)
            remove_segments()
            return True
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in pids:
                with contextlib.suppress(OSError):
                    os.kill(pid, number)
        reap(keep)
        if time.monotonic() > deadline:
            if os.getpid() == 1:
                os.kill(-1, signal.SIGKILL)  # atomic, but kills those in ``keep`` too
            return False


def remove_segments() -> None:
    """Remove System V shared memory, semaphores and queues, which outlive processes."""
    if os.getpid() != 1:
        return  # without namespaces, creating them is forbidden
    for name, arguments in (("shm", (0, None)), ("sem", (0, 0, None)), ("msg", (0, None))):
        try:
            with open(f"/proc/sysvipc/{name}") as file:
                lines = file.read().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            getattr(ctypes.CDLL(None), f"{name}ctl")(int(line.split()[1]), *arguments)


def reap(keep: Collection[int] = ()) -> dict[int, tuple[int, int]]:
    """Collect dead children except ``keep``; return their exit statuses and peak memory by process id."""
    ended: dict[int, tuple[int, int]] = {}
    while True:
        try:
            # A dead process in ``keep`` is reaped by its owner.
            info = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return ended
        if info is None or info.si_pid in keep:
            return ended
        pid, status, usage = os.wait4(info.si_pid, 0)
        ended[pid] = status, peak(usage)


def peak(usage: resource.struct_rusage) -> int:
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
