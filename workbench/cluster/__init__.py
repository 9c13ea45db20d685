"""Test candidates on many machines, using the workers of a Dask cluster as sandboxes.

Only tests run on the cluster; the engine still calls models and writes the session. The scheme of the address selects
the cluster through an entry point. The package ``distributed`` (extra ``cluster``) is imported on first use.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import importlib.util
import ipaddress
import logging
import re
import signal
import socket
import warnings
from collections.abc import Callable
from typing import Any

from workbench.base import paths
from workbench.base.errors import UsageError, WorkbenchError

_SCHEMES = {"dask": "tcp", "dask+tls": "tls"}
_ADDRESS = re.compile(r"(dask|dask\+tls)://(\[[0-9a-fA-F:.]+\]|[\w.-]+):(\d{1,5})/?")


class ClusterError(WorkbenchError):
    """The cluster is unusable, or the connection was lost; the session contains all verdicts so far."""


def dask_address(engine: str) -> str:
    """Return Dask's address of the scheduler. Raises UsageError if it is invalid or ``distributed`` is missing."""
    found = _ADDRESS.fullmatch(engine.strip())
    if not found or not 0 < int(found[3]) < 65536:
        raise UsageError(
            f"There is no engine {engine!r}; name a Dask scheduler as dask://HOST:PORT or dask+tls://HOST:PORT."
        )
    require_package()
    return f"{_SCHEMES[found[1]]}://{found[2]}:{found[3]}"


def require_package() -> None:
    if importlib.util.find_spec("distributed") is None:
        raise UsageError(
            "A cluster needs the package distributed, which is not installed: pip install 'docs-workbench[cluster]'."
        )


# -- a cluster on this machine, for trials: a scheduler and worker processes that stop together


async def serve(*, workers: int, threads: int, host: str, port: int, ready: Callable[[str, list[int]], None]) -> None:
    """Run a scheduler and ``workers`` worker processes until interrupted.

    If ``port`` is 0, a free port is chosen. ``ready`` is called with the engine's address and the workers' process ids.

    Raises:
        UsageError: ``distributed`` is not installed.
        ClusterError: The port is in use, or a worker does not start.
    """
    require_package()
    from distributed import LocalCluster

    logging.getLogger("distributed").setLevel(logging.ERROR)
    folder = paths.cache_dir() / "cluster"
    folder.mkdir(parents=True, exist_ok=True)
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
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
            starting = asyncio.ensure_future(cluster)
            stopping = asyncio.ensure_future(stop.wait())
            await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
            if stop.is_set():
                starting.cancel()
                return
            await starting
            ready(_engine(cluster.scheduler_address), _worker_pids(cluster))
            await stop.wait()
        except (OSError, RuntimeError) as error:
            raise ClusterError(_start_error(error, host, port)) from error
        finally:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(cluster.close(), 20)


def _start_error(error: BaseException, host: str, port: int) -> str:
    last = error
    while (cause := last.__cause__ or last.__context__) is not None:
        last = cause
    if isinstance(last, OSError) and last.errno == errno.EADDRINUSE:
        return f"Port {port} of {host} is in use; choose another one with --port, or any free one with --port 0."
    return f"The cluster did not start: {str(last).rstrip('.') or type(last).__name__}."


def _engine(address: str) -> str:
    return address.replace("tcp://", "dask://").replace("tls://", "dask+tls://")


def _worker_pids(cluster: Any) -> list[int]:
    return sorted(nanny.pid for nanny in cluster.workers.values() if getattr(nanny, "pid", None))


def check_host(host: str) -> None:
    """Raise UsageError unless ``host`` is an address of this machine."""
    try:
        if not host.strip():
            raise ValueError  # An empty host would listen on every address.
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        with socket.socket(found[0][0], socket.SOCK_STREAM) as probe:
            probe.bind((found[0][4][0], 0))
    except (OSError, ValueError, UnicodeError):
        raise UsageError(
            f"--host takes a name or an address of this machine, such as 127.0.0.1 or 0.0.0.0, not {host[:60]!r}."
        ) from None


def is_loopback(host: str) -> bool:
    """Return whether ``host`` is reachable only from this machine."""
    if host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False
