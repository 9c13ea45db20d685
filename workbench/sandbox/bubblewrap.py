"""The bubblewrap back end: Linux namespaces without a daemon and without root."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from workbench.sandbox import bwrap_program, control_groups
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
from workbench.sandbox.descendants import end_below
from workbench.sandbox.errors import SandboxUnavailable
from workbench.sandbox.workbench_runner import confine

#: Files for ``/etc`` inside the sandbox (name services), the same on every machine.
_ETC = Path(__file__).resolve().parent / "etc"


class Bubblewrap:
    """Runs one ``bwrap`` process per worker, with the runner as process 1 of its PID namespace."""

    name = "bubblewrap"

    def problem(self) -> str | None:
        return bwrap_program.problem()

    def guarantees(self) -> Guarantees:
        groups = _groups_available()
        root = os.geteuid() == 0
        memory = (
            "Memory: a control group bounds the candidate and all its children."
            if groups
            else "Memory: watched ten times a second and bounded by address space; no control group is delegated to this user."
        )
        processes = (
            "Processes: a control group bounds their number."
            if groups
            else "Processes: not bounded, because this runs as root without control groups."
            if root
            else "Processes: RLIMIT_NPROC in a user namespace of its own bounds their number."
        )
        sentences = (
            "Network: none (an empty network namespace).",
            "Files: only the system's programs, the interpreter and the environment are visible, read-only; writes go to memory.",
            "Home folder, sessions, keys and environment variables are not visible.",
            memory,
            processes,
            "Every process that a candidate starts is killed with it (PID namespace).",
            "Privileges: none (user namespace, no capabilities, no new privileges, no further user namespaces).",
            "System calls: keyrings, BPF, io_uring, tracing and mounts are refused (a filter)."
            if confine.seccomp_available()
            else "System calls: NOT filtered; this kernel or processor has no filter that is known here.",
        )
        return Guarantees(isolated=True, network=False, bounded_disk=True, sentences=sentences)

    async def start(self, launch: Launch) -> Channel:
        reason = self.problem()
        if reason:
            raise SandboxUnavailable(reason)
        layout = Layout()
        group = control_groups.ControlGroup.create(launch.limits)
        command = self.command(launch, layout)
        with call_filter() as descriptors:
            for descriptor in descriptors:
                command[1:1] = ["--seccomp", str(descriptor)]
            if group is not None:
                command = group.join(command)
            return await PipeChannel.open(
                command,
                layout,
                env={},
                pass_fds=descriptors,
                address_space_mb=None if group else launch.limits.memory_mb * 4,
                process_limit=None if group else launch.limits.processes,
                memory_killed=group.memory_killed if group else lambda: False,
                # Its child is bound to it late in its start; a child that outlives it holds the pipes open for ever.
                end=end_below,
                cleanup=group.remove if group else lambda: None,
            )

    def command(self, launch: Launch, layout: Layout) -> list[str]:
        disk = str(launch.limits.disk_mb * 2**20)
        command = foundation(launch.variables)
        for folder in (layout.temporary, layout.root, layout.home, layout.metadata, *layout.scratch):
            command += ["--size", disk, "--tmpfs", folder]
        for mount in launch.mounts:
            command += ["--ro-bind", str(mount), str(mount)]
        command += ["--ro-bind", str(RUNNER), f"{layout.runner}/workbench_runner"]
        # Bubblewrap's root is a tmpfs: make everything that is not one of our mounts read-only.
        command += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", layout.root, "--"]
        return command + runner_command(launch.python, layout.runner)


def foundation(variables: Mapping[str, str]) -> list[str]:
    """Return the beginning of a command line: new namespaces, the system's programs read-only, only these variables."""
    command = [
        str(bwrap_program.program()),
        *bwrap_program.NAMESPACES,
        "--disable-userns",
        "--die-with-parent",
        "--new-session",
        "--as-pid-1",
    ]
    command += ["--uid", "1000", "--gid", "1000", "--hostname", "sandbox", "--clearenv"]
    for key, value in variables.items():
        command += ["--setenv", key, value]
    command += ["--ro-bind", "/usr", "/usr"]
    for name in SYSTEM_FOLDERS:
        path = Path("/", name)
        if path.is_symlink():
            command += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            command += ["--ro-bind", str(path), str(path)]
    for name in SYSTEM_FILES:
        command += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    # Tests start servers on "localhost", which needs name resolution; the machine's own names stay hidden.
    for file in sorted(_ETC.iterdir()):
        command += ["--ro-bind", str(file), f"/etc/{file.name}"]
    return [*command, "--proc", "/proc", "--dev", "/dev"]


@contextlib.contextmanager
def call_filter() -> Iterator[tuple[int, ...]]:
    """Provide the descriptor from which bubblewrap reads its system call filter; empty if there is no filter."""
    if not confine.seccomp_available():
        yield ()
        return
    reader, writer = os.pipe()
    try:
        os.write(writer, confine.filter_program(sockets=True))  # fits into a pipe's buffer
        os.close(writer)
        yield (reader,)
    finally:
        os.close(reader)


@functools.lru_cache(maxsize=1)
def _groups_available() -> bool:
    return control_groups.available()
