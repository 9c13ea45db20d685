"""A cluster on this machine, for trials: a scheduler and worker processes that stop together."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import logging
import signal
import socket
import warnings
from collections.abc import Callable
from typing import Any

from workbench.base import paths
from workbench.base.errors import UsageError
from workbench.cluster import ClusterError, require_package


async def serve(*, workers: int, threads: int, host: str, port: int, ready: Callable[[str, list[int]], None]) -> None:
    """Run a scheduler and ``workers`` worker processes until interrupted.

    ``port`` 0 is any free one; ``ready`` gets the engine's address and the workers' process ids. UsageError:
    ``distributed`` is not installed; ClusterError: the port is taken or a worker does not start.
    """
    require_package()
    from distributed import LocalCluster

    logging.getLogger("distributed").setLevel(logging.ERROR)
    folder = paths.cache_dir() / "cluster"
    folder.mkdir(parents=True, exist_ok=True)
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=threads,
            host=host,
            scheduler_port=port,
            dashboard_address=None,
            local_directory=str(folder),
            asynchronous=True,
            silence_logs=logging.ERROR,
        )
        try:
            opening = asyncio.ensure_future(_opened(cluster))
            stopping = asyncio.ensure_future(ended.wait())
            await asyncio.wait({opening, stopping}, return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
            if ended.is_set():
                opening.cancel()
                return
            await opening
            ready(_engine(cluster.scheduler_address), _worker_pids(cluster))
            await ended.wait()
        except (OSError, RuntimeError) as error:
            raise ClusterError(_start_error(error, host, port)) from error
        finally:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(cluster.close(), 20)


async def _opened(cluster: Any) -> None:
    await cluster


def _start_error(error: BaseException, host: str, port: int) -> str:
    last = error
    while (cause := last.__cause__ or last.__context__) is not None:
        last = cause
    if isinstance(last, OSError) and last.errno == errno.EADDRINUSE:
        return f"Port {port} of {host} is taken; choose another one with --port, or any free one with --port 0."
    return f"The cluster did not start: {str(last).rstrip('.') or type(last).__name__}."


def _engine(address: str) -> str:
    return address.replace("tcp://", "dask://").replace("tls://", "dask+tls://")


def _worker_pids(cluster: Any) -> list[int]:
    return sorted(nanny.pid for nanny in cluster.workers.values() if getattr(nanny, "pid", None))


def check_host(host: str) -> None:
    """Raise UsageError unless ``host`` is an address of this machine; an empty one would listen on every address."""
    try:
        if not host.strip():
            raise ValueError
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        with socket.socket(found[0][0], socket.SOCK_STREAM) as trying:
            trying.bind((found[0][4][0], 0))
    except (OSError, ValueError, UnicodeError):
        raise UsageError(
            f"--host takes a name or an address of this machine, such as 127.0.0.1 or 0.0.0.0, not {host[:60]!r}."
        ) from None


def is_loopback(host: str) -> bool:
    """Return whether ``host`` can be reached from this machine only."""
    if host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False
