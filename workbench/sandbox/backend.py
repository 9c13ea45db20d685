"""The interface of back ends: each starts an isolated process and communicates with it line by line."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from workbench.sandbox.types import NOT_ISOLATED, Limits

#: The runner's folder on this machine; a back end mounts it read-only as ``<Layout.runner>/workbench_runner``.
RUNNER = Path(__file__).resolve().parent / "workbench_runner"

#: System files visible in a sandbox without its own image, besides ``/usr``: folders in ``/``, and names in ``/etc``.
SYSTEM_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
SYSTEM_FILES = (
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "mime.types", "ssl", "alternatives", "services", "protocols",
)  # fmt: skip

#: Maximum length of a line; a report with the trace of a large suite is a single line.
_LINE_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True)
class Layout:
    """Absolute paths inside the sandbox."""

    root: str = "/repo"  # the repository's tree, which is writable and restored after each candidate
    home: str = "/home/sandbox"  # ``HOME`` of the tests, which is emptied after each candidate
    temporary: str = "/tmp"  # ``TMPDIR``, which is emptied after each candidate
    scratch: tuple[str, ...] = ("/dev/shm",)  # all other writable folders, which are emptied as well
    metadata: str = "/meta"  # location of ``.dist-info`` folders without code
    runner: str = "/runner"  # folder that contains ``workbench_runner``


@dataclass(frozen=True, slots=True)
class Launch:
    """Parameters for starting a runner."""

    python: Path  # the environment's interpreter, at the same path inside and outside
    mounts: tuple[Path, ...]  # folders to mount read-only at the same path
    limits: Limits  # the maximum over all future jobs; memory, processes and disk are set once per sandbox
    variables: Mapping[str, str] = field(default_factory=dict)  # all environment variables of the runner


@dataclass(frozen=True, slots=True)
class Guarantees:
    """The guarantees of a back end on this machine; all other code relies on these, never on the back end's name."""

    #: Whether this machine's files, processes and ports, and other sandboxes, are out of reach. Only a back end with
    #: this guarantee is chosen by default, and only there may several runs of the suite be concurrent.
    isolated: bool
    network: bool  # whether a candidate can reach a network
    bounded_disk: bool  # whether writes go to memory of a fixed size rather than to a shared disk
    sentences: tuple[str, ...]  # all guarantees and weaknesses as sentences for the user

    @property
    def weaknesses(self) -> tuple[str, ...]:
        """The weaknesses, which are shown as warnings next to verdicts."""
        weak = ((not self.isolated, NOT_ISOLATED), (self.network, "network"))
        return tuple(word for is_so, word in weak if is_so)


class Channel:
    """A running sandbox that exchanges lines with its runner.

    ``address_space_mb`` and ``process_limit`` are the candidates' ``RLIMIT_AS`` and ``RLIMIT_NPROC``; they are None if
    memory and processes are limited in a better way.
    """

    def __init__(self, layout: Layout, address_space_mb: int | None = None, process_limit: int | None = None) -> None:
        self.layout = layout
        self.address_space_mb, self.process_limit = address_space_mb, process_limit
        self._errors = bytearray()  # the end of the runner's error output

    def _record_errors(self, errors: bytes) -> None:
        self._errors += errors
        del self._errors[:-4096]

    def _recorded_errors(self) -> str:
        return self._errors.decode("utf-8", "replace").strip()

    async def send(self, line: bytes) -> None:
        """Write one line. Raises ``ConnectionError`` if the runner has exited."""
        raise NotImplementedError

    async def receive(self) -> bytes:
        """Return the next line, or ``b""`` if the runner has exited."""
        raise NotImplementedError

    async def memory_killed(self, patience: float = 0.0) -> bool:
        """Return whether the kernel killed a process for memory, waiting up to ``patience`` seconds to find out."""
        raise NotImplementedError

    def disk_exceeded(self) -> bool:
        """Return whether the sandbox was stopped for writing too much; always False if a tmpfs enforces the limit."""
        return False

    async def close(self) -> str:
        """Stop the sandbox and everything in it, and return the end of the runner's error output."""
        raise NotImplementedError


class Backend(Protocol):
    """A method of isolation."""

    name: str

    def problem(self) -> str | None:
        """Return the reason why the back end cannot be used here, as one sentence, or None if it can."""

    def guarantees(self) -> Guarantees: ...

    async def start(self, launch: Launch) -> Channel:
        """Start a runner. Raises SandboxUnavailable if the back end refuses."""


def runner_command(python: Path | str, runner: str, first: str = "") -> list[str]:
    """Return the command that runs the statements in ``first`` and starts the runner's server without other modules."""
    code = f"import sys; sys.path.insert(0, {runner!r}); {first}from workbench_runner.server import main; main()"
    return [str(python), "-I", "-B", "-c", code]


class PipeChannel(Channel):
    """A channel to a local process through its standard input and output."""

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
        super().__init__(layout, address_space_mb, process_limit)
        self._process = process
        self._memory_killed, self._end, self._cleanup = memory_killed, end, cleanup
        self._listener = asyncio.create_task(self._listen())

    @classmethod
    async def open(cls, command: Sequence[str], layout: Layout, **options: object) -> PipeChannel:
        """Start ``command`` with the environment ``env`` and the descriptors ``pass_fds``, and return its channel."""
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
            self._record_errors(chunk)

    async def send(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        await self._process.stdin.drain()

    async def receive(self) -> bytes:
        assert self._process.stdout is not None
        try:
            return await self._process.stdout.readline()
        except (ValueError, ConnectionError):
            return b""

    async def memory_killed(self, patience: float = 0.0) -> bool:
        return self._memory_killed()

    async def close(self) -> str:
        """Kill the process and wait for it; its descendants end with the PID namespace, or were killed by ``end``."""
        if self._process.returncode is None:
            await asyncio.to_thread(self._end, self._process.pid)
            with contextlib.suppress(ProcessLookupError):
                # Process.kill() is not used, because it polls: asyncio's own watcher would then find no child and warn.
                os.kill(self._process.pid, signal.SIGKILL)
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._listener, 2.0)
        await asyncio.to_thread(self._cleanup)
        return self._recorded_errors()
