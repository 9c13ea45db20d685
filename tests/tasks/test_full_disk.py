"""Environments, scratch space and the cache of tasks on a real disk that is really full."""

from __future__ import annotations

from pathlib import Path

import pytest
from tasks.made_up import environment_of

from workbench.engine.task_building import TaskCache
from workbench.regeneration import environment as environments
from workbench.regeneration.building import build_tasks
from workbench.regeneration.environment import EnvironmentFailed, build_environment
from workbench.repository import fetch
from workbench.sandbox import Job, Limits, Reason, SandboxError, Verdict, pool
from workbench.sandbox.process import PlainProcess

FILES = {
    "pyproject.toml": '[project]\nname = "sums"\nversion = "1"\n',
    "sums.py": "def total(numbers):\n    return sum(numbers)\n",
    "test_sums.py": "from sums import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n",
}


@pytest.mark.network
@pytest.mark.parametrize("kilobytes", [100, pytest.param(12_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("installer", ["uv", pytest.param("pip", marks=pytest.mark.slow)])
async def test_an_environment_without_room(small_disk, make, monkeypatch, kilobytes, installer):
    cache = small_disk(kilobytes).folder
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(cache))
    if installer == "pip":
        monkeypatch.setattr(environments, "uv_program", lambda: None)
    with pytest.raises(EnvironmentFailed) as caught:
        await build_environment(make(FILES))
    assert str(caught.value) == (
        f"The disk is full: there is no room in {cache / 'environments'} for the test environment; free some "
        "space or set WORKBENCH_CACHE_DIR to another folder."
    )
    assert [path.suffix for path in (cache / "environments").iterdir()] == [".lock"]


async def test_a_cache_folder_that_is_a_file(make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cache").write_text("")
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path / "cache"))
    with pytest.raises(EnvironmentFailed, match="environments cannot be written: not a directory; fix that"):
        await build_environment(make(FILES))


@pytest.mark.slow
@pytest.mark.parametrize("offline", [True, pytest.param(False, marks=pytest.mark.nightly)], ids=["uv", "pip"])
async def test_what_cannot_be_installed_is_one_line_of_the_installers(make, home, monkeypatch, offline):
    for name in ("UV_OFFLINE", "PIP_NO_INDEX"):
        monkeypatch.setenv(name, "1")
    if not offline:
        monkeypatch.setattr(environments, "uv_program", lambda: None)
    text = FILES["pyproject.toml"] + 'dependencies = ["nowhere-to-be-found>=3"]\n'
    with pytest.raises(
        EnvironmentFailed, match="^The dependencies of sums could not be installed: .*nowhere-to-be-found"
    ) as caught:
        await build_environment(make({**FILES, "pyproject.toml": text}))
    assert "\n" not in str(caught.value)
    assert "Traceback" not in str(caught.value)


async def test_an_open_quotation_in_a_command_is_one_sentence(make, home) -> None:
    with pytest.raises(EnvironmentFailed, match="is not (valid|supported)"):
        await build_environment(make(FILES), install=["pip install 'one"])


@pytest.mark.sandbox
@pytest.mark.slow
async def test_a_task_cache_without_room_costs_time_only(small_disk, make, bubblewrap, monkeypatch, tmp_path):
    root = make(FILES)
    snapshot = fetch(str(root), cache=tmp_path / "snapshots")
    disk = small_disk(64)
    disk.fill()
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(disk.folder))
    environment = environment_of(root)
    cache = TaskCache(snapshot, environment, "bubblewrap")
    built = await build_tasks(root, environment, bubblewrap, record=cache, limits=Limits(seconds=30))
    cache.finish(built)
    assert [task.id for task in built.tasks] == ["sums.py::total"]
    assert cache.tasks() is None
    assert not cache.decisions()
    assert [path.name for path in disk.folder.rglob("*") if path.is_file() and path.stat().st_size] == ["filler"]


@pytest.mark.sandbox
async def test_a_sandbox_without_room_for_the_repository(small_disk, make, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = small_disk(1500)
    monkeypatch.setattr("tempfile.tempdir", str(disk.folder))
    root = make({**FILES, "large.txt": "x" * 3_000_000})
    async with pool(PlainProcess(), environment_of(root).workspace, workers=1) as opened:
        with pytest.raises(
            SandboxError, match="^The disk is full: there is no room in .* for a sandbox; free some space"
        ):
            await opened.run(Job("suite"))


@pytest.mark.sandbox
async def test_a_file_past_its_limit_is_the_candidates_fault_on_every_disk(small_disk, make, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(small_disk(3_000).folder))
    writes = "def total(numbers):\n    open('written', 'wb').write(b'x' * 2_500_000)\n    return sum(numbers)\n"
    async with pool(PlainProcess(), environment_of(make(FILES)).workspace, workers=1) as opened:
        limits = Limits(seconds=30, file_mb=1)
        report = await opened.run(Job("one", ("test_sums.py::test_total",), "sums.py", writes.encode(), limits))
    assert (report.verdict, report.reason) == (Verdict.CRASHED, Reason.DISK_FULL)


@pytest.mark.sandbox
async def test_who_only_says_that_the_disk_is_full_is_not_believed(small_disk, make, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(small_disk(900_000).folder))
    lies = "def total(numbers):\n    raise OSError(28, 'No space left on device')\n"
    async with pool(PlainProcess(), environment_of(make(FILES)).workspace, workers=1) as opened:
        job = Job("one", ("test_sums.py::test_total",), "sums.py", lies.encode(), Limits(seconds=30))
        report = await opened.run(job)
    assert (report.verdict, report.reason) == (Verdict.CRASHED, Reason.DISK_FULL)
