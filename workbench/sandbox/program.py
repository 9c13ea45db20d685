"""Run a whole program in a sandbox with one writable folder and, for its network, one port to a Unix socket of ours.

This is for programs that a user has chosen and installed (doc systems), not for candidates. Their output remains on
disk, and they see the environment variables that they are started with. Everything else works as in
:mod:`workbench.sandbox.bubblewrap`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from workbench.base.text import one_line
from workbench.sandbox import bubblewrap
from workbench.sandbox.bubblewrap import problem as problem
from workbench.sandbox.control import ControlGroup, end_below, written_bytes
from workbench.sandbox.types import Limits

_BRIDGE = Path(__file__).resolve().with_name("workbench_bridge.py")
_TAIL = 64 * 2**10  # bytes of output to keep for error messages
_LOOK_SECONDS = 0.5
_END_SECONDS = 10.0

#: The port inside the sandbox, which has its own 127.0.0.1.
PORT = 8377

Stopped = Literal["", "time", "output", "disk", "memory", "asked"]


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """Limits of a program: wall-clock seconds, MiB of memory, processes, MiB of output, and MiB of folder growth."""

    seconds: float = 4 * 3600.0
    memory_mb: int = 4096
    processes: int = 512
    output_mb: int = 64
    disk_mb: int = 1024


@dataclass(frozen=True, slots=True)
class Program:
    """A program to run."""

    command: Sequence[str]  # command with paths as seen inside the sandbox
    folder: Path  # folder that the program may write to
    inside: str  # absolute path of that folder inside the sandbox
    cwd: str  # working directory inside the sandbox
    python: Path  # interpreter of the bridge: Python 3.9 or newer, below ``mounts`` or ``/usr``
    socket: Path | None  # socket that receives connections to port ``PORT``; None for no network
    mounts: Sequence[Path] = ()  # folders visible read-only at the same path
    scratch: Sequence[Path] = ()  # existing folders below ``mounts`` that are empty and writable (in memory) inside
    variables: Mapping[str, str] = field(default_factory=dict)  # all environment variables of the program


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a program: exit status, why it was stopped ("" if it was not), the end of its output, and seconds."""

    status: int
    stopped: Stopped
    output: str
    seconds: float


def program_command(program: Program, limits: ProgramLimits) -> list[str]:
    mounts = [
        *bubblewrap.in_memory(("/tmp", "/home/sandbox", "/dev/shm"), limits.disk_mb),
        *bubblewrap.read_only(program.mounts),
        *bubblewrap.in_memory(program.scratch, limits.disk_mb),
        ("--bind", str(program.folder), program.inside),
    ]
    command = program.command
    if program.socket is not None:
        mounts += [("--ro-bind", str(program.socket), "/run/endpoint"), ("--ro-bind", str(_BRIDGE), "/run/bridge.py")]
        bridge = [str(program.python), "-I", "-S", "-B", "/run/bridge.py", "/run/endpoint", str(PORT)]
        command = [*bridge, "--", *command]
    return bubblewrap.command_line(program.variables, mounts, program.cwd, command)


async def run_confined(
    program: Program, limits: ProgramLimits, *, stop: asyncio.Event, on_line: Callable[[str], None] = lambda line: None
) -> Ended:
    """Run a program in its own sandbox until it ends, exceeds a limit or ``stop`` is set."""
    group = ControlGroup.create(Limits(memory_mb=limits.memory_mb, processes=limits.processes))
    try:
        with bubblewrap.confined(program_command(program, limits), group) as (command, descriptors):
            return await _run(command, {}, descriptors, program.folder, limits, stop, on_line, group.memory_killed)
    finally:
        await asyncio.to_thread(group.remove)


async def run_plain(
    program: Program, limits: ProgramLimits, *, stop: asyncio.Event, on_line: Callable[[str], None] = lambda line: None
) -> Ended:
    """Run a program without a sandbox, as its user requested; time, output and folder limits still apply."""
    return await _run(
        program.command, program.variables, (), program.folder, limits, stop, on_line, lambda: False, cwd=program.cwd
    )


async def _run(
    command: Sequence[str],
    variables: Mapping[str, str],
    descriptors: Sequence[int],
    folder: Path,
    limits: ProgramLimits,
    stop: asyncio.Event,
    on_line: Callable[[str], None],
    memory_killed: Callable[[], bool],
    *,
    cwd: str | None = None,
) -> Ended:
    began = time.monotonic()
    before = await asyncio.to_thread(written_bytes, folder)
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=dict(variables),
        cwd=cwd,
        pass_fds=tuple(descriptors),
        start_new_session=True,
    )
    output = _OutputReader(limits.output_mb * 2**20, on_line)
    reading = asyncio.ensure_future(output.read(process.stdout))
    ending = asyncio.ensure_future(process.wait())
    asked = asyncio.ensure_future(stop.wait())
    stopped: Stopped = ""
    try:
        while not ending.done():
            await asyncio.wait({ending, asked}, timeout=_LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if ending.done():
                break
            if stop.is_set():
                stopped = "asked"
            elif time.monotonic() - began > limits.seconds:
                stopped = "time"
            elif output.flooded:
                stopped = "output"
            elif await asyncio.to_thread(written_bytes, folder) - before > limits.disk_mb * 2**20:
                stopped = "disk"
            if stopped:
                break
    finally:
        asked.cancel()
        if process.returncode is None:
            await asyncio.shield(asyncio.to_thread(end_below, process.pid))
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        # Without a sandbox, a child may outlive the program and hold the pipe open; its output is not needed.
        await asyncio.wait({ending, reading}, timeout=_END_SECONDS, return_when=asyncio.ALL_COMPLETED)
        for work in (ending, reading):
            work.cancel()
    if not stopped and memory_killed():
        stopped = "memory"
    status = process.returncode if process.returncode is not None else -1
    return Ended(status, stopped, output.text, time.monotonic() - began)


class _OutputReader:
    """Reads a program's output: keeps its end, reports the newest line, and detects excessive output."""

    def __init__(self, most: int, on_line: Callable[[str], None]) -> None:
        self._most = most
        self._on_line = on_line
        self._tail = bytearray()
        self._count = 0

    @property
    def flooded(self) -> bool:
        return self._count > self._most

    @property
    def text(self) -> str:
        return self._tail.decode("utf-8", "replace")

    async def read(self, stream: asyncio.StreamReader | None) -> None:
        assert stream is not None
        while chunk := await stream.read(2**16):
            flooded, self._count = self.flooded, self._count + len(chunk)
            if flooded:
                continue  # Keep reading, because a process blocked on a full pipe never ends.
            self._tail += chunk
            del self._tail[:-_TAIL]
            lines = [line for line in chunk.decode("utf-8", "replace").splitlines() if line.strip()]
            if lines:
                self._on_line(one_line(lines[-1], 160))
