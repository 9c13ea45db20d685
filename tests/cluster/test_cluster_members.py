"""Which workers are used, how many candidates run at once, what is sent, and which addresses there are; without a cluster."""

from __future__ import annotations

import asyncio
import socket
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.base.errors import UsageError
from workbench.cli import main
from workbench.cluster import ClusterError, is_loopback
from workbench.cluster.job_bundle import pack, unpacked
from workbench.cluster.pool import DISTRIBUTION, ClusterPool, ResizableSemaphore, connected, differences, problem
from workbench.orders.regenerate import move, order_regeneration, resolved
from workbench.plans.plan import RegenerationPlan
from workbench.regeneration.environment import Environment
from workbench.repository import fetch
from workbench.sandbox import Limits, Workspace
from workbench.session import SessionReader


def member(python: str = "3.11.7.final.0", workbench: str | None = "1.0", dask: str = "2026.8.0") -> dict[str, Any]:
    return {"packages": {"python": python, DISTRIBUTION: workbench, "dask": dask, "distributed": dask}}


@pytest.mark.parametrize(
    ("theirs", "why"),
    [
        (member(python="3.11.2.final.0", dask="2026.7.0"), ""),
        (member(python="3.12.1.final.0"), "it has Python 3.12, but Python 3.11 is required, as here"),
        (member(workbench=None), "Workbench is not installed there: pip install 'docs-workbench[cluster]==1.0'"),
    ],
)
def test_a_worker_needs_our_python_and_our_workbench(theirs: dict[str, Any], why: str) -> None:
    assert problem(theirs, member()) == why


async def test_a_worker_of_another_version_is_left_out_and_another_dask_is_reported(monkeypatch):
    versions = {"old": member(workbench="0.9"), "good": member(dask="2026.7.0"), "gone": None}

    async def nthreads() -> dict[str, int]:
        return dict.fromkeys(versions, 2)

    async def broadcast(msg: Any, workers: list[str], on_error: str) -> dict[str, Any]:
        return {address: versions[address] for address in workers if versions[address] is not None}

    monkeypatch.setattr("distributed.versions.get_versions", lambda packages: member())
    client = SimpleNamespace(nthreads=nthreads, scheduler=SimpleNamespace(broadcast=broadcast))
    told: list[str] = []
    there = ClusterPool("dask://x:1", client, None, told.append)  # type: ignore[arg-type]
    assert await there._refresh_workers() == 2  # one does not answer
    assert (there._usable(), there.threads) == (["good"], 2)
    assert sorted(told) == [
        "Worker good has dask 2026.7.0, here 2026.8.0; distributed 2026.7.0, here 2026.8.0.",
        "Worker old is not used: it has Workbench 0.9, but 1.0 is required, as here.",
    ]
    assert differences(member(), member()) == ""
    with pytest.raises(ClusterError, match=r"None of the 2 workers .* can test: it has Workbench 0.9"):
        there._mark_unfit("good", "it is broken")


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
    workspace = Workspace(snapshot.root, Path("/python"))
    environment = Environment(Path("/python"), tmp_path, "e" * 64, (), (), (), workspace)
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
    with pytest.raises(ClusterError, match="changed in transit"):
        unpacked(replace(bundle, snapshot="0" * 64))


# -- addresses


async def test_where_nobody_listens_one_sentence_says_so() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        engine = f"dask://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(
        ClusterError, match=f"^Nothing answers at {engine}: start a Dask scheduler there, or one on this"
    ):
        async with connected(engine):
            raise AssertionError("connected")


@pytest.mark.parametrize("engine", ["dask://host", "dask://host:99999", "ray://host:1"])
def test_what_is_no_address_is_wrong_usage(engine: str, home: Path) -> None:
    with pytest.raises(UsageError, match=f"There is no engine {engine!r}; name a Dask scheduler as"):
        resolved(RegenerationPlan("word_counter", evaluator="reference", engine=engine))


def test_without_the_package_one_sentence_says_what_to_install(home, capsys, monkeypatch):
    # What Python does for a package that is not there.
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(["cluster"]) == 2
    assert "needs the package distributed, which is not installed: pip install" in capsys.readouterr().err


def test_a_setting_names_the_engine_and_local_means_here(home, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_ENGINE", "dask://10.0.0.1:8786")
    session = tmp_path / "run.session"
    run = order_regeneration(session, RegenerationPlan("word_counter", evaluator="reference")).run

    def engine() -> str:
        with SessionReader(session) as reader:
            row = reader.run(run)
            assert row is not None
            return RegenerationPlan.from_json(row.config).engine

    assert engine() == "dask://10.0.0.1:8786"
    move(session, "dask+tls://10.0.0.2:8786")
    assert engine() == "dask+tls://10.0.0.2:8786"
    again = RegenerationPlan("word_counter", evaluator="reference", engine="local")
    assert order_regeneration(session, again).run == run
    assert engine() == ""


@pytest.mark.parametrize(
    ("host", "only_here"), [("127.0.0.1", True), ("::1", True), ("0.0.0.0", False), ("node7", False)]
)
def test_only_loopback_addresses_are_this_machine_alone(host: str, only_here: bool) -> None:
    assert is_loopback(host) is only_here
