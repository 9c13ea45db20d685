"""Everything that a sandbox started ends with it, at whatever moment it is closed."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys

import pytest

from workbench.sandbox import Workspace
from workbench.sandbox.backend import Launch
from workbench.sandbox.control import end_below

from .conftest import LIMITS

# It starts one process after another, as long as nobody stops it; all of them hold its standard output open.
STARTING = """
import os, sys, time
print("started", flush=True)
for _ in range(400):
    if os.fork() == 0:
        time.sleep(600)
        os._exit(0)
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ancestry is read from /proc, which Linux has")
def test_what_is_started_while_the_list_is_read_ends_as_well() -> None:
    for _ in range(3):
        root = subprocess.Popen([sys.executable, "-c", STARTING], stdout=subprocess.PIPE)
        assert root.stdout is not None
        assert root.stdout.readline() == b"started\n"
        end_below(root.pid, patience=60)
        os.kill(root.pid, signal.SIGKILL)
        root.wait()
        # Its end is readable only when no process is left that holds the pipe.
        readable, _, _ = select.select([root.stdout], [], [], 20)
        assert readable
        assert root.stdout.read() == b""
        root.stdout.close()


async def test_a_sandbox_can_be_closed_at_any_moment_of_its_start(bubblewrap, workspace: Workspace) -> None:
    """Bubblewrap's child outlived a parent that was killed at its first step, and closing waited for it for ever."""
    for moment in range(0, 60, 4):
        channel = await bubblewrap.start(Launch(workspace.python, workspace.mounts, LIMITS, {}))
        await asyncio.sleep(moment % 30 * 0.0005)
        await asyncio.wait_for(channel.close(), 20)
