"""Hard limits on memory and processes per sandbox by control groups (version 1 or 2), where the user may create them."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from workbench.sandbox.types import Limits

_MOUNT = Path("/sys/fs/cgroup")
_numbers = itertools.count()

#: Allowance for the runner's server and the bubblewrap processes, which count as well.
_OWN_MEMORY_MB, _OWN_PROCESSES = 192, 12

_JOIN = 'while [ "$1" != -- ]; do echo $$ > "$1" || exit 71; shift; done; shift; exec "$@"'


class ControlGroup:
    """The control group of one sandbox (one folder for version 2, one per controller for version 1)."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = tuple(folders)

    @classmethod
    def create(cls, limits: Limits) -> ControlGroup | None:
        name = f"workbench-{os.getpid()}-{next(_numbers)}"
        memory = (limits.memory_mb + _OWN_MEMORY_MB) * 2**20
        processes = limits.processes + _OWN_PROCESSES
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
            return None
        return cls(made)

    def join(self, command: Sequence[str]) -> list[str]:
        return [
            "/bin/sh",
            "-c",
            _JOIN,
            "sh",
            *(str(folder / "cgroup.procs") for folder in self.folders),
            "--",
            *command,
        ]

    def memory_killed(self) -> bool:
        for name in ("memory.events", "memory.oom_control"):
            with contextlib.suppress(OSError):
                for line in (self.folders[0] / name).read_text().splitlines():
                    key, _, value = line.partition(" ")
                    if key == "oom_kill":
                        return int(value) > 0
        return False

    def end(self, patience: float = 5.0) -> None:
        with contextlib.suppress(OSError):
            (self.folders[0] / "cgroup.kill").write_text("1")  # version 2
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
        """Remove the group, whose processes must have ended; the kernel may take a moment to notice that."""
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
    """Return a folder in which groups with memory and pids controllers can be created; raises OSError."""
    own = _MOUNT / Path("/proc/self/cgroup").read_text().strip().rsplit("::", 1)[1].lstrip("/")
    for folder in (own, own.parent):
        if not folder.is_relative_to(_MOUNT) or not os.access(folder, os.W_OK):
            continue
        with contextlib.suppress(OSError):
            (folder / "cgroup.subtree_control").write_text("+memory +pids")
        if {"memory", "pids"} <= set((folder / "cgroup.subtree_control").read_text().split()):
            return folder
    raise OSError("no control group is delegated to this user")


def available() -> bool:
    group = ControlGroup.create(Limits())
    if group is None:
        return False
    group.remove()
    return True
