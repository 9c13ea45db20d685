"""The way to a Dask scheduler: knock, connect, and say in one sentence why it did not work."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from workbench.cluster.address import ClusterError, dask_address
from workbench.cluster.parcel import Parcel
from workbench.cluster.pool import ClusterPool, Tell

#: How long Dask tries to connect, and to connect again when the connection broke.
_CONNECT_SECONDS = 10.0


class Cluster:
    """A connection to a Dask scheduler.

    Attributes:
        engine: What the person calls it.
    """

    def __init__(self, engine: str, client: Any) -> None:
        self.engine = engine
        self._client = client

    @asynccontextmanager
    async def pool(self, parcel: Parcel, tell: Tell = lambda sentence: None) -> AsyncIterator[ClusterPool]:
        """Open the cluster for candidates of one repository; its sandboxes are closed at the end.

        Args:
            parcel: The repository.
            tell: Called with a sentence when something about the cluster is worth knowing.

        Raises:
            ClusterError: No worker can be used.
        """
        opened = ClusterPool(self.engine, self._client, parcel, tell)
        await opened.open()
        try:
            yield opened
        finally:
            await opened.close()


@asynccontextmanager
async def connected(engine: str) -> AsyncIterator[Cluster]:
    """Connect to the scheduler that ``engine`` names.

    TLS and every other setting of the connection are Dask's own: its configuration files and ``DASK_…`` variables.

    Raises:
        UsageError: ``engine`` is no address, or ``distributed`` is not installed.
        ClusterError: Nobody answers there.
    """
    address = dask_address(engine)
    from distributed import Client

    for name in ("distributed", "tornado"):
        # What they say about a lost connection we say in one sentence.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    client: Any = None
    try:
        await _knock(address)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other versions: we look at them ourselves
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
        return f"Nobody answers at {engine}: start a Dask scheduler there, or one on this machine with `workbench cluster`."
    from distributed import __version__

    return (
        f"What listens at {engine} does not answer as a Dask scheduler: it may need TLS (dask+tls://, and Dask's own "
        f"settings distributed.comm.tls), or another version than distributed {__version__}, which is installed here."
    )


async def _knock(address: str) -> None:
    """Fail at once where nobody listens: Dask would go on trying."""
    host, _, port = address.split("://")[1].rpartition(":")
    _, writer = await asyncio.wait_for(asyncio.open_connection(host.strip("[]"), int(port)), _CONNECT_SECONDS)
    writer.close()


async def _started(client: Any) -> None:
    await client
