"""Limit and end a sandbox's processes from outside, using control groups, process ancestry and disk usage."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import re
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from workbench.sandbox.types import Limits

_MOUNT = Path("/sys/fs/cgroup")
_numbers = itertools.count()

#: Allowance for the runner's server and the bubblewrap processes, which count toward the limits.
OWN_MEMORY_MB, OWN_PROCESSES = 192, 12

_JOIN = 'while [ "$1" != -- ]; do echo $$ > "$1" || exit 71; shift; done; shift; exec "$@"'


class ControlGroup:
    """The control group of one sandbox: one folder for version 2, or one per controller for version 1."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = tuple(folders)

    @classmethod
    def create(cls, limits: Limits) -> ControlGroup:
        """Return a new group; if this user may not create one, the group has no folders and no limits."""
        name = f"workbench-{os.getpid()}-{next(_numbers)}"
        memory = (limits.memory_mb + OWN_MEMORY_MB) * 2**20
        processes = limits.processes + OWN_PROCESSES
        made: list[Path] = []
        try:
            if (_MOUNT / "cgroup.controllers").exists():
                folder = _version_2_parent() / name
                _remove_abandoned(folder.parent)
                folder.mkdir()
                made.append(folder)
                (folder / "memory.max").write_text(str(memory))
                (folder / "pids.max").write_text(str(processes))
                with contextlib.suppress(OSError):
                    (folder / "memory.swap.max").write_text("0")
            else:
                own = _version_1_groups()
                for controller, file, value in (
                    ("memory", "memory.limit_in_bytes", memory),
                    ("pids", "pids.max", processes),
                ):
                    folder = _MOUNT / controller / own[controller].lstrip("/") / name
                    _remove_abandoned(folder.parent)
                    folder.mkdir()
                    made.append(folder)
                    (folder / file).write_text(str(value))
                with contextlib.suppress(OSError):
                    (made[0] / "memory.memsw.limit_in_bytes").write_text(str(memory))
        except (OSError, KeyError):
            cls(made).remove()
            return cls(())
        return cls(made)

    def __bool__(self) -> bool:
        return bool(self.folders)

    def join(self, command: Sequence[str]) -> list[str]:
        files = [str(folder / "cgroup.procs") for folder in self.folders]
        return ["/bin/sh", "-c", _JOIN, "sh", *files, "--", *command] if files else list(command)

    def memory_killed(self) -> bool:
        for name in ("memory.events", "memory.oom_control"):
            with contextlib.suppress(OSError, IndexError):
                if found := re.search(r"^oom_kill (\d+)$", (self.folders[0] / name).read_text(), re.MULTILINE):
                    return int(found[1]) > 0
        return False

    def end(self, patience: float = 5.0) -> None:
        with contextlib.suppress(OSError, IndexError):
            (self.folders[0] / "cgroup.kill").write_text("1")  # supported by control groups of version 2
            return
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            pids = []
            for folder in self.folders:
                with contextlib.suppress(OSError):
                    pids += [int(line) for line in (folder / "cgroup.procs").read_text().split()]
            if not pids:
                return
            for pid in pids:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.005)

    def remove(self) -> None:
        """Remove the group after its processes have ended, which the kernel may register with a delay."""
        for folder in self.folders:
            for _ in range(50):
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.01)


def _remove_abandoned(parent: Path) -> None:
    for folder in parent.glob("workbench-*-*"):
        if not Path("/proc", folder.name.split("-")[1]).exists():
            with contextlib.suppress(OSError):
                folder.rmdir()


def _version_1_groups() -> dict[str, str]:
    groups = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            groups[controller] = path
    return groups


def _version_2_parent() -> Path:
    """Return a folder that supports groups with memory and pids controllers. Raises OSError."""
    own = _MOUNT / Path("/proc/self/cgroup").read_text().strip().rsplit("::", 1)[1].lstrip("/")
    for folder in (own, own.parent):
        if not folder.is_relative_to(_MOUNT) or not os.access(folder, os.W_OK):
            continue
        with contextlib.suppress(OSError):
            (folder / "cgroup.subtree_control").write_text("+memory +pids")
        if {"memory", "pids"} <= set((folder / "cgroup.subtree_control").read_text().split()):
            return folder
    raise OSError("no control group is delegated to this user")


@functools.lru_cache(maxsize=1)
def available() -> bool:
    group = ControlGroup.create(Limits())
    group.remove()
    return bool(group)


def _processes() -> dict[int, tuple[int, str, int]]:
    """Return (parent, state, real user id) by process id."""
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
    """Return whether a process is stopped or gone and therefore cannot fork."""
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
    """Kill every descendant of ``root``; ``root`` is stopped first because it adopts orphaned processes."""
    with contextlib.suppress(OSError):
        os.kill(root, signal.SIGSTOP)
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        still = _stands_still(root)  # Stop it before reading the list, which then contains all of its children.
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


def written_bytes(folder: Path) -> int:
    """Return the disk usage in bytes of everything below ``folder``, counting at least 1 KiB per file or folder."""
    total = 0
    pending = [str(folder)]
    while pending:
        with contextlib.suppress(OSError), os.scandir(pending.pop()) as listing:
            for entry in listing:
                with contextlib.suppress(OSError):
                    total += max(1024, entry.stat(follow_symlinks=False).st_blocks * 512)
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
    return total
