"""Workers with one sandbox each, which test one candidate at a time, and a pool of workers that share the jobs."""

from __future__ import annotations

import asyncio
import base64
import errno
import json
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from workbench.base import typed_json
from workbench.base.disks import is_full, says_full
from workbench.base.errors import WorkbenchError
from workbench.base.extensions import failure, is_dotted
from workbench.base.reasons import last_words
from workbench.sandbox import safety
from workbench.sandbox.backend import Backend, Channel, Launch
from workbench.sandbox.safety import SafetyCheck, SafetyResult, project_names
from workbench.sandbox.types import Job, Limits, Reason, Report, Route, SandboxError, Verdict, Workspace, no_room
from workbench.sandbox.workbench_runner.judge import PROCESSES

#: Folders that may contain a copy of the code under test, or that tests do not need.
LEFT_OUT_FOLDERS = frozenset(
    {".git", ".hg", ".svn", "__pycache__", ".tox", ".nox", ".venv", "venv", "node_modules", ".eggs"}
)
LEFT_OUT_TOP = frozenset({"build", "dist"})
_LEFT_OUT_SUFFIXES = (".egg-info", ".dist-info", ".pyc", ".pyo", ".egg", ".whl")

#: Environment variables of the runner and the tests. Numerical libraries start threads when imported, and modules with
#: running threads cannot be preloaded.
_VARIABLES = {
    "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "xterm", "COLUMNS": "80", "PYTHONHASHSEED": "0", "PYTHONNOUSERSITE": "1",
    "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
}  # fmt: skip

#: Seconds that a worker may take to start, and seconds beyond a job's own limit to wait for its answer.
_START_SECONDS, _GRACE_SECONDS = 120.0, 20.0

#: Seconds that an engine may take to report that the kernel killed a process.
_KILL_REPORT_SECONDS = 2.0

#: The message of a test when the disk is full; exceeding the file size limit raises a different error.
_NO_SPACE = f"OSError: [Errno {errno.ENOSPC}]"

#: Maximum number of changed names to list in the reason for a doubtful pass.
_MOST_CHANGES = 5

#: The changes that the original body makes to its process, by tests and route.
_Changes = dict[tuple[object, ...], frozenset[str]]

#: Reason and detail for a candidate that caused the runner to die twice.
_DIED = (Reason.TAMPERED, "It crashed the runner twice; how it ended could not be observed.")
_KILLED = (Reason.OUT_OF_MEMORY, "It used more memory than allowed, and the kernel ended the sandbox.")
_OVERRUN = (Reason.DISK_FULL, "It wrote more than allowed, and was stopped.")


