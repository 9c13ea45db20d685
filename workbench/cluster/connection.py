"""Connect to a Dask scheduler, and explain in one sentence why a connection failed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from workbench.cluster.address import ClusterError, dask_address
from workbench.cluster.job_bundle import JobBundle
from workbench.cluster.pool import ClusterPool, Notify

#: How long Dask tries to connect, or to reconnect after the connection broke.
_CONNECT_SECONDS = 10.0


class Cluster:
    """A connection to a Dask scheduler."""

    def __init__(self, engine: str, client: Any) -> None:
        self.engine = engine
        self._client = client

    @asynccontextmanager
    async def pool(self, bundle: JobBundle, notify: Notify = lambda sentence: None) -> AsyncIterator[ClusterPool]:
        """Open the cluster for one repository's candidates, close its sandboxes at the end. Raises ClusterError."""
        opened = ClusterPool(self.engine, self._client, bundle, notify)
        await opened.open()
        try:
            yield opened
        finally:
            await opened.close()


@asynccontextmanager
async def connected(engine: str) -> AsyncIterator[Cluster]:
    """Connect to the scheduler at ``engine``; TLS and other settings come from Dask's configuration.

    Raises:
        UsageError: ``engine`` is not a valid address, or ``distributed`` is not installed.
        ClusterError: There is no Dask scheduler at that address.
    """
    address = dask_address(engine)
    from distributed import Client

    for name in ("distributed", "tornado"):
        # A lost connection is reported in one sentence instead.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    client: Any = None
    try:
        await _check_listening(address)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # version mismatches: checked in worker_check
            client = Client(
                address, asynchronous=True, set_as_default=False, timeout=_CONNECT_SECONDS, name="workbench"
            )
            await asyncio.wait_for(_started(client), 2 * _CONNECT_SECONDS)
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
        f"What listens at {engine} does not answer as a Dask scheduler: it may need TLS (dask+tls://, and Dask's own "
        f"settings distributed.comm.tls), or another version than distributed {__version__}, which is installed here."
    )


async def _check_listening(address: str) -> None:
    """Fail at once if nothing listens at the address, as Dask would keep trying."""
    host, _, port = address.split("://")[1].rpartition(":")
    _, writer = await asyncio.wait_for(asyncio.open_connection(host.strip("[]"), int(port)), _CONNECT_SECONDS)
    writer.close()


async def _started(client: Any) -> None:
    await client
