"""The engine's side of a Dask cluster: connect, submit candidates as tasks, and handle workers that join and leave."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import uuid
import warnings
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Any

from workbench.base.reasons import reason_of
from workbench.cluster import ClusterError, dask_address, job_bundle
from workbench.cluster.job_bundle import JobBundle, pack
from workbench.sandbox import Job, Limits, Reason, Report, Verdict

#: This distribution's name, for ``importlib.metadata`` on the workers.
DISTRIBUTION = "docs-workbench"

#: Packages that may differ in version; Dask itself only warns about them.
_MAY_DIFFER = ("dask", "distributed")


def problem(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """Return why a worker is unusable, or "" if it is usable.

    Both arguments are results of ``distributed.versions.get_versions``.
    """
    remote, local = theirs["packages"], ours["packages"]
    if _minor(remote["python"]) != _minor(local["python"]):
        return f"it has Python {_minor(remote['python'])}, but Python {_minor(local['python'])} is required, as here"
    required, installed = local.get(DISTRIBUTION), remote.get(DISTRIBUTION)
    if required and installed is None:
        return f"Workbench is not installed there: pip install '{DISTRIBUTION}[cluster]=={required}'"
    if required and installed != required:
        return f"it has Workbench {installed}, but {required} is required, as here"
    return ""


def differences(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """Describe differences in Dask's versions ("distributed 2025.1.0, here 2026.8.0"); return "" if none."""
    remote, local = theirs["packages"], ours["packages"]
    return "; ".join(
        f"{name} {remote.get(name)}, here {local.get(name)}"
        for name in _MAY_DIFFER
        if remote.get(name) != local.get(name)
    )


def _minor(python: str) -> str:
    return ".".join(python.split(".")[:2])


