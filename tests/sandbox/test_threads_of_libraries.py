"""Numerical libraries start a thread per core when imported, which would keep them from being preloaded."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from workbench.sandbox.backend import Channel, Launch
from workbench.sandbox.types import Job, Limits, SandboxError, Workspace
from workbench.sandbox.worker import Worker


class _Recorder:
    """A back end that notes how it is asked to start, and does not."""

    name = "recorder"
    launch: Launch | None = None

    async def start(self, launch: Launch) -> Channel:
        self.launch = launch
        raise SandboxError("noted")


async def test_the_runner_starts_with_one_thread_per_numerical_library(tmp_path: Path) -> None:
    backend: Any = _Recorder()
    worker = Worker(backend, Workspace(tmp_path, Path(sys.executable)))
    with pytest.raises(SandboxError, match="noted"):
        await worker.run(Job(id="any", tests=(), path="a.py", content=b"", limits=Limits()))
    assert backend.launch is not None
    variables = backend.launch.variables
    assert {variables.get(name) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")} == {"1"}