class Worker:
    """One sandbox, started when first needed and restarted after a candidate crashed it."""

    def __init__(
        self,
        backend: Backend,
        workspace: Workspace,
        limits: Limits | None = None,
        changed_by_originals: _Changes | None = None,
    ) -> None:
        self.backend = backend
        self.workspace = workspace
        self.limits = limits or Limits()
        self.starts = 0
        self.ready: dict[str, Any] = {}
        self._channel: Channel | None = None
        self._death = _DIED
        self._originals: dict[str, tuple[bytes, SafetyCheck]] = {}
        self._changed_by_originals = {} if changed_by_originals is None else changed_by_originals

    async def run(self, job: Job) -> Report:
        """Test one candidate; a body that passes but is not plain is tested further, see :meth:`_confirm`.

        A plain body is also doubtful if it leaves the process in a different state than the original body does. If the
        runner dies while testing a candidate, it is restarted and the candidate is tested once more, cold. If it dies
        again, the candidate counts as crashed. Raises SandboxError if the sandbox does not start at all.
        """
        report = await self._attempt(job)
        if report is None:
            # The previous candidate may be to blame: after its report, the tree is still being restored and processes
            # killed.
            report = await self._attempt(replace(job, route=Route.COLD))
        if report is None:
            reason, detail = self._death
            report = Report(job.id, Verdict.CRASHED, reason, detail, suspicious=("the runner died",))
        if job.function and job.path:
            original, check = await self._original(job.path)
            found = await asyncio.to_thread(check.judge, job.content, job.function)
            report = replace(report, plain=found.plain)
            if report.passed and job.content == original:
                self._changed_by_originals[_same_tests(job, report.route)] = frozenset(report.changed)
            elif report.passed and (report.changed or not found.plain):
                report = await self._examine_pass(job, report, original, found)
        return replace(report, backend=self.backend.name)

    async def _original(self, path: str) -> tuple[bytes, SafetyCheck]:
        """Return the pristine file (empty if the candidate's file is new) and the safety check for its bodies."""
        if path not in self._originals:
            try:
                content = await asyncio.to_thread((self.workspace.root / path).read_bytes)
            except OSError:
                content = b""
            names = partial(project_names, self.workspace.root)
            self._originals[path] = content, await asyncio.to_thread(SafetyCheck, content, names)
        return self._originals[path]

    async def _examine_pass(self, job: Job, report: Report, original: bytes, found: SafetyResult) -> Report:
        assert job.function is not None
        changed = await self._changed_beyond_original(job, report, original)
        unseen = found.opens and PROCESSES in report.changed
        if found.plain and not changed and not unseen:
            return report
        if await asyncio.to_thread(safety.is_same_body, job.content, original, job.function):
            return report  # The repository's own body is trusted, so it is not checked.
        report = replace(report, suspicious=(*report.suspicious, *changed))
        if not unseen and (found.plain or await self._passes_with_checks(job, original, found)):
            return replace(report, plain=True, doubtful="; ".join(changed))
        reason = "it opens files, perhaps in processes that its tests start" if unseen else found.reason
        return await self._confirm(job, report, original, [reason, *changed])

    async def _passes_with_checks(self, job: Job, original: bytes, found: SafetyResult) -> bool:
        """Return whether a body passes with run-time checks wherever static analysis cannot decide."""
        if found.checked is None:
            return False
        job = replace(job, content=await asyncio.to_thread(found.checked))
        report = await self._attempt(job)
        return report is not None and report.passed and not await self._changed_beyond_original(job, report, original)

    async def _changed_beyond_original(self, job: Job, report: Report, original: bytes) -> list[str]:
        """Return descriptions of the process changes that the candidate makes but the original body does not."""
        if not report.changed:
            return []
        key = _same_tests(job, report.route)
        if key not in self._changed_by_originals:
            honest = await self._attempt(replace(job, content=original, route=report.route))
            self._changed_by_originals[key] = frozenset(honest.changed if honest is not None and honest.passed else ())
        beyond = [name for name in report.changed if name not in self._changed_by_originals[key]]
        kinds: dict[str, list[str]] = {"changed": [], "opened": [], "started": []}
        for name in beyond:
            kinds["started" if name == PROCESSES else "opened" if name[:1] in "./" else "changed"].append(name)
        return [
            f"it {did} {', '.join(names[:_MOST_CHANGES])}"
            + (f" and {len(names) - _MOST_CHANGES} more" if len(names) > _MOST_CHANGES else "")
            for did, names in kinds.items()
            if names
        ]

    async def _confirm(self, job: Job, report: Report, original: bytes, doubts: list[str]) -> Report:
        """Return a failed report if the candidate passes where it must fail, otherwise one with the reasons for doubt."""
        if not await self._fails_without_result(job):
            if await self._fails_without_result(replace(job, content=original)):
                return _forged(report, "It reports success even when its result is discarded.")
            doubts.append("its tests pass whatever it returns, so a forged report would not be noticed")
        decoy = safety.make_decoy(job.tests)
        cold = await self._with_decoy(job, decoy)
        if cold is not None and safety.is_fooled(cold, decoy):
            honest = await self._with_decoy(replace(job, content=original), decoy)
            if honest is not None and not safety.is_fooled(honest, decoy):
                return _forged(report, "It reports success even for a test that cannot pass.")
            doubts.append("a test that cannot pass could not be run alongside its own tests")
        elif cold is None or not safety.passed_beside(cold, decoy):
            suspicion = "its tests did not all pass in a fresh interpreter"
            report = replace(report, suspicious=(*report.suspicious, suspicion))
        return replace(report, doubtful="; ".join(doubts))

    async def _with_decoy(self, job: Job, decoy: safety.Decoy) -> Report | None:
        # A cold start imports everything again, for which the time limit of a fast verdict is too short.
        seconds = max(job.limits.seconds, self.limits.seconds)
        tests, added = (*job.tests, decoy.test) if job.tests else (), ((decoy.path, decoy.content),)
        limits = replace(job.limits, seconds=seconds)
        return await self._attempt(replace(job, tests=tests, added=added, route=Route.COLD, limits=limits))

    async def _fails_without_result(self, job: Job) -> bool:
        assert job.function is not None
        content = safety.discarded(job.content, job.function)
        if content is None:
            return False
        report = await self._attempt(replace(job, content=content))
        return report is not None and not report.passed

    async def _attempt(self, job: Job) -> Report | None:
        if self._channel is None:
            await self._start()
        channel = self._channel
        assert channel is not None
        answer = await self._ask({"op": "run", "job": typed_json.encode(job)}, job.limits.seconds + _GRACE_SECONDS)
        # This is checked after every candidate, because an unnoticed kill would be attributed to the next one.
        killed = await channel.memory_killed(_KILL_REPORT_SECONDS if _was_killed(answer) else 0.0)
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
        if report.reason is Reason.DISK_FULL and not self.backend.guarantees().bounded_disk:
            folder = Path(channel.layout.root).parent
            full = any(test.message.startswith(_NO_SPACE) for test in report.tests)
            # A candidate that exceeds its own limit is reported differently, so the host's disk may be full. The tree
            # may already be restored, so check whether the disk has as much free space as the candidate was promised.
            if full and await asyncio.to_thread(is_full, folder, job.limits.disk_mb * 2**20):
                report = replace(report, verdict=Verdict.ERROR, reason=Reason.SANDBOX, detail=no_room(folder))
        return report

    async def _ask(self, message: dict[str, Any], seconds: float) -> dict[str, Any] | None:
        assert self._channel is not None
        try:
            await self._channel.send(json.dumps(message).encode())
            # `wait_for` is not used: before Python 3.12, it loses a cancellation that arrives at the same time as the
            # line.
            async with asyncio.timeout(seconds):
                line = await self._channel.receive()
            return dict(json.loads(line)) if line else None
        except (TimeoutError, ConnectionError, ValueError):
            return None

    async def _start(self) -> None:
        workspace = self.workspace
        path = f"{workspace.python.parent}:/usr/local/bin:/usr/bin:/bin"
        variables = {"PATH": path, **_VARIABLES}
        launch = Launch(workspace.python, workspace.mounts, self.limits, variables)
        self._channel = channel = await self._launch(launch)
        self.starts += 1
        layout = channel.layout
        variables |= {"PATH": f"{layout.metadata}/bin:{path}", "HOME": layout.home, "TMPDIR": layout.temporary}
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
            "environ": {**variables, **dict(workspace.variables)},
            "metadata": list(workspace.metadata),
            "address_space_mb": channel.address_space_mb,
            "process_limit": channel.process_limit,
        }
        answer = await self._ask(opening, _START_SECONDS)
        if answer is None or answer.get("op") != "ready":
            words = await self.close()
            if says_full(words) and not self.backend.guarantees().bounded_disk:
                raise SandboxError(no_room(Path(layout.root).parent))
            why = last_words(words)
            raise SandboxError(f"The {self.backend.name} sandbox did not start{': ' if why else ''}{why}.")
        self.ready = answer
        if answer.get("threads", 1) > 1 and workspace.preload:
            # Forking a process with threads may hang, so nothing is preloaded, which is slower but safe.
            self.workspace = replace(workspace, preload=())
            await self.close()
            await self._start()

    async def _launch(self, launch: Launch) -> Channel:
        try:
            return await self.backend.start(launch)
        except WorkbenchError:
            raise
        except Exception as error:
            if is_dotted(self.backend.name):
                raise SandboxError(failure("sandbox", self.backend.name, error)) from error
            raise

    async def close(self) -> str:
        """Stop the sandbox and return its last output."""
        channel, self._channel = self._channel, None
        return await channel.close() if channel is not None else ""