class ResizableSemaphore:
    """A fair semaphore of variable size: waiters enter in the order of their arrival."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entered = 0
        self._changed = asyncio.Condition()

    async def __aenter__(self) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._entered < self._size)
            self._entered += 1

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered -= 1
        async with self._changed:
            self._changed.notify()

    async def resize(self, size: int) -> None:
        """Set the size; holders that have already entered stay."""
        if size != self._size:
            async with self._changed:
                self._size = size
                self._changed.notify_all()


#: Candidates submitted per thread of the cluster: one running, one waiting on the worker, and one in transit.
PER_THREAD = 3
#: Testers beyond the present need, in case workers join; a waiting tester costs nothing.
_GROWTH, _LEAST_TESTERS = 4, 64
_REFRESH_SECONDS, _RELEASE_SECONDS = 2.0, 15.0
#: Seconds that a run waits for the first worker, or for a worker to return.
WORKER_SECONDS = 120.0
#: Maximum attempts to submit a candidate: the connection may be lost, or a worker may turn out to be unusable.
_ATTEMPTS = 6

Notify = Callable[[str], None]


class ClusterPool:
    """Tests candidates on a cluster, with the interface of :class:`workbench.sandbox.Pool`.

    ``len(workers)`` is the maximum number of concurrent candidates, and ``threads`` is the number of sandboxes on all
    usable workers.
    """

    def __init__(self, engine: str, client: Any, bundle: JobBundle, notify: Notify) -> None:
        self.workers: Collection[object] = range(_LEAST_TESTERS)
        self.threads = 0
        self._engine = engine
        self._client = client
        self._bundle = bundle
        self._notify = notify
        self._bundle_future: Any = None
        self._unfit: dict[str, str] = {}
        self._known: dict[str, int] = {}
        self._window = ResizableSemaphore(0)
        self._in_flight: dict[Any, tuple[str, ...]] = {}
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._watching: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Check the workers and send them the repository. Raises ClusterError if none is usable."""
        deadline = asyncio.get_running_loop().time() + WORKER_SECONDS
        while not await self._refresh_workers():
            if asyncio.get_running_loop().time() > deadline:
                raise self._no_worker()
            await asyncio.sleep(0.2)
        self._require_usable()
        self.workers = range(max(_LEAST_TESTERS, _GROWTH * PER_THREAD * self.threads))
        self._send_bundle()
        self._report_size()
        self._watching = asyncio.create_task(self._watch())

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watching
        if self._ended.done():
            self._ended.exception()
        else:
            self._ended.cancel()
        self._bundle_future = None
        if self._client.status == "running":
            with contextlib.suppress(Exception):
                await asyncio.wait_for(
                    self._client.run(job_bundle.release, self._bundle.key, on_error="ignore"), _RELEASE_SECONDS
                )

    async def run(self, job: Job) -> Report:
        """Test one candidate, moving to another worker if the first one is lost.

        Raises ClusterError if no worker or scheduler is left.
        """
        async with self._window:
            for _ in range(_ATTEMPTS):
                report = await self._try(job)
                if report is not None:
                    return report
        return _error(job, "The cluster lost the candidate repeatedly; resume the run to test it.")

    async def _try(self, job: Job) -> Report | None:
        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker

        self._require_usable()
        if self._client.status != "running":
            await self._reconnected()
        allowed = tuple(self._usable()) if self._unfit else ()
        future = self._client.submit(
            job_bundle.test,
            self._bundle_future,
            job,
            key=f"workbench_test-{uuid.uuid4().hex}",
            pure=False,
            workers=list(allowed) or None,
        )
        self._in_flight[future] = allowed
        try:
            answer = await self._answer(future)
        except ClusterError:
            raise
        except FutureCancelledError:
            # The connection was lost, or all workers permitted to run the task have left.
            if self._client.status != "running":
                await self._reconnected()
            return None
        except KilledWorker as error:
            deaths = error.allowed_failures + 1
            return _error(job, f"{deaths} workers of the cluster died while testing the candidate; see their logs.")
        except Exception as error:
            if await self._found_unfit():
                return None
            return _error(job, f"A worker of the cluster failed: {type(error).__name__}: {reason_of(error)}.")
        finally:
            self._in_flight.pop(future, None)
            future.release()
        if "unfit" in answer:
            self._mark_unfit(answer["worker"], answer["unfit"])
            return None
        report: Report = answer["report"]
        return report

    async def _answer(self, future: Any) -> dict[str, Any]:
        waiting: asyncio.Task[Any] = asyncio.ensure_future(future._result())
        try:
            await asyncio.wait({waiting, self._ended}, return_when=asyncio.FIRST_COMPLETED)
            if self._ended.done():
                self._ended.result()
            return dict(await waiting)
        finally:
            waiting.cancel()

    async def _found_unfit(self) -> bool:
        """After a task failed before running our code, check all workers; return whether one became unusable."""
        known = set(self._unfit)
        await self._refresh_workers(again=True)
        if self._bundle_future.status == "error":
            self._send_bundle()
        return bool(set(self._unfit) - known)

    # -- the connection

    def _send_bundle(self) -> None:
        # A task is used instead of scattered data because Dask recomputes it when every worker that stores it has left.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # A large repository is sent once, on purpose.
            self._bundle_future = self._client.submit(
                job_bundle.deliver,
                self._bundle,
                key=f"workbench_bundle-{uuid.uuid4().hex}",
                pure=False,
                workers=self._usable() if self._unfit else None,
                allow_other_workers=bool(self._unfit),
            )

    async def _reconnected(self) -> None:
        """Wait for the client to reconnect, then send the repository again, because the scheduler has dropped it."""
        lost = self._bundle_future
        while self._client.status == "connecting":  # noqa: ASYNC110  Dask has no event for it
            await asyncio.sleep(0.1)
        if self._client.status != "running":
            raise self._scheduler_lost()
        if self._bundle_future is lost:
            self._send_bundle()

    def _scheduler_lost(self) -> ClusterError:
        return ClusterError(
            f"The connection to the Dask scheduler at {self._engine} was lost; all verdicts so far are in the session, and "
            "`workbench resume` tests the rest."
        )

    # -- the workers

    def _usable(self) -> list[str]:
        return [address for address in self._known if address not in self._unfit]

    def _mark_unfit(self, address: str, sentence: str) -> None:
        if address not in self._unfit:
            self._unfit[address] = sentence
            self._notify(f"Worker {address} is not used: {sentence}")
        self._require_usable()

    def _require_usable(self) -> None:
        if self._known and not self._usable():
            address, sentence = next(item for item in self._unfit.items() if item[0] in self._known)
            count = len(self._known)
            every = "The only worker" if count == 1 else f"None of the {count} workers"
            can = "cannot" if count == 1 else "can"
            raise ClusterError(f"{every} of the cluster {self._engine} {can} test: {sentence.rstrip('.')} ({address}).")

    def _no_worker(self) -> ClusterError:
        return ClusterError(
            f"The Dask scheduler at {self._engine} has had no responding worker for {WORKER_SECONDS:.0f} s; start some and "
            "continue with `workbench resume`."
        )

    async def _refresh_workers(self, *, again: bool = False) -> int:
        """Update the list of workers and check new ones (or all, if ``again``); return the number that respond."""
        threads: dict[str, int] = dict(await self._client.nthreads())
        new = set(threads) - set(self._known)
        self._unfit = {address: why for address, why in self._unfit.items() if address in threads}
        silent = await self._inspect(threads if again else new)
        self._known = {address: count for address, count in threads.items() if address not in silent}
        self.threads = sum(threads[address] for address in self._usable())
        await self._window.resize(PER_THREAD * self.threads)
        return len(self._known)

    async def _inspect(self, addresses: Collection[str]) -> set[str]:
        """Record which of these workers are unusable; return those that did not answer and must be checked again."""
        if not addresses:
            return set()
        from distributed.versions import get_versions

        ours = get_versions([DISTRIBUTION])
        # Client.get_versions queries all workers, and one that has just died would delay the others.
        message = {"op": "versions", "packages": [DISTRIBUTION]}
        answers = await self._client.scheduler.broadcast(msg=message, workers=list(addresses), on_error="ignore")
        for address, theirs in answers.items():
            why = problem(theirs, ours)
            if why and address not in self._unfit:
                self._unfit[address] = why
                self._notify(f"Worker {address} is not used: {why}.")
            elif address not in self._known and (differs := differences(theirs, ours)):
                self._notify(f"Worker {address} has {differs}.")
        return set(addresses) - set(answers)

    def _report_size(self) -> None:
        count = len(self._usable())
        self._notify(f"{count} worker{'s' * (count != 1)}, {self.threads} at once, {self._engine}")

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        last = loop.time()
        while True:
            await asyncio.sleep(_REFRESH_SECONDS)
            before = self.threads
            try:
                # `wait_for` is not used: before Python 3.12, it may swallow the cancellation that ends this task.
                async with asyncio.timeout(30):
                    found = await self._refresh_workers()
                if found:
                    last = loop.time()
                self._require_usable()
            except ClusterError as error:
                self._fail(error)
                return
            except Exception:
                # The connection is interrupted, which `_try` notices as well.
                if self._client.status == "closed":
                    self._fail(self._scheduler_lost())
                    return
            if self.threads != before:
                self._report_size()
            if loop.time() - last > WORKER_SECONDS:
                self._fail(self._no_worker())
                return
            for future, allowed in list(self._in_flight.items()):
                if allowed and not set(allowed) & set(self._known):
                    await future.cancel()

    def _fail(self, error: ClusterError) -> None:
        if not self._ended.done():
            self._ended.set_exception(error)


