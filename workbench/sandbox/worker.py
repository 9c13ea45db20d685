"""Workers: a sandbox each, one candidate at a time; a pool of them shares the work."""

from __future__ import annotations

import asyncio
import base64
import json
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from workbench.sandbox import forgery
from workbench.sandbox.backend import Backend, Channel, Launch
from workbench.sandbox.errors import SandboxError
from workbench.sandbox.types import Job, Limits, Reason, Report, Route, Verdict, Workspace

#: Folders that may hold a copy of the code under test, or that nobody's tests need.
LEFT_OUT_FOLDERS = frozenset(
    {".git", ".hg", ".svn", "__pycache__", ".tox", ".nox", ".venv", "venv", "node_modules", ".eggs"}
)
LEFT_OUT_TOP = frozenset({"build", "dist"})
_LEFT_OUT_SUFFIXES = (".egg-info", ".dist-info", ".pyc", ".pyo", ".egg", ".whl")

#: How long a worker may take to start, and how far past a job's own limit it is trusted to answer.
_START_SECONDS, _GRACE_SECONDS = 120.0, 20.0

#: Why a runner died, as reason and detail of a candidate under which it died twice.
_DIED = (Reason.TAMPERED, "It took the runner down twice; its end could not be observed.")
_KILLED = (Reason.OUT_OF_MEMORY, "It used more memory than allowed, and the kernel ended the sandbox.")
_OVERRUN = (Reason.DISK_FULL, "It wrote more than allowed, and was ended.")


class Worker:
    """One sandbox, started when first needed and again when a candidate took it down."""

    def __init__(self, backend: Backend, workspace: Workspace, limits: Limits | None = None) -> None:
        self.backend = backend
        self.workspace = workspace
        self.limits = limits or Limits()
        self.starts = 0
        self.ready: dict[str, Any] = {}
        self._channel: Channel | None = None
        self._death = _DIED
        self._originals: dict[str, bytes] = {}

    async def run(self, job: Job) -> Report:
        """Test one candidate.

        A runner that dies under a candidate is started again and the candidate tried once more, cold; when it dies
        again, the candidate did it.

        Raises:
            SandboxError: The sandbox does not start at all.
        """
        report = await self._attempt(job)
        if report is None:
            # It need not have been this one: the tree is brought back, and anybody may kill a process, after a report.
            report = await self._attempt(replace(job, route=Route.COLD))
        if report is None:
            reason, detail = self._death
            report = Report(job.id, Verdict.CRASHED, reason, detail, suspicious=("the runner died",))
        if report.passed and job.function and job.path:
            original = await self._original(job.path)
            if forgery.doubtful(original, job.content):
                report = await self._confirm(job, report, original)
        return replace(report, backend=self.backend.name)

    async def _original(self, path: str) -> bytes:
        """Return the pristine file; empty where the candidate's file is new."""
        if path not in self._originals:
            try:
                self._originals[path] = await asyncio.to_thread((self.workspace.root / path).read_bytes)
            except OSError:
                self._originals[path] = b""
        return self._originals[path]

    async def _confirm(self, job: Job, report: Report, original: bytes) -> Report:
        """Look whether the candidate still passes when its result is thrown away; see :mod:`workbench.sandbox.forgery`."""
        if await self._fails_without_result(job):
            return report
        if await self._fails_without_result(replace(job, content=original)):
            detail = "It reports success even when its result is thrown away."
            return replace(
                report, verdict=Verdict.FAILED, reason=Reason.TAMPERED, detail=detail, suspicious=("a forged report",)
            )
        doubt = "its tests pass whatever it returns, so that a forged report would not be noticed"
        return replace(report, suspicious=(*report.suspicious, doubt))

    async def _fails_without_result(self, job: Job) -> bool:
        assert job.function is not None
        content = forgery.thrown_away(job.content, job.function)
        if content is None:
            return False
        report = await self._attempt(replace(job, content=content))
        return report is not None and not report.passed

    async def _attempt(self, job: Job) -> Report | None:
        if self._channel is None:
            await self._start()
        channel = self._channel
        assert channel is not None
        answer = await self._ask({"op": "run", "job": job.to_json()}, job.limits.seconds + _GRACE_SECONDS)
        # After every candidate: a kill that went unnoticed would be put down to the next one.
        killed = await channel.memory_killed()
        if answer is None:
            overrun = channel.disk_exceeded()
            await self.close()
            self._death = _OVERRUN if overrun else _KILLED if killed else _DIED
            return None
        if killed or answer.get("restart"):
            await self.close()
        report = Report.from_json(answer)
        if killed and report.reason in (Reason.SIGNAL, Reason.EARLY_EXIT, Reason.TESTS_FAILED):
            detail = "It used more memory than allowed, and the kernel ended it."
            report = replace(report, verdict=Verdict.CRASHED, reason=Reason.OUT_OF_MEMORY, detail=detail)
        return report

    async def _ask(self, message: dict[str, Any], seconds: float) -> dict[str, Any] | None:
        assert self._channel is not None
        try:
            await self._channel.send(json.dumps(message).encode())
            line = await asyncio.wait_for(self._channel.receive(), seconds)
            return dict(json.loads(line)) if line else None
        except (TimeoutError, ConnectionError, ValueError):
            return None

    async def _start(self) -> None:
        workspace = self.workspace
        variables = {
            "PATH": f"{workspace.python.parent}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "xterm",
            "COLUMNS": "80",
            "PYTHONHASHSEED": "0",
            "PYTHONNOUSERSITE": "1",
            # Numerical libraries start threads when imported, and what has threads is not preloaded.
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
        }
        self._channel = channel = await self.backend.start(
            Launch(workspace.python, workspace.mounts, self.limits, variables)
        )
        self.starts += 1
        layout = channel.layout
        variables["PATH"] = f"{layout.metadata}/bin:{variables['PATH']}"
        variables |= {"HOME": layout.home, "TMPDIR": layout.temporary, **dict(workspace.variables)}
        opening = {
            "op": "open",
            "root": layout.root,
            "scratch": [layout.home, layout.temporary, *layout.scratch],
            "mounts": [str(mount) for mount in workspace.mounts],
            "metadata_root": layout.metadata,
            "files": await asyncio.to_thread(lambda: list(tree_files(workspace.root))),
            "import_roots": list(workspace.import_roots),
            "own_modules": list(workspace.own_modules),
            "preload": list(workspace.preload),
            "pytest_args": list(workspace.pytest_args),
            "test_paths": list(workspace.test_paths),
            "environ": variables,
            "metadata": list(workspace.metadata),
            "address_space_mb": channel.address_space_mb,
            "process_limit": channel.process_limit,
        }
        answer = await self._ask(opening, _START_SECONDS)
        if answer is None or answer.get("op") != "ready":
            words = (await self.close()).splitlines()
            last = f": {words[-1]}" if words else "."
            raise SandboxError(f"The {self.backend.name} sandbox did not start{last}")
        self.ready = answer
        if answer.get("threads", 1) > 1 and workspace.preload:
            # A fork of a process with threads may hang: rather slow than sometimes wrong.
            self.workspace = replace(workspace, preload=())
            await self.close()
            await self._start()

    async def close(self) -> str:
        """End the sandbox; return its last words."""
        channel, self._channel = self._channel, None
        return await channel.close() if channel is not None else ""