def _same_tests(job: Job, route: Route) -> tuple[object, ...]:
    return job.path, job.function, job.tests, route


def _was_killed(answer: dict[str, Any] | None) -> bool:
    """Return whether a candidate or the runner ended with SIGKILL, which the kernel sends when memory runs out."""
    return answer is None or (answer.get("reason") == Reason.SIGNAL and "signal 9" in str(answer.get("detail")))


def _forged(report: Report, detail: str) -> Report:
    return replace(
        report, verdict=Verdict.FAILED, reason=Reason.TAMPERED, detail=detail, suspicious=("a forged report",)
    )


class Pool:
    """Several workers that share one queue of jobs."""

    def __init__(
        self, backend: Backend, workspace: Workspace, *, workers: int = 2, limits: Limits | None = None
    ) -> None:
        changed: _Changes = {}
        self.workers = [Worker(backend, workspace, limits, changed) for _ in range(max(1, workers))]
        self._idle: asyncio.Queue[Worker] = asyncio.Queue()
        for worker in self.workers:
            self._idle.put_nowait(worker)

    async def run(self, job: Job) -> Report:
        """Test one candidate on the next available worker; see :meth:`Worker.run`."""
        worker = await self._idle.get()
        try:
            return await worker.run(job)
        except BaseException:
            await worker.close()  # The job was cancelled, so the sandbox must not continue with the candidate.
            raise
        finally:
            self._idle.put_nowait(worker)

    async def close(self) -> None:
        await asyncio.gather(*(worker.close() for worker in self.workers))


@asynccontextmanager
async def pool(
    backend: Backend, workspace: Workspace, *, workers: int = 2, limits: Limits | None = None
) -> AsyncIterator[Pool]:
    opened = Pool(backend, workspace, workers=workers, limits=limits)
    try:
        yield opened
    finally:
        await opened.close()


def tree_files(root: Path) -> Iterator[tuple[str, int, str]]:
    """Yield (path, mode, base64) for every file that a candidate may see, excluding possible copies of the code."""
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
    """Return whether ``path`` is kept out of the sandbox (version control, bytecode, builds, installed copies)."""
    return (
        bool(LEFT_OUT_FOLDERS.intersection(path.parts))
        or path.parts[0] in LEFT_OUT_TOP
        or any(part.endswith(_LEFT_OUT_SUFFIXES) for part in path.parts)
    )