def _error(job: Job, sentence: str) -> Report:
    return Report(job.id, Verdict.ERROR, Reason.SANDBOX, sentence)


# -- the connection

#: Seconds during which Dask tries to connect or reconnect.
_CONNECT_SECONDS = 10.0


class Cluster:
    """A connection to a Dask scheduler."""

    def __init__(self, engine: str, client: Any) -> None:
        self.engine = engine
        self._client = client

    @asynccontextmanager
    async def pool(self, bundle: JobBundle, notify: Notify = lambda sentence: None) -> AsyncIterator[ClusterPool]:
        """Open a pool for one repository's candidates, closing its sandboxes at the end. Raises ClusterError."""
        opened = ClusterPool(self.engine, self._client, bundle, notify)
        await opened.open()
        try:
            yield opened
        finally:
            await opened.close()


class DaskClusters:
    """Connects to ``dask://HOST:PORT`` and ``dask+tls://HOST:PORT``."""

    name = "dask"

    def check(self, address: str) -> None:
        dask_address(address)

    def pack(self, prepared: Any, backend: str, limits: Limits) -> JobBundle:
        case, snapshot, environment = prepared.case, prepared.snapshot, prepared.environment
        commands = {"install": case.install, "test": case.test}
        return pack(case.name, snapshot, environment, **commands, backend=backend, limits=limits)

    def connected(self, address: str) -> AbstractAsyncContextManager[Cluster]:
        return connected(address)


@asynccontextmanager
async def connected(engine: str) -> AsyncIterator[Cluster]:
    """Connect to the scheduler at ``engine``; TLS and other settings are taken from Dask's configuration.

    Raises:
        UsageError: See :func:`dask_address`.
        ClusterError: There is no Dask scheduler at that address.
    """
    address = dask_address(engine)
    from distributed import Client

    for name in ("distributed", "tornado"):
        # ClusterError reports a lost connection in one sentence.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    client: Any = None
    try:
        await _check_listening(address)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Version mismatches are reported by `_inspect` instead.
            client = Client(
                address, asynchronous=True, set_as_default=False, timeout=_CONNECT_SECONDS, name="workbench"
            )
            await asyncio.wait_for(client, 2 * _CONNECT_SECONDS)
    except Exception as error:
        if client is not None:
            with contextlib.suppress(Exception):
                await client._close(fast=True)
        raise ClusterError(_unreachable(engine, listens=client is not None)) from error
    try:
        yield Cluster(engine, client)
    finally:
        with contextlib.suppress(Exception):
            await asyncio.wait_for(client.close(), 5)


def _unreachable(engine: str, *, listens: bool) -> str:
    if not listens:
        return f"Nothing answers at {engine}: start a Dask scheduler there, or one on this machine with `workbench cluster`."
    from distributed import __version__

    return (
        f"The server at {engine} does not answer as a Dask scheduler: it may require TLS (dask+tls:// and Dask's settings "
        f"distributed.comm.tls) or run another version than distributed {__version__}, which is installed here."
    )


async def _check_listening(address: str) -> None:
    """Fail at once if nothing is listening at the address, because Dask would keep trying."""
    host, _, port = address.split("://")[1].rpartition(":")
    _, writer = await asyncio.wait_for(asyncio.open_connection(host.strip("[]"), int(port)), _CONNECT_SECONDS)
    writer.close()
