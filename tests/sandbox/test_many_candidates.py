"""After a thousand candidates the runner holds what it held after the first fifty: memory and descriptors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hostile.candidates import RIGHT

from workbench.sandbox import Job, Pool, Route, Verdict, pool
from workbench.sandbox.docker import DockerChannel

from .conftest import LIMITS, TESTS, job

#: Ordinary and hostile ones, of those that cost milliseconds.
MIX = (
    (RIGHT, Verdict.PASSED),
    ("pass", Verdict.FAILED),
    ("return sum(numbers) + 1", Verdict.FAILED),
    ("import os\nos._exit(0)", Verdict.CRASHED),
    ("import os\nif os.fork() == 0:\n    os.setsid()\n    import signal\n    signal.pause()\nreturn None", Verdict.FAILED),
    ("import os\nopen(os.environ['TMPDIR'] + '/left', 'wb').write(b'x' * 100_000)\n" + RIGHT, Verdict.PASSED),
    ("import os\nfor fd in range(3, 64):\n    try:\n        os.write(fd, b'x' * 1000)\n    except OSError:\n        pass\nreturn None", Verdict.FAILED),
    ("raise ValueError('x' * 10_000)", Verdict.FAILED),
)  # fmt: skip

#: Of memory 3 % and 2 MiB may come and go; of descriptors none.
TOLERANCE, TOLERANCE_KB = 1.03, 2048


@dataclass(frozen=True)
class Held:
    """What the server and the hot process hold: KiB of their own memory, open descriptors, processes."""

    kilobytes: int
    descriptors: int
    processes: int


def runner_pid(opened: Pool) -> int:
    """The process on this machine that is the server."""
    channel = opened.workers[0]._channel
    assert channel is not None
    if isinstance(channel, DockerChannel):
        channel._container.reload()
        return int(channel._container.attrs["State"]["Pid"])
    pid = int(channel._process.pid)  # type: ignore[attr-defined]
    while Path(f"/proc/{pid}/comm").read_text().strip() in ("bwrap", "sh"):
        pid = children(pid)[0]
    return pid


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


async def held(opened: Pool) -> Held:
    """What is held for longer than a moment: while the next fork is made ahead, its pipes are open."""
    looks = []
    for _ in range(5):
        looks.append(held_now(opened))
        await asyncio.sleep(0.02)
    return min(looks, key=lambda look: (look.descriptors, look.kilobytes))


def held_now(opened: Pool) -> Held:
    pids = [runner_pid(opened)]
    pids += children(pids[0])
    kilobytes = descriptors = 0
    for pid in pids:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        kilobytes += sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))
        descriptors += len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return Held(kilobytes, descriptors, len(pids))


def numbered(number: int) -> tuple[Job, Verdict]:
    body, verdict = MIX[number % len(MIX)]
    return job(body, Route.WARM if number % 40 == 7 else Route.AUTO, tests=TESTS[1::2]), verdict


@pytest.fixture(
    params=[
        pytest.param(("bubblewrap", 250), marks=[pytest.mark.sandbox, pytest.mark.xdist_group("many")]),
        pytest.param(("process", 110), marks=[pytest.mark.sandbox, pytest.mark.nightly]),
        pytest.param(
            ("docker", 110), marks=[pytest.mark.docker, pytest.mark.nightly, pytest.mark.xdist_group("docker")]
        ),
    ],
    ids=lambda pair: f"{pair[0]}-{pair[1]}",
)
async def arena(request: pytest.FixtureRequest, workspace) -> AsyncIterator[tuple[Pool, int]]:
    name, number = request.param
    backend = request.getfixturevalue(f"{name}_backend")
    if name == "docker":
        workspace = replace(workspace, mounts=(Path("/usr"), *workspace.mounts))
    async with pool(backend, workspace, workers=1, limits=LIMITS) as opened:
        yield opened, number


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_memory_and_descriptors_of_the_runner_stay_the_same(arena: tuple[Pool, int]) -> None:
    opened, many = arena
    states = {}
    for number in range(many):
        asked, verdict = numbered(number)
        report = await opened.run(asked)
        assert report.verdict is verdict, (number, report.reason, report.detail, report.failing)
        if number + 1 in (50, many // 2, many):
            last = await opened.run(
                numbered(0)[0]
            )  # its report comes before the reset: one more, so that all else is over
            assert last.verdict is Verdict.PASSED
            states[number + 1] = await held(opened)
    for number, state in states.items():
        print(f"after {number}: {state}")
    first, end = states[50], states[many]
    assert opened.workers[0].starts == 1
    assert end.processes == first.processes
    assert end.descriptors <= first.descriptors
    assert end.kilobytes <= first.kilobytes * TOLERANCE + TOLERANCE_KB
