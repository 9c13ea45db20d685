"""What runs on a worker of the cluster: sandboxes for each repository, kept from one candidate to the next."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from dataclasses import dataclass, field
from typing import Any

from workbench.cluster.parcel import Parcel, workspace_of
from workbench.errors import WorkbenchError
from workbench.sandbox import Job, Pool, SandboxUnavailable, choose_backend

#: Sandboxes that nobody has used for so long are closed: the run that wanted them may have been killed.
IDLE_SECONDS = 300.0


def deliver(parcel: Parcel) -> Parcel:
    """Be the task whose result is the parcel: a worker that vanishes with it makes Dask run it elsewhere."""
    return parcel


async def test(parcel: Parcel, job: dict[str, Any]) -> dict[str, Any]:
    """Test one candidate on this worker.

    Returns:
        ``report``, or ``unfit``: a sentence on why this worker cannot test anything of the parcel's repository; and
        the ``worker``'s address.
    """
    from distributed.worker import get_worker

    worker = get_worker()
    benches = _BENCHES.setdefault(worker, {})
    bench = benches.get(parcel.key)
    if bench is None:
        bench = benches[parcel.key] = Bench(parcel, worker.state.nthreads, benches)
    try:
        report = await bench.run(Job.from_json(job))
    except WorkbenchError as error:
        return {"unfit": str(error), "worker": worker.address}
    except OSError as error:
        return {"unfit": f"{error.strerror or error}", "worker": worker.address}
    return {"report": report.to_json(), "worker": worker.address}


async def leave(key: str) -> None:
    """Close the sandboxes of a parcel on this worker, unless somebody else uses them just now."""
    for benches in list(_BENCHES.values()):
        bench = benches.get(key)
        if bench is not None:
            await bench.close()


@dataclass(slots=True)
class Bench:
    """The sandboxes of one repository in this process.

    Attributes:
        parcel: The repository.
        workers: Sandboxes side by side.
        kept: Where it is found by the next candidate, and taken out of once it is closed.
    """

    parcel: Parcel
    workers: int
    kept: dict[str, Bench]
    _pool: Pool | None = None
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    _users: int = 0
    _closing: asyncio.TimerHandle | None = None
    _background: set[asyncio.Task[None]] = field(default_factory=set)

    async def run(self, job: Job) -> Any:
        """Test one candidate; see :meth:`workbench.sandbox.Worker.run`.

        Raises:
            WorkbenchError: The repository, its environment or the sandbox is not to be had here.
        """
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
                backend = await asyncio.to_thread(_backend, self.parcel.sandbox)
                workspace = await workspace_of(self.parcel)
                self._pool = Pool(backend, workspace, workers=self.workers, limits=self.parcel.limits)
            return self._pool

    def _close_soon(self) -> None:
        task = asyncio.get_running_loop().create_task(self.close())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def close(self) -> None:
        """End the sandboxes if none of them is in use; the next candidate opens new ones."""
        async with self._opening:
            if self._users:
                return
            if self.kept.get(self.parcel.key) is self:
                del self.kept[self.parcel.key]
            pool, self._pool = self._pool, None
        if pool is not None:
            with contextlib.suppress(WorkbenchError, OSError):
                await pool.close()


def _backend(name: str) -> Any:
    try:
        return choose_backend(name or None)
    except SandboxUnavailable:
        # What this machine has and that one lacks: any that isolates gives the same verdicts.
        return choose_backend(None)


_BENCHES: weakref.WeakKeyDictionary[Any, dict[str, Bench]] = weakref.WeakKeyDictionary()
