"""Testing candidates on many machines: a Dask cluster's workers as sandboxes.

``connected(engine)`` reaches the scheduler; its :meth:`~workbench.cluster.connection.Cluster.pool` is used as a
:class:`workbench.sandbox.Pool` is. Asking models and writing the session stay with the engine that asks. The package
``distributed`` (extra ``cluster``) is imported only when a cluster is used.
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
