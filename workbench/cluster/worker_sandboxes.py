"""The code that runs on a worker of the cluster: it keeps sandboxes for each repository between candidates."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from dataclasses import dataclass, field
from typing import Any

from workbench.base.errors import WorkbenchError
from workbench.cluster.job_bundle import JobBundle, workspace_of
from workbench.sandbox import Job, Pool, Report, SandboxUnavailable, choose_backend

#: Seconds after which unused sandboxes are closed: the run that opened them may have been killed.
IDLE_SECONDS = 300.0


def deliver(bundle: JobBundle) -> JobBundle:
    """Return the bundle: as a task's result, Dask recomputes it elsewhere if the worker that holds it is lost."""
    return bundle


async def test(bundle: JobBundle, job: Job) -> dict[str, Any]:
    """Test one candidate on this worker.

    Returns:
        ``report``, or ``unfit``: a sentence saying why this worker cannot test candidates of the bundle's repository;
            and ``worker``, its address.
    """
    from distributed.worker import get_worker

    worker = get_worker()
    all_sandboxes = _SANDBOXES.setdefault(worker, {})
    worker_sandboxes = all_sandboxes.get(bundle.key)
    if worker_sandboxes is None:
        worker_sandboxes = all_sandboxes[bundle.key] = WorkerSandboxes(bundle, worker.state.nthreads, all_sandboxes)
    try:
        report = await worker_sandboxes.run(job)
    except WorkbenchError as error:
        return {"unfit": str(error), "worker": worker.address}
    except OSError as error:
        return {"unfit": f"{error.strerror or error}", "worker": worker.address}
    return {"report": report, "worker": worker.address}


async def release(key: str) -> None:
    """Close the sandboxes of a job bundle on this worker, unless they are in use."""
    for all_sandboxes in list(_SANDBOXES.values()):
        worker_sandboxes = all_sandboxes.get(key)
        if worker_sandboxes is not None:
            await worker_sandboxes.close()


@dataclass(slots=True)
class WorkerSandboxes:
    """The sandboxes of one repository in this process."""

    bundle: JobBundle
    workers: int
    kept: dict[str, WorkerSandboxes]  # the registry that holds this object until it is closed
    _pool: Pool | None = None
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    _users: int = 0
    _closing: asyncio.TimerHandle | None = None
    _background: set[asyncio.Task[None]] = field(default_factory=set)

    async def run(self, job: Job) -> Report:
        """Test one candidate. WorkbenchError: repository, environment or sandbox is not available on this worker."""
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None
        self._users += 1
        try:
            return await (await self._opened()).run(job)
        finally:
            self._users -= 1
            if not self._users:
                self._closing = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._close_soon)

    async def _opened(self) -> Pool:
        async with self._opening:
            if self._pool is None:
                backend = await asyncio.to_thread(_backend, self.bundle.sandbox)
                workspace = await workspace_of(self.bundle)
                self._pool = Pool(backend, workspace, workers=self.workers, limits=self.bundle.limits)
            return self._pool

    def _close_soon(self) -> None:
        task = asyncio.get_running_loop().create_task(self.close())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def close(self) -> None:
        """Close the sandboxes if none of them is in use; the next candidate opens new ones."""
        async with self._opening:
            if self._users:
                return
            if self.kept.get(self.bundle.key) is self:
                del self.kept[self.bundle.key]
            pool, self._pool = self._pool, None
        if pool is not None:
            with contextlib.suppress(WorkbenchError, OSError):
                await pool.close()


def _backend(name: str) -> Any:
    try:
        return choose_backend(name or None)
    except SandboxUnavailable:
        # The preferred back end is missing here: any other one that isolates gives the same verdicts.
        return choose_backend(None)


_SANDBOXES: weakref.WeakKeyDictionary[Any, dict[str, WorkerSandboxes]] = weakref.WeakKeyDictionary()
