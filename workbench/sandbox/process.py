"""A plain process: limits but no isolation. Only by explicit choice, because model-written code runs as you."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from workbench.sandbox import control_groups
from workbench.sandbox.backend import RUNNER, Channel, Launch, Layout, PipeChannel, runner_command
from workbench.sandbox.errors import SandboxUnavailable


class PlainProcess:
    """One runner per worker in a session of its own, below a temporary folder."""

    name = "process"

    def problem(self) -> str | None:
        """Return why it cannot be used here, or None."""
        return None if os.name == "posix" else "A plain process needs a POSIX system (Linux or macOS)."

    def guarantees(self) -> tuple[str, ...]:
        """Return what it promises, which is little."""
        whole = sys.platform == "linux"
        return (
            "Network: NOT cut off.",
            "Files: NOT isolated; code runs with your rights and can read and change everything that you can.",
            "Environment variables are not passed on.",
            "Memory: watched ten times a second and bounded by address space.",
            "Processes: their number is bounded only where control groups are available.",
            "Every process that a candidate starts is killed with it (found through its ancestry)."
            if whole
            else "Only the candidate's process group is killed with it; a process that leaves it survives.",
        )

    async def start(self, launch: Launch) -> Channel:
        """Start a runner below a new temporary folder."""
        reason = self.problem()
        if reason:
            raise SandboxUnavailable(reason)
        base = Path(tempfile.mkdtemp(prefix="workbench-"))
        layout = Layout(
            root=str(base / "repo"),
            home=str(base / "home"),
            temporary=str(base / "tmp"),
            scratch=(),
            metadata=str(base / "meta"),
            runner=str(base / "runner"),
        )
        shutil.copytree(RUNNER, base / "runner" / "workbench_runner", ignore=shutil.ignore_patterns("__pycache__"))
        group = control_groups.ControlGroup.create(launch.limits)
        command = runner_command(launch.python, layout.runner)

        def cleanup() -> None:
            shutil.rmtree(base, ignore_errors=True)
            if group is not None:
                group.remove()

        return await PipeChannel.open(
            group.join(command) if group else command,
            layout,
            env=dict(launch.variables),
            address_space_mb=None if group else launch.limits.memory_mb * 4,
            memory_kills=group.memory_kills if group else lambda: 0,
            cleanup=cleanup,
        )
