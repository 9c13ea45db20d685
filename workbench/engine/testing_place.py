"""Where candidates are tested: in sandboxes of this machine, or on a cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Protocol

from workbench.engine.stages import Teller
from workbench.engine.task_building import Prepared, cores
from workbench.sandbox import Backend, Job, Limits, Report, pool

if TYPE_CHECKING:
    from workbench.cluster import Cluster


class Sandboxes(Protocol):
    """Takes candidates and gives reports; as many at once as there are ``workers``."""

    @property
    def workers(self) -> Collection[object]:
        """One entry per candidate that may be under way."""
        ...

    async def run(self, job: Job) -> Report:
        """Test one candidate."""
        ...


class Place(Protocol):
    """Opens sandboxes for a repository that is ready here."""

    def sandboxes(
        self, prepared: Prepared, backend: Backend, limits: Limits, teller: Teller
    ) -> AbstractAsyncContextManager[Sandboxes]:
        """Open them; ``backend`` is the one that the tasks were built with."""
        ...


@asynccontextmanager
async def testing_place(engine: str) -> AsyncIterator[Place]:
    """Reach the place that a plan names: "" is this machine, ``dask://HOST:PORT`` a cluster.

    Raises:
        WorkbenchError: It is no place, or nobody answers there.
    """
    if not engine:
        yield _Here()
        return
    from workbench.cluster import connected

    async with connected(engine) as cluster:
        yield _OnCluster(cluster)


class _Here:
    def sandboxes(
        self, prepared: Prepared, backend: Backend, limits: Limits, teller: Teller
    ) -> AbstractAsyncContextManager[Sandboxes]:
        return pool(backend, prepared.environment.workspace, workers=cores(), limits=limits)


class _OnCluster:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @asynccontextmanager
    async def sandboxes(
        self, prepared: Prepared, backend: Backend, limits: Limits, teller: Teller
    ) -> AsyncIterator[Sandboxes]:
        from workbench.cluster.parcel import pack

        def tell(sentence: str) -> None:
            print(sentence, flush=True)
            teller.tell("candidates", note=sentence)

        case = prepared.case
        parcel = pack(
            case.name,
            prepared.snapshot,
            prepared.environment,
            install=case.install,
            test=case.test,
            backend=backend.name,
            limits=limits,
        )
        async with self._cluster.pool(parcel, tell) as opened:
            yield opened
