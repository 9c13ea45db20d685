"""The fork waiting for the next candidate: whatever happens to it meanwhile, the next verdict is correct."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable

import pytest
from hostile.candidates import RIGHT

from workbench.sandbox import Job, Limits, Pool, Route, Verdict

pytestmark = pytest.mark.sandbox

TESTS = ("tests/test_sums.py::test_total[two]", "tests/test_sums.py::test_large")
LIMITS = Limits(seconds=20, memory_mb=256, processes=48, disk_mb=64, file_mb=16)


def job(body: str) -> Job:
    lines = "\n".join("    " + line for line in body.splitlines())
    source = f'"""Sums."""\n\n\ndef total(numbers):\n    """Return the sum of the numbers; 0 for none."""\n{lines}\n'
    return Job("candidate", TESTS, "sums.py", source.encode(), LIMITS, Route.AUTO, ("total", 1))


def children(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


def waiting(opened: Pool) -> int:
    """The last of the chain: sandbox, server, hot process, waiting fork."""
    pid = int(opened.workers[0]._channel._process.pid)  # type: ignore[union-attr]
    while below := children(pid):
        pid = below[-1]
    return pid


HARM: dict[str, Callable[[int], object]] = {
    "killed": lambda pid: os.kill(pid, signal.SIGKILL),
    "stopped": lambda pid: os.kill(pid, signal.SIGSTOP),
    "limited": lambda pid: resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, 0)),
}


@pytest.mark.parametrize("harm", HARM)
async def test_the_next_verdict_is_right_whatever_was_done_to_its_fork(box: Pool, harm: str) -> None:
    assert (await box.run(job(RIGHT))).route is Route.HOT
    HARM[harm](waiting(box))
    following = await box.run(job(RIGHT))
    assert following.verdict is Verdict.PASSED, (following.reason, following.detail)
    assert following.route is (Route.HOT if harm == "stopped" else Route.WARM), following.slower
    stub = await box.run(job("pass"))
    assert (stub.verdict, len(stub.failing), stub.route) == (Verdict.FAILED, 2, Route.HOT), stub.slower
