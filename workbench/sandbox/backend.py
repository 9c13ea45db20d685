"""What a back end is: something that starts one process in isolation and gives a line-based channel to it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from workbench.sandbox.types import Limits

#: The runner's folder on this machine; a back end mounts it read-only as ``<Layout.runner>/workbench_runner``.
RUNNER = Path(__file__).resolve().parent / "workbench_runner"

#: What of the system a sandbox without an image of its own sees, besides ``/usr``: folders of ``/``, names in ``/etc``.
SYSTEM_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
SYSTEM_FILES = (
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "ssl",
    "alternatives",
    "services",
    "protocols",
)

#: A report with a trace of a large suite is one line.
_LINE_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things are inside the sandbox (absolute paths).

    Attributes:
        root: The repository's tree, writable, brought back after each candidate.
        home: ``HOME`` of the tests; emptied after each candidate.
        temporary: ``TMPDIR``; emptied after each candidate.
        scratch: Every other writable folder, to be emptied as well.
        metadata: Where ``.dist-info`` folders without code go.
        runner: The folder that holds ``workbench_runner``.
    """

    root: str = "/repo"
    home: str = "/home/sandbox"
    temporary: str = "/tmp"
    scratch: tuple[str, ...] = ("/dev/shm",)
    metadata: str = "/meta"
    runner: str = "/runner"


@dataclass(frozen=True, slots=True)
class Launch:
    """What a back end needs to know to start a runner.

    Attributes:
        python: The environment's interpreter, the same path inside and outside.
        mounts: Folders to show read-only at the same path.
        limits: The largest limits of the jobs to come; memory, processes and disk are set once per sandbox.
        variables: The only environment variables that the runner gets.
    """

    python: Path
    mounts: tuple[Path, ...]
    limits: Limits
    variables: Mapping[str, str] = field(default_factory=dict)


class Channel(Protocol):
    """A running sandbox: lines in, lines out.

    Attributes:
        layout: Where things are inside.
        address_space_mb: ``RLIMIT_AS`` for candidates where nothing better bounds memory, else None.
        process_limit: ``RLIMIT_NPROC`` for candidates where nothing better bounds processes, else None.
    """

    layout: Layout
    address_space_mb: int | None
    process_limit: int | None

    async def send(self, line: bytes) -> None:
        """Write one line; raises ``ConnectionError`` when the runner is gone."""

    async def receive(self) -> bytes:
        """Return the next line, or ``b""`` when the runner is gone."""

    async def memory_killed(self) -> bool:
        """Return whether the kernel has killed a process of the sandbox for memory; False where that cannot be known."""

    def disk_exceeded(self) -> bool:
        """Return whether the sandbox was ended for what was written; False where a tmpfs bounds that."""

    async def close(self) -> str:
        """End the sandbox and everything in it; return the last words of the runner, for an error message."""


class Backend(Protocol):
    """One way of isolating.

    Attributes:
        name: ``bubblewrap``, ``docker`` or ``process``.
    """

    name: str

    def problem(self) -> str | None:
        """Return why it cannot be used here, as one sentence, or None."""

    def guarantees(self) -> tuple[str, ...]:
        """Return what it promises here, one sentence each, weaknesses included."""

    async def start(self, launch: Launch) -> Channel:
        """Start a runner.

        Raises:
            SandboxUnavailable: The back end refused.
        """


def runner_command(python: Path | str, runner: str, first: str = "") -> list[str]:
    """Return the command that starts the runner's server, after the statements ``first``; isolated from other modules."""
    code = f"import sys; sys.path.insert(0, {runner!r}); {first}from workbench_runner.server import main; main()"
    return [str(python), "-I", "-B", "-c", code]


class PipeChannel:
    """A channel to a local process over its standard input and output."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        layout: Layout,
        *,
        address_space_mb: int | None = None,
        process_limit: int | None = None,
        memory_killed: Callable[[], bool] = lambda: False,
        end: Callable[[int], None] = lambda pid: None,
        cleanup: Callable[[], None] = lambda: None,
    ) -> None:
        self.layout = layout
        self.address_space_mb = address_space_mb
        self.process_limit = process_limit
        self._process = process
        self._memory_killed = memory_killed
        self._end = end
        self._cleanup = cleanup
        self._errors = bytearray()
        self._listener = asyncio.create_task(self._listen())

    @classmethod
    async def open(cls, command: Sequence[str], layout: Layout, **options: object) -> PipeChannel:
        """Start ``command`` with the environment ``env`` and the descriptors ``pass_fds``; return the channel to it."""
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=options.pop("env", {}),  # type: ignore[arg-type]
            pass_fds=options.pop("pass_fds", ()),  # type: ignore[arg-type]
            limit=_LINE_BYTES,
            start_new_session=True,
        )
        return cls(process, layout, **options)  # type: ignore[arg-type]

    async def _listen(self) -> None:
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(4096):
            self._errors += chunk
            del self._errors[:-4096]

    async def send(self, line: bytes) -> None:
        """Write one line."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        await self._process.stdin.drain()

    async def receive(self) -> bytes:
        """Return the next line, or ``b""``."""
        assert self._process.stdout is not None
        try:
            return await self._process.stdout.readline()
        except (ValueError, ConnectionError):
            return b""

    async def memory_killed(self) -> bool:
        """Return whether the kernel has killed a process of the sandbox for memory."""
        return self._memory_killed()

    def disk_exceeded(self) -> bool:
        """Return False: what is written goes to a bounded tmpfs."""
        return False

    async def close(self) -> str:
        """Kill the process and wait for it; a PID namespace takes everything inside along, else ``end`` did before."""
        if self._process.returncode is None:
            await asyncio.to_thread(self._end, self._process.pid)
            with contextlib.suppress(ProcessLookupError):
                # Not Process.kill(): it polls, and then asyncio's own watcher finds no child and warns.
                os.kill(self._process.pid, signal.SIGKILL)
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._listener, 2.0)
        await asyncio.to_thread(self._cleanup)
        return self._errors.decode("utf-8", "replace").strip()
