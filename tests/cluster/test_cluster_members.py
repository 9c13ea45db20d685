"""Which workers are used, how many candidates run at once, and what is sent: worker checks, the window, the bundle."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cluster.serving import Served
from cluster.test_cluster_verdicts import SUITE, ready
from hypothesis import given
from hypothesis import strategies as st

from workbench.cluster.address import ClusterError
from workbench.cluster.job_bundle import pack, unpacked
from workbench.cluster.local import is_loopback
from workbench.cluster.pool import DISTRIBUTION, ResizableSemaphore, connected, differences, problem
from workbench.repository import fetch
from workbench.sandbox import Job, Limits

#: A worker that says that it is of another version: what a machine looks like that was not updated.
OLDER = f"""
import asyncio, sys
import distributed.versions as versions
known = versions._version_cached
versions._version_cached = lambda name: "0.0.1" if name == {DISTRIBUTION!r} else known(name)
from distributed import Worker

async def main():
    async with Worker(sys.argv[1], nthreads=1) as worker:
        print(worker.address, flush=True)
        await worker.finished()

asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.network
async def test_a_worker_of_another_version_is_left_out_and_the_others_go_on(folders: Path, cluster: Served) -> None:
    _, _, bundle = await ready()
    older = subprocess.Popen(
        [sys.executable, "-c", OLDER, cluster.scheduler], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert older.stdout is not None
        address = (await asyncio.to_thread(older.stdout.readline)).strip()
        told: list[str] = []
        async with connected(cluster.engine) as reached, reached.pool(bundle, told.append) as there:
            reports = await asyncio.gather(*(there.run(Job(str(n), tests=(SUITE + "test_average",))) for n in range(6)))
            assert [report.verdict for report in reports] == ["passed"] * 6
            assert there.threads == 2
            assert not await _tested_on(reached._client, address)
        assert f"Worker {address} is not used: it has Workbench 0.0.1 where {_version()} is needed, as here." in told
    finally:
        older.kill()
        older.wait(10)
        if older.stdout is not None:
            older.stdout.close()


@pytest.mark.sandbox
@pytest.mark.network
async def test_verdicts_by_other_rules_are_refused(folders: Path, cluster: Served) -> None:
    _, _, bundle = await ready()
    async with connected(cluster.engine) as reached, reached.pool(replace(bundle, runner="another")) as there:
        with pytest.raises(
            ClusterError, match=r"None of the 2 workers .* can test: the Workbench there gives verdicts by"
        ):
            await there.run(Job("one", tests=(SUITE + "test_average",)))


async def _tested_on(client: Any, address: str) -> int:
    """How many candidates a worker has had since it started."""

    def tested(dask_worker: Any) -> int:
        return sum("workbench_test" in str(event) for event in dask_worker.state.log)

    return int((await client.run(tested, workers=[address]))[address])


def _version() -> str:
    from importlib.metadata import version

    return version(DISTRIBUTION)


def member(python: str = "3.11.7.final.0", workbench: str | None = "1.0", dask: str = "2026.8.0") -> dict[str, object]:
    return {"packages": {"python": python, DISTRIBUTION: workbench, "dask": dask, "distributed": dask}}


@pytest.mark.parametrize(
    ("theirs", "why"),
    [
        (member(), ""),
        (member(python="3.11.2.final.0", dask="2026.7.0"), ""),
        (member(python="3.12.1.final.0"), "it has Python 3.12 where 3.11 is needed, as here"),
        (member(workbench="0.9"), "it has Workbench 0.9 where 1.0 is needed, as here"),
        (member(workbench=None), "it has no Workbench; install it there: pip install 'docs-workbench[cluster]==1.0'"),
    ],
)
def test_a_worker_needs_our_python_and_our_workbench(theirs: dict[str, object], why: str) -> None:
    assert problem(theirs, member()) == why


def test_another_dask_is_told_and_not_refused() -> None:
    theirs = member(dask="2026.7.0")
    assert differences(theirs, member()) == "dask 2026.7.0, here 2026.8.0; distributed 2026.7.0, here 2026.8.0"
    assert differences(member(), member()) == ""


@given(sizes=st.lists(st.integers(0, 5), min_size=1, max_size=6), entrants=st.integers(1, 30))
def test_the_window_never_lets_more_in_than_its_size_and_everybody_in_the_end(sizes: list[int], entrants: int) -> None:
    async def main() -> None:
        window = ResizableSemaphore(sizes[0])
        size, inside, most, done = sizes[0], 0, 0, 0

        async def enter() -> None:
            nonlocal inside, done
            async with window:
                inside += 1
                assert inside <= max(size, most)
                await asyncio.sleep(0)
                inside -= 1
                done += 1

        entering = [asyncio.create_task(enter()) for _ in range(entrants)]
        for new in [*sizes[1:], 3]:
            await asyncio.sleep(0)
            most = inside
            size = new
            await window.resize(new)
        await asyncio.wait_for(asyncio.gather(*entering), 5)
        assert done == entrants

    asyncio.run(main())


async def test_a_parcel_is_the_same_tree_again(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "only-one-folder"
    (folder / "src" / "deep").mkdir(parents=True)
    (folder / "src" / "deep" / "a.py").write_bytes(b"x = 1\r\n")
    (folder / "src" / "caf\u00e9.py").write_text("y = 2\n")
    script = folder / "src" / "run.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    (folder / "src" / "link.py").symlink_to("deep/a.py")
    snapshot = fetch(str(folder))
    from workbench.regeneration.environment import Environment
    from workbench.sandbox import Workspace

    environment = Environment(
        Path("/python"), tmp_path, "e" * 64, (), (), (), Workspace(snapshot.root, Path("/python"))
    )
    bundle = pack("x", snapshot, environment, install=(), test=(), backend="bubblewrap", limits=Limits())
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path / "elsewhere"))
    there = unpacked(bundle)
    assert there.digest == snapshot.digest
    assert there.root.is_relative_to(tmp_path / "elsewhere")
    assert (there.root / "src" / "link.py").is_symlink()
    assert (there.root / "src" / "run.sh").stat().st_mode & 0o111
    assert (there.root / "src" / "deep" / "a.py").read_bytes() == b"x = 1\r\n"
    # What arrives changed is not used.
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path / "third"))
    with pytest.raises(ClusterError, match="arrived changed"):
        unpacked(replace(bundle, snapshot="0" * 64))


@pytest.mark.parametrize(
    ("host", "only_here"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("node7", False)],
)
def test_only_loopback_addresses_are_this_machine_alone(host: str, only_here: bool) -> None:
    assert is_loopback(host) is only_here
