"""Sandboxes for testing candidates: one runner protocol, three back ends, workers and a pool of workers.

``pool(choose_backend(name), workspace)`` opens workers that take :class:`Job` and give :class:`Report`. What runs
inside is ``workbench_runner``, which imports nothing of this program.
"""

import lazy_loader

# Nothing is imported here: a package that imports its own modules deadlocks with a thread that imports one of them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "backend": ["Backend", "Guarantees"],
        "choose": ["BackendStatus", "available_backends", "choose_backend"],
        "types": [
            "Job",
            "Limits",
            "NoIsolation",
            "Reason",
            "Report",
            "Route",
            "SandboxError",
            "SandboxUnavailable",
            "TestOutcome",
            "Verdict",
            "Workspace",
        ],
        "worker": ["Pool", "Worker", "pool"],
    },
)
