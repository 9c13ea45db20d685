"""Sandboxes for testing candidates: one runner protocol, three back ends, workers and a pool of workers.

``pool(choose_backend(name), workspace)`` opens workers that accept a :class:`Job` and return a :class:`Report`. The
code that runs inside a sandbox is ``workbench_runner``, which imports nothing else from this program.
"""

import lazy_loader

# Nothing is imported here. A package that imports its own modules can deadlock with a thread importing one of them.
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
