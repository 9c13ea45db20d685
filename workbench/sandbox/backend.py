"""The interface of back ends, each of which starts a process in isolation and provides a line-based channel to it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from workbench.sandbox.names import NOT_ISOLATED
from workbench.sandbox.types import Limits

#: The runner's folder on this machine; a back end mounts it read-only as ``<Layout.runner>/workbench_runner``.
RUNNER = Path(__file__).resolve().parent / "workbench_runner"

#: Parts of the system visible in a sandbox without its own image, besides ``/usr``: folders of ``/``, names in ``/etc``.
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

#: Maximum length of a line: a report with the trace of a large suite is a single line.
_LINE_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True)
class Layout:
    """Absolute paths inside the sandbox.

    Attributes:
        root: The repository's tree; writable, restored after each candidate.
        home: ``HOME`` of the tests; emptied after each candidate.
        temporary: ``TMPDIR``; emptied after each candidate.
        scratch: All other writable folders, emptied as well.
        metadata: Folder for ``.dist-info`` folders without code.
        runner: The folder that contains ``workbench_runner``.
    """

    root: str = "/repo"
    home: str = "/home/sandbox"
    temporary: str = "/tmp"
    scratch: tuple[str, ...] = ("/dev/shm",)
    metadata: str = "/meta"
    runner: str = "/runner"


@dataclass(frozen=True, slots=True)
class Launch:
    """Parameters for starting a runner.

    Attributes:
        python: The environment's interpreter, the same path inside and outside.
        mounts: Folders to mount read-only at the same path.
        limits: The maximum limits of future jobs; memory, processes and disk are set once per sandbox.
        variables: The runner's complete environment variables.
    """

    python: Path
    mounts: tuple[Path, ...]
    limits: Limits
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Guarantees:
    """What a back end promises on this machine. Rules, reports and screens go by it and never by the back end's name.

    Attributes:
        isolated: Whether this machine's files, processes and ports, and those of other sandboxes, are out of reach.
            Only such a back end is chosen without being named, and only in such a one the suite runs several times at once.
        network: Whether a candidate can reach a network.
        bounded_disk: Whether what is written goes to memory of a fixed size; else it goes to a folder of this machine,
            whose disk may be full through no fault of the candidate.
        sentences: All of it for a person, one sentence each, weaknesses included.
    """

    isolated: bool
    network: bool
    bounded_disk: bool
    sentences: tuple[str, ...]

    @property
    def weaknesses(self) -> tuple[str, ...]:
        """What a person has to be warned of wherever verdicts are shown; empty where there is nothing."""
        weak = ((not self.isolated, NOT_ISOLATED), (self.network, "network"))
        return tuple(word for is_so, word in weak if is_so)


class Channel(Protocol):
    """A running sandbox: lines in, lines out.

    Attributes:
        layout: Paths inside the sandbox.
        address_space_mb: ``RLIMIT_AS`` for candidates where nothing better bounds memory, else None.
        process_limit: ``RLIMIT_NPROC`` for candidates where nothing better bounds processes, else None.
    """

    layout: Layout
    address_space_mb: int | None
    process_limit: int | None

    async def send(self, line: bytes) -> None:
        """Write one line; raises ``ConnectionError`` if the runner has exited."""

    async def receive(self) -> bytes:
        """Return the next line, or ``b""`` if the runner has exited."""

    async def memory_killed(self, patience: float = 0.0) -> bool:
        """Return whether the kernel has killed a process of the sandbox for memory; False if unknown.

        Args:
            patience: Seconds to wait for the answer yes, where an engine is told of a kill some time after it.
        """

    def disk_exceeded(self) -> bool:
        """Return whether the sandbox was stopped for writing too much; False where a tmpfs limits that."""

    async def close(self) -> str:
        """Stop the sandbox and everything in it; return the runner's last error output, for a message."""


class Backend(Protocol):
    """One method of isolation.

    Attributes:
        name: ``bubblewrap``, ``docker``, ``process``, or the dotted path of one from outside.
    """

    name: str

    def problem(self) -> str | None:
        """Return why it cannot be used here, as one sentence, or None."""

    def guarantees(self) -> Guarantees:
        """Return what it promises here."""

    async def start(self, launch: Launch) -> Channel:
        """Start a runner.

        Raises:
            SandboxUnavailable: The back end refuses to start one.
        """


def runner_command(python: Path | str, runner: str, first: str = "") -> list[str]:
    """Return the command that runs the statements ``first`` and starts the runner's server, without other modules."""
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
        """Start ``command`` with the environment ``env`` and the descriptors ``pass_fds``; return its channel."""
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

    async def memory_killed(self, patience: float = 0.0) -> bool:
        """Return whether the kernel has killed a process of the sandbox for memory: known at once."""
        return self._memory_killed()

    def disk_exceeded(self) -> bool:
        """Return False: all writes go to a tmpfs of limited size."""
        return False

    async def close(self) -> str:
        """Kill the process and wait for it; its descendants end with the PID namespace, or were killed by ``end``."""
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
