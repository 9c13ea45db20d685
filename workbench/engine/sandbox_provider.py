"""Provide sandboxes for candidates, on this machine or on a cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, Protocol

from workbench.engine.stages import StageProgress
from workbench.engine.task_building import Prepared, cores
from workbench.sandbox import Backend, Job, Limits, Report, pool
from workbench.sandbox.choose import Clusters, clusters_at


class Sandboxes(Protocol):
    """Tests candidates and returns reports, as many at once as there are ``workers``."""

    @property
    def workers(self) -> Collection[object]:
        """One entry per candidate that may be tested at once."""
        ...

    async def run(self, job: Job) -> Report:
        """Test one candidate."""
        ...


Place = Callable[[Prepared, Backend, Limits, StageProgress], AbstractAsyncContextManager[Sandboxes]]
"""Opens sandboxes for a repository that has been prepared on this machine, with the back end that its tasks were built with."""


@asynccontextmanager
async def sandbox_provider(engine: str) -> AsyncIterator[Place]:
    """Open the engine that a plan names: "" is this machine, ``dask://HOST:PORT`` a cluster. Raises WorkbenchError."""
    if not engine:
        yield _here
        return
    clusters = clusters_at(engine)
    async with clusters.connected(engine) as cluster:
        yield partial(_on_cluster, clusters, cluster)


def _here(
    prepared: Prepared, backend: Backend, limits: Limits, _: StageProgress
) -> AbstractAsyncContextManager[Sandboxes]:
    return pool(backend, prepared.environment.workspace, workers=cores(), limits=limits)


@asynccontextmanager
async def _on_cluster(
    clusters: Clusters, cluster: Any, prepared: Prepared, backend: Backend, limits: Limits, progress: StageProgress
) -> AsyncIterator[Sandboxes]:
    def tell(sentence: str) -> None:
        print(sentence, flush=True)
        progress.update("candidates", note=sentence)

    async with cluster.pool(clusters.pack(prepared, backend.name, limits), tell) as opened:
        yield opened
