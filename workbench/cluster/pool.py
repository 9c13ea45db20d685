"""The engine's side of a cluster: candidates go out as Dask tasks, reports come back; workers may come and go."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
import warnings
from collections.abc import Callable, Collection
from typing import Any

from workbench.cluster import bench
from workbench.cluster.address import ClusterError
from workbench.cluster.fitness import DISTRIBUTION, differences, problem
from workbench.cluster.parcel import Parcel
from workbench.cluster.window import Window
from workbench.sandbox import Job, Reason, Report, Verdict

#: Candidates under way per thread of the cluster: one runs, one is there already, one is on its way.
FLIGHT = 3
#: How far the number under way may grow when workers join; testers wait for free, so this costs nothing.
_GROWTH, _LEAST_TESTERS = 4, 64
_LOOK_SECONDS, _LEAVE_SECONDS = 2.0, 15.0
#: How long a run waits for the first worker, or for one to come back.
WORKER_SECONDS = 120.0
#: Times that a candidate is handed out anew because the connection was lost or a worker turned out unfit.
_TRIES = 6

Tell = Callable[[str], None]


class ClusterPool:
    """Tests candidates on a cluster; used as :class:`workbench.sandbox.Pool` is.

    Attributes:
        workers: As many entries as there may be candidates under way.
        threads: Sandboxes side by side on all fit workers at the moment.
    """

    def __init__(self, engine: str, client: Any, parcel: Parcel, tell: Tell) -> None:
        self.workers: Collection[object] = range(_LEAST_TESTERS)
        self.threads = 0
        self._engine = engine
        self._client = client
        self._parcel = parcel
        self._tell = tell
        self._delivery: Any = None
        self._unfit: dict[str, str] = {}
        self._known: dict[str, int] = {}
        self._window = Window(0)
        self._flights: dict[Any, tuple[str, ...]] = {}
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._watching: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Look at the workers and send the repository on its way.

        Raises:
            ClusterError: There is no worker, or none that can be used.
        """
        deadline = asyncio.get_running_loop().time() + WORKER_SECONDS
        while not await self._look():
            if asyncio.get_running_loop().time() > deadline:
                raise self._no_worker()
            await asyncio.sleep(0.2)
        self._require_fit()
        self.workers = range(max(_LEAST_TESTERS, _GROWTH * FLIGHT * self.threads))
        self._deliver()
        self._say()
        self._watching = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """Let the workers close their sandboxes."""
        if self._watching is not None:
            self._watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watching
        if self._ended.done():
            self._ended.exception()
        else:
            self._ended.cancel()
        self._delivery = None
        if self._client.status == "running":
            with contextlib.suppress(Exception):
                await asyncio.wait_for(
                    self._client.run(bench.leave, self._parcel.key, on_error="ignore"), _LEAVE_SECONDS
                )

    async def run(self, job: Job) -> Report:
        """Test one candidate on any worker; a worker that vanishes under it is no verdict, another one takes over.

        Raises:
            ClusterError: The scheduler is gone, or no worker is left that can test.
        """
        async with self._window:
            for _ in range(_TRIES):
                report = await self._try(job)
                if report is not None:
                    return report
        return _error(job, "The cluster lost it again and again; it is tested when the run is resumed.")

    async def _try(self, job: Job) -> Report | None:
        """Hand a candidate out once; None when it must be handed out again."""
        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker

        self._require_fit()
        if self._client.status != "running":
            await self._reconnected()
        allowed = tuple(self._fit()) if self._unfit else ()
        future = self._client.submit(
            bench.test,
            self._delivery,
            job.to_json(),
            key=f"workbench_test-{uuid.uuid4().hex}",
            pure=False,
            workers=list(allowed) or None,
        )
        self._flights[future] = allowed
        try:
            answer = await self._answer(future)
        except ClusterError:
            raise
        except FutureCancelledError:
            # The connection was lost, or the workers that were allowed to take it are gone.
            if self._client.status != "running":
                await self._reconnected()
            return None
        except KilledWorker as error:
            deaths = error.allowed_failures + 1
            return _error(job, f"{deaths} workers of the cluster died while they tested it; see their logs.")
        except Exception as error:
            if await self._unfit_found():
                return None
            return _error(job, f"A worker of the cluster failed: {type(error).__name__}: {str(error)[:300]}")
        finally:
            self._flights.pop(future, None)
            future.release()
        if "unfit" in answer:
            self._mark(answer["worker"], answer["unfit"])
            return None
        return Report.from_json(answer["report"])

    async def _answer(self, future: Any) -> dict[str, Any]:
        waiting: asyncio.Task[Any] = asyncio.ensure_future(future._result())
        try:
            await asyncio.wait({waiting, self._ended}, return_when=asyncio.FIRST_COMPLETED)
            if self._ended.done():
                self._ended.result()
            return dict(await waiting)
        finally:
            waiting.cancel()

    async def _unfit_found(self) -> bool:
        """Look for the worker that made a task fail before our own code ran; whether there was one."""
        known = set(self._unfit)
        await self._look(again=True)
        if self._delivery.status == "error":
            self._deliver()
        return bool(set(self._unfit) - known)

    # -- the connection

    def _deliver(self) -> None:
        # A task, not scattered data: Dask computes it again when every worker that has it is gone.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a large repository is sent once, on purpose
            self._delivery = self._client.submit(
                bench.deliver,
                self._parcel,
                key=f"workbench_parcel-{uuid.uuid4().hex}",
                pure=False,
                workers=self._fit() if self._unfit else None,
                allow_other_workers=bool(self._unfit),
            )

    async def _reconnected(self) -> None:
        """Wait until the client is connected again, then send the repository anew: the scheduler forgot it."""
        lost = self._delivery
        while self._client.status == "connecting":  # noqa: ASYNC110  Dask has no event for it
            await asyncio.sleep(0.1)
        if self._client.status != "running":
            raise self._gone()
        if self._delivery is lost:
            self._deliver()

    def _gone(self) -> ClusterError:
        return ClusterError(
            f"The Dask scheduler at {self._engine} went away; every verdict so far is in the session, and "
            "`workbench resume` tests the rest."
        )

    # -- the workers

    def _fit(self) -> list[str]:
        return [address for address in self._known if address not in self._unfit]

    def _mark(self, address: str, sentence: str) -> None:
        if address not in self._unfit:
            self._unfit[address] = sentence
            self._tell(f"Worker {address} is not used: {sentence}")
        self._require_fit()

    def _require_fit(self) -> None:
        if self._known and not self._fit():
            address, sentence = next(item for item in self._unfit.items() if item[0] in self._known)
            count = len(self._known)
            every = "The only worker" if count == 1 else f"None of the {count} workers"
            can = "cannot" if count == 1 else "can"
            raise ClusterError(f"{every} of the cluster {self._engine} {can} test: {sentence.rstrip('.')} ({address}).")

    def _no_worker(self) -> ClusterError:
        return ClusterError(
            f"The Dask scheduler at {self._engine} has had no worker that answers for {WORKER_SECONDS:.0f} s; start some, then "
            "`workbench resume` tests what is missing."
        )

    async def _look(self, *, again: bool = False) -> int:
        """Learn which workers there are, and look at those that are new; return how many have answered."""
        threads: dict[str, int] = dict(await self._client.nthreads())
        new = set(threads) - set(self._known)
        self._unfit = {address: why for address, why in self._unfit.items() if address in threads}
        silent = await self._inspect(threads if again else new)
        self._known = {address: count for address, count in threads.items() if address not in silent}
        self.threads = sum(threads[address] for address in self._fit())
        await self._window.resize(FLIGHT * self.threads)
        return len(self._known)

    async def _inspect(self, addresses: Collection[str]) -> set[str]:
        """Note which of these workers are unfit; return those that do not answer: they are looked at again."""
        if not addresses:
            return set()
        from distributed.versions import get_versions

        ours = get_versions([DISTRIBUTION])
        # What Client.get_versions does, but of the new ones only: one that has just died would hold up all.
        message = {"op": "versions", "packages": [DISTRIBUTION]}
        answers = await self._client.scheduler.broadcast(msg=message, workers=list(addresses), on_error="ignore")
        for address, theirs in answers.items():
            why = problem(theirs, ours)
            if why and address not in self._unfit:
                self._unfit[address] = why
                self._tell(f"Worker {address} is not used: {why}.")
            elif address not in self._known and (differs := differences(theirs, ours)):
                self._tell(f"Worker {address} has {differs}.")
        return set(addresses) - set(answers)

    def _say(self) -> None:
        count = len(self._fit())
        self._tell(f"{count} worker{'s' * (count != 1)}, {self.threads} at once, {self._engine}")

    async def _watch(self) -> None:
        """Keep up with workers that come and go; end the run when nobody is left for too long."""
        loop = asyncio.get_running_loop()
        last = loop.time()
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            before = self.threads
            try:
                if await asyncio.wait_for(self._look(), 30):
                    last = loop.time()
                self._require_fit()
            except ClusterError as error:
                self._end(error)
                return
            except Exception:
                # The connection is lost for the moment; whoever waits for a report notices the same.
                if self._client.status == "closed":
                    self._end(self._gone())
                    return
            if self.threads != before:
                self._say()
            if loop.time() - last > WORKER_SECONDS:
                self._end(self._no_worker())
                return
            for future, allowed in list(self._flights.items()):
                if allowed and not set(allowed) & set(self._known):
                    await future.cancel()

    def _end(self, error: ClusterError) -> None:
        if not self._ended.done():
            self._ended.set_exception(error)


def _error(job: Job, sentence: str) -> Report:
    return Report(job.id, Verdict.ERROR, Reason.SANDBOX, sentence)
