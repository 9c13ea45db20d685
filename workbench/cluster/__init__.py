"""Test candidates on many machines, with the workers of a Dask cluster as sandboxes.

Only tests run on the cluster: the engine still asks models and writes the session. The package ``distributed`` (extra
``cluster``) is imported only when a cluster is used.
"""

import lazy_loader

# Nothing is imported here: a package that imports its own modules deadlocks with a thread that imports one of them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "address": ["ClusterError", "dask_address", "require_package"],
        "connection": ["Cluster", "connected"],
        "pool": ["ClusterPool"],
    },
)