class Pool:
    """Several workers over one queue of jobs."""

    def __init__(
        self, backend: Backend, workspace: Workspace, *, workers: int = 2, limits: Limits | None = None
    ) -> None:
        self.workers = [Worker(backend, workspace, limits) for _ in range(max(1, workers))]
        self._idle: asyncio.Queue[Worker] = asyncio.Queue()
        for worker in self.workers:
            self._idle.put_nowait(worker)

    async def run(self, job: Job) -> Report:
        """Test one candidate on the next free worker; see :meth:`Worker.run`."""
        worker = await self._idle.get()
        try:
            return await worker.run(job)
        except BaseException:
            await worker.close()  # cancelled in mid-candidate: the sandbox must not go on running it
            raise
        finally:
            self._idle.put_nowait(worker)

    async def close(self) -> None:
        """End every sandbox."""
        await asyncio.gather(*(worker.close() for worker in self.workers))


@asynccontextmanager
async def pool(
    backend: Backend, workspace: Workspace, *, workers: int = 2, limits: Limits | None = None
) -> AsyncIterator[Pool]:
    """Open a :class:`Pool` and close it at the end."""
    opened = Pool(backend, workspace, workers=workers, limits=limits)
    try:
        yield opened
    finally:
        await opened.close()


def tree_files(root: Path) -> Iterator[tuple[str, int, str]]:
    """Yield ``(path, mode, base64)`` for every file that a candidate may see: nothing that may be a copy of the code."""
    for path in sorted(root.rglob("*")):
        relative = PurePosixPath(path.relative_to(root).as_posix())
        if is_left_out(relative):
            continue
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            target = path.readlink()
            content = str(target).encode("utf-8", "surrogateescape")
        elif stat.S_ISREG(status.st_mode):
            content = path.read_bytes()
        else:
            continue
        yield str(relative), status.st_mode, base64.b64encode(content).decode("ascii")


def is_left_out(path: PurePosixPath) -> bool:
    """Return whether ``path`` stays outside the sandbox (version control, bytecode, builds, installed copies)."""
    return (
        bool(LEFT_OUT_FOLDERS.intersection(path.parts))
        or path.parts[0] in LEFT_OUT_TOP
        or any(part.endswith(_LEFT_OUT_SUFFIXES) for part in path.parts)
    )
