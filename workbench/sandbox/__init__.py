"""Sandboxes for testing candidates: one runner protocol, three back ends, workers and a pool of workers.

``choose_backend(name)`` gives the strongest back end of this machine, or one of another package by its dotted path
(docs/extending/back-end.md); ``pool(backend, workspace)`` opens workers that
take :class:`Job` and give :class:`Report`. What runs inside is ``workbench_runner``, which knows nothing of this program.
"""

from __future__ import annotations

from workbench.sandbox.backend import Backend, Guarantees
from workbench.sandbox.choose import BackendStatus, available_backends, choose_backend
from workbench.sandbox.errors import NoIsolation, SandboxError, SandboxUnavailable
from workbench.sandbox.types import Job, Limits, Reason, Report, Route, TestOutcome, Verdict, Workspace
from workbench.sandbox.worker import Pool, Worker, pool

__all__ = [
    "Backend",
    "BackendStatus",
    "Guarantees",
    "Job",
    "Limits",
    "NoIsolation",
    "Pool",
    "Reason",
    "Report",
    "Route",
    "SandboxError",
    "SandboxUnavailable",
    "TestOutcome",
    "Verdict",
    "Worker",
    "Workspace",
    "available_backends",
    "choose_backend",
    "pool",
]
