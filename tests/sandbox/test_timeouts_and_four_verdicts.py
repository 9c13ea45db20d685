"""Traps: a timeout ends the whole process tree; timeout, out of memory, crash and failure are four verdicts.

Seen from outside: what is left of a candidate is looked for in this machine's process table, not asked of the sandbox.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.sandbox import Pool, Reason, Route, Verdict

from .conftest import job

pytestmark = [pytest.mark.sandbox, pytest.mark.asyncio(loop_scope="module")]

RIGHT = "return sum(numbers)"


def named(mark: str) -> list[int]:
    """Processes of this machine whose command line holds ``mark``."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and mark.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("route", "end"),
    [
        (Route.AUTO, "while True: pass"),
        *(pytest.param(route, RIGHT, marks=pytest.mark.nightly) for route in (Route.AUTO, Route.WARM)),
        (Route.COLD, RIGHT),
    ],
)
async def test_the_whole_tree_ends_with_the_candidate(box, route, end, until):
    assert (await box.run(job(RIGHT))).passed
    mark = "mark" + secrets.token_hex(8)
    body = (
        "import subprocess, sys\n"
        "code = 'import os, signal, time; os.setsid(); signal.signal(15, 1); os.fork(); os.fork(); time.sleep(1000)'\n"
        f"for n in range(3):\n    subprocess.Popen([sys.executable, '-c', code, {mark!r}], start_new_session=True)\n"
        + end
    )
    report = await box.run(job(body, route, seconds=2.0 if "while" in end else 30.0))
    assert report.verdict is (Verdict.TIMEOUT if "while" in end else Verdict.PASSED), report.detail
    until(lambda: not named(mark), 5, "the end of the tree")
    following = await box.run(job(RIGHT))
    assert following.passed, following.detail


async def test_the_process_table_shows_what_runs(until: Callable[..., Any]) -> None:
    """The look from outside would see a process that was left."""
    import subprocess
    import sys

    mark = "mark" + secrets.token_hex(8)
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)", mark]) as process:
        until(lambda: named(mark) == [process.pid], 10)
        process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("route", [Route.AUTO, pytest.param(Route.WARM, marks=pytest.mark.nightly), Route.COLD])
async def test_timeout_out_of_memory_crash_and_failure_are_four_verdicts(box: Pool, route: Route) -> None:
    bodies = {
        "while True: pass": (Verdict.TIMEOUT, Reason.NONE),
        "hog = []\nwhile True: hog.append(bytearray(10_000_000))": (Verdict.CRASHED, Reason.OUT_OF_MEMORY),
        "import os\nos.abort()": (Verdict.CRASHED, Reason.SIGNAL),
        "import os\nos._exit(0)": (Verdict.CRASHED, Reason.EARLY_EXIT),
        "return 0": (Verdict.FAILED, Reason.TESTS_FAILED),
        RIGHT: (Verdict.PASSED, Reason.NONE),
    }
    assert (await box.run(job(RIGHT))).passed
    found = {}
    for body in bodies:
        report = await box.run(job(body, route, seconds=2.0 if "while True: pass" in body else 30.0))
        found[body] = (report.verdict, report.reason)
        assert (report.detail == "") == report.passed
    assert found == bodies


async def test_memory_that_is_only_reserved_is_no_failure(box: Pool) -> None:
    """Address-space limits fail what reserves much and uses little; a control group counts what is used."""
    body = (
        "import mmap\nroom = mmap.mmap(-1, 900 * 2**20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
        "room[0] = 1\nreturn sum(numbers)"
    )
    report = await box.run(job(body))
    assert report.passed, report.detail
