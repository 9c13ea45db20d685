"""The plain-process back end, confined by Landlock, seccomp and limits if available; used only if chosen explicitly.

There are no namespaces: the candidate shares the machine's process table, clock and host name, but has its own folder.
``workbench_runner/confine.py`` drops all other rights before the environment's interpreter starts, as far as the kernel
supports that.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.base.disks import says_full
from workbench.base.reasons import reason_of
from workbench.sandbox.backend import (
    RUNNER,
    SYSTEM_FILES,
    SYSTEM_FOLDERS,
    Channel,
    Guarantees,
    Launch,
    Layout,
    PipeChannel,
    runner_command,
)
from workbench.sandbox.control import OWN_PROCESSES, ControlGroup, available, end_below, end_user, written_bytes
from workbench.sandbox.types import SandboxUnavailable, no_room
from workbench.sandbox.workbench_runner import confine

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

#: User ids that no system allocates: above those of subordinate users and below 2³¹.
_FIRST_USER, _USERS = 2_000_000_000, 100_000_000
_numbers = itertools.count()

_LOOK = 0.1  # seconds between checks of the number of bytes written


@dataclass(frozen=True, slots=True)
class KernelFeatures:
    """The confinement features available with this kernel and user; a missing feature is 0 or False."""

    landlock: int  # version of Landlock's interface
    seccomp: bool  # whether system calls can be filtered
    root: bool  # whether root can assign a sandbox its own user id
    groups: bool  # whether control groups can be created

    @classmethod
    def here(cls) -> KernelFeatures:
        return cls(confine.landlock_abi(), confine.seccomp_available(), os.geteuid() == 0, available())


class PlainProcess:
    """Starts one runner per worker in its own process session, below a temporary folder."""

    name = "process"

    def problem(self) -> str | None:
        return None if os.name == "posix" else "A plain process needs a POSIX system (Linux or macOS)."

    def guarantees(self) -> Guarantees:
        means = KernelFeatures.here()
        # Without seccomp, only TCP can be forbidden (by Landlock); UDP remains available.
        return Guarantees(isolated=False, network=not means.seccomp, bounded_disk=False, sentences=promises(means))

    async def start(self, launch: Launch) -> Channel:
        reason = self.problem()
        if reason:
            raise SandboxUnavailable(reason)
        means, base = KernelFeatures.here(), None
        try:
            base = Path(tempfile.mkdtemp(prefix="workbench-"))
            layout = _layout(base)
            user = _give_away(base, layout) if means.root else None
        except (OSError, shutil.Error) as error:
            if base is not None:
                remove_folder(base)
            where = tempfile.gettempdir()
            if says_full(_first(error)) or says_full(error):
                raise SandboxUnavailable(no_room(where)) from None
            raise SandboxUnavailable(f"No folder for the sandbox can be created in {where}: {_first(error)}.") from None
        group = ControlGroup.create(launch.limits)
        command = runner_command(launch.python, layout.runner)
        if sys.platform == "linux":
            plan = json.dumps(_plan(means, launch, layout, user))
            command = [sys.executable, "-I", "-S", "-B", str(RUNNER / "confine.py"), plan, "--", *command]

        def end(pid: int) -> None:
            end_below(pid)
            group.end()

        def cleanup() -> None:
            if user is not None:
                end_user(user)
            remove_folder(base)
            group.remove()

        limit = launch.limits.processes + OWN_PROCESSES
        return await WatchedChannel.open(
            group.join(command),
            layout,
            env=dict(launch.variables),
            address_space_mb=None if group else launch.limits.memory_mb * 4,
            process_limit=limit if user is not None else None if group else limit + _tasks_of(os.geteuid()),
            disk_mb=launch.limits.disk_mb,
            memory_killed=group.memory_killed,
            end=end,
            cleanup=cleanup,
        )


def promises(means: KernelFeatures) -> tuple[str, ...]:
    """Return the guarantees of a plain process with these features; a sentence that contains NOT states a weakness."""
    abi = means.landlock
    lines = []
    if means.seccomp:
        lines.append("Network: none; no socket can be created (system call filter), so tests that open one fail here.")
    elif abi >= 4:
        lines.append("Network: no TCP (Landlock); UDP and other programs' sockets are NOT cut off.")
    else:
        lines.append("Network: NOT cut off.")
    if abi:
        lines.append(
            "Files: only the system's programs, the interpreter, the environment and /proc can be read, and only "
            "its own folder can be written (Landlock); /tmp and /dev/shm are out of reach."
        )
        if abi < 3:
            lines.append(
                "Your files can be truncated, but not read or written to (this Landlock does NOT forbid truncation)."
            )
    else:
        lines.append("Files: NOT isolated; code can read and change what its user can (this kernel has no Landlock).")
    if means.root and sys.platform == "linux":
        lines.append(
            "Privileges: its own user id, no new privileges, and no capabilities (except one to read the interpreter "
            "if that is in a private folder); Landlock limits what it can read."
            if abi
            else "Privileges: its own user id and no capabilities; NOT if the interpreter is in a private "
            "folder: then it is root."
        )
    elif abi:
        lines.append(
            "Privileges: your user id; permissions and times of your files are NOT protected, their contents are."
        )
    else:
        lines.append("Privileges: NOT dropped; your user id and all its rights.")
    lines.append("Environment variables are not passed on; names and command lines of other programs can be seen.")
    if abi >= 6:
        lines.append("Other processes can be neither signalled nor traced, the runner included (Landlock).")
    elif means.root and sys.platform == "linux":
        lines.append("Other programs cannot be signalled; the runner can, and is then started again.")
    else:
        lines.append("Your other processes are NOT protected from signals.")
    lines.append(
        "Memory: a control group bounds the candidate and all its children."
        if means.groups
        else "Memory: checked ten times a second, with a limit on address space."
    )
    if means.groups or (means.root and sys.platform == "linux"):
        lines.append("Processes: their number is bounded.")
    else:
        lines.append("Processes: bounded together with your own (RLIMIT_NPROC).")
    lines.append("Disk: the size of each file is limited, and the total is checked ten times a second.")
    lines.append(
        "Every process that a candidate starts is killed with it (found through its ancestry)."
        if sys.platform == "linux"
        else "Only the candidate's process group is killed with it; a process that leaves the group does NOT end."
    )
    return tuple(lines)


def promises_in_short(means: KernelFeatures) -> str:
    """Return what a plain process protects and what it does not, as the end of a sentence."""
    has = [
        *(["a system call filter (no sockets)"] if means.seccomp else []),
        *(["Landlock over files"] if means.landlock else []),
        *(["its own user id"] if means.root and sys.platform == "linux" else []),
        "limits of time, memory and disk",
    ]
    lacks = [
        *([] if means.landlock else ["protection of your files"]),
        *([] if means.seccomp or means.landlock >= 4 else ["a closed network"]),
        "namespaces",
    ]
    return f"{_listed(has)} but without {_listed(lacks)}"


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if words[1:] else words[0]


def _layout(base: Path) -> Layout:
    """Create the runner and empty folders of a sandbox in the folder ``base``, and return its layout."""
    names = {"root": "repo", "home": "home", "temporary": "tmp", "metadata": "meta", "runner": "runner"}
    layout = Layout(scratch=(), **{part: str(base / name) for part, name in names.items()})
    for folder in _writable(layout):
        Path(folder).mkdir()
    shutil.copytree(RUNNER, f"{layout.runner}/workbench_runner", ignore=shutil.ignore_patterns("__pycache__"))
    return layout


def _writable(layout: Layout) -> tuple[str, ...]:
    return (layout.root, layout.home, layout.temporary, layout.metadata)


def _first(error: OSError) -> str:
    """Return the first reason in an error; a ``shutil.Error`` can contain many (source, target, reason) entries."""
    return str(error.args[0][0][2]) if isinstance(error, shutil.Error) else reason_of(error)


def _give_away(base: Path, layout: Layout) -> int | None:
    """If root, assign the folders to an unused user id and return it; return None if root is not allowed to."""
    user = _FIRST_USER + (os.getpid() * 1000 + next(_numbers)) % _USERS
    try:
        for folder in _writable(layout):
            os.chown(folder, user, user)
    except OSError:
        return None  # The process is root in a container that has few user ids.
    for path in (base, *Path(layout.runner).rglob("*"), Path(layout.runner)):
        path.chmod(0o755 if path.is_dir() else 0o644)
    base.chmod(0o711)
    return user


def _plan(means: KernelFeatures, launch: Launch, layout: Layout, user: int | None) -> Mapping[str, object]:
    needed = [*launch.mounts, launch.python, Path(layout.root).parent]
    private = user is not None and not all(open_to_everybody(path) for path in needed)
    if private and not means.landlock:
        # Otherwise the runner could not start; granting it the right to read everything would be worse.
        user, private = None, False
    folders = [f"/{name}" for name in SYSTEM_FOLDERS if Path("/", name).exists()]
    etc = (f"/etc/{name}" for name in SYSTEM_FILES)
    return {
        "user": user,
        "read_search": private,
        "landlock": means.landlock,
        "read": ["/usr", "/proc", *folders, *etc, *map(str, launch.mounts), layout.runner],
        "write": list(_writable(layout)),
        "devices": list(_DEVICES),
        "seccomp": means.seccomp,
    }


def open_to_everybody(path: Path) -> bool:
    """Return whether any user may traverse all folders on the way to ``path`` (links resolved) and read it."""
    real = path.resolve()
    try:
        passable = all(parent.stat().st_mode & stat.S_IXOTH for parent in (*path.absolute().parents, *real.parents))
        mode = real.stat().st_mode
    except OSError:
        return False
    return passable and bool(mode & stat.S_IXOTH if real.is_dir() else mode & stat.S_IROTH)


def _tasks_of(user: int) -> int:
    total = 0
    for folder in Path("/proc").glob("[0-9]*/task"):
        with contextlib.suppress(OSError):
            total += len(list(folder.iterdir())) if folder.stat().st_uid == user else 0
    return total


def remove_folder(folder: Path) -> None:
    """Remove a folder, regardless of its depth and of the permissions that a candidate has set in it."""
    for command in (["rm", "-rf", "--"], ["chmod", "-R", "u+rwx"], ["rm", "-rf", "--"]):
        if folder.exists():
            subprocess.run([*command, str(folder)], check=False, capture_output=True)


class WatchedChannel(PipeChannel):
    """A channel that monitors the size of the sandbox's folder during each job, because no tmpfs limits it."""

    def __init__(self, process: asyncio.subprocess.Process, layout: Layout, **options: Any) -> None:
        self._folder, self._room = Path(layout.root).parent, options.pop("disk_mb") * 2**20
        self._overrun = False
        super().__init__(process, layout, **options)

    async def receive(self) -> bytes:
        """Return the next line, or ``b""`` at the end or after stopping the sandbox for writing too much."""
        line = asyncio.ensure_future(super().receive())
        try:
            while not (await asyncio.wait([line], timeout=_LOOK))[0]:
                if await asyncio.to_thread(written_bytes, self._folder) > self._room:
                    self._overrun = True
                    return b""
            return line.result()
        finally:
            line.cancel()

    def disk_exceeded(self) -> bool:
        return self._overrun
