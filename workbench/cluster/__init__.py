"""Test candidates on many machines, with the workers of a Dask cluster as sandboxes.

``connected(engine)`` connects to the scheduler; its :meth:`~workbench.cluster.connection.Cluster.pool` is used like a
:class:`workbench.sandbox.Pool`. Only tests run on the cluster: the engine still asks models and writes the session. The
package ``distributed`` (extra ``cluster``) is imported only when a cluster is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.cluster.address import ClusterError, dask_address, require_package

if TYPE_CHECKING:
    from workbench.cluster.connection import Cluster, connected
    from workbench.cluster.pool import ClusterPool

__all__ = ["Cluster", "ClusterError", "ClusterPool", "connected", "dask_address", "require_package"]


def __getattr__(name: str) -> Any:
    if name in ("Cluster", "connected"):
        from workbench.cluster import connection

        return getattr(connection, name)
    if name == "ClusterPool":
        from workbench.cluster.pool import ClusterPool

        return ClusterPool
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
