"""Test candidates on many machines, with the workers of a Dask cluster as sandboxes.

Only tests run on the cluster: the engine still asks models and writes the session. It is reached by an entry point, the
scheme of its address; the package ``distributed`` (extra ``cluster``) is imported only when a cluster is used.
"""

from __future__ import annotations

import importlib.util
import re

from workbench.base.errors import UsageError, WorkbenchError

_SCHEMES = {"dask": "tcp", "dask+tls": "tls"}
_ADDRESS = re.compile(r"(dask|dask\+tls)://(\[[0-9a-fA-F:.]+\]|[\w.-]+):(\d{1,5})/?")


class ClusterError(WorkbenchError):
    """The cluster cannot be used, or was lost; everything tested so far is in the session."""


def dask_address(engine: str) -> str:
    """Return Dask's own address of the scheduler. UsageError: invalid, or ``distributed`` is not installed."""
    found = _ADDRESS.fullmatch(engine.strip())
    if not found or not 0 < int(found[3]) < 65536:
        raise UsageError(
            f"There is no engine {engine!r}; name a Dask scheduler as dask://HOST:PORT (or dask+tls://HOST:PORT), or none."
        )
    require_package()
    return f"{_SCHEMES[found[1]]}://{found[2]}:{found[3]}"


def require_package() -> None:
    """Raise UsageError unless Dask is installed."""
    if importlib.util.find_spec("distributed") is None:
        raise UsageError(
            "A cluster needs the package distributed, which is not installed: pip install 'docs-workbench[cluster]'."
        )
