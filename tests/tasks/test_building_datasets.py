"""``tasks build`` and ``tasks show`` as scripts use them; a killed build goes on where it stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine.tiny_repository import TASKS, make_repository

from workbench.cli import main
from workbench.regeneration.dataset import read_dataset

pytestmark = [pytest.mark.sandbox, pytest.mark.network, pytest.mark.usefixtures("bubblewrap")]

FUNCTIONS = 24


@pytest.fixture
def cache(home: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, with the environments that other tests have made."""
    folder = tmp_path_factory.mktemp("cache")
    shared = tmp_path_factory.getbasetemp() / "environments-of-tasks"
    shared.mkdir(exist_ok=True)
    (folder / "environments").symlink_to(shared)
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(folder))
    return folder


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.slow
def test_a_broken_source_among_several_is_one_sentence(cache, tmp_path, capsys):
    good = make_repository(tmp_path / "small-sums")
    untested = make_repository(tmp_path / "untested", suite=None)
    out = tmp_path / "dataset"
    sources = [str(untested), str(tmp_path / "nowhere"), str(good)]
    assert main(["tasks", "build", *sources, "--out", str(out), "--json"]) == 1
    printed = lines(capsys.readouterr().out)
    repositories = [line for line in printed if line["type"] == "repository"]
    assert [line["state"] for line in repositories] == ["failed", "failed", "built"]
    assert repositories[0]["error"] == "The repository has no tests that pytest finds."
    assert repositories[1]["error"] == f"The folder {tmp_path / 'nowhere'} does not exist; check the path."
    assert repositories[2]["counts"] == {
        "n_candidates": 4, "n_with_body": 4, "n_traced": 3, "n_in_time": 3, "n_reference": 3, "n_tasks": 3,
        "n_documented": 3, "n_tests": 4, "n_stable": 4, "n_unstable": 0, "n_failing": 0, "n_skipped": 0, "n_taken_out": 0,
    }  # fmt: skip
    stages = [
        (line["name"], line["state"]) for line in printed if line["type"] == "stage" and line["source"] == str(good)
    ]
    assert stages[-1] == ("filter", "done")
    assert printed[-1]["type"] == "summary"
    assert (printed[-1]["n_repositories"], printed[-1]["n_failed"], printed[-1]["totals"]["n_tasks"]) == (1, 2, 3)

    dataset = read_dataset(out)
    assert [row.task_id for row in dataset.rows] == list(TASKS)
    assert read_dataset(out / "tasks.parquet").rows == dataset.rows
    assert [row.id for row in dataset.rows] == [0, 1, 2]
    clamp = dataset.rows[1]
    assert (clamp.branches, clamp.branches_covered, clamp.coverage) == (2, 2, 1.0)
    assert clamp.file == (good / "sums.py").read_bytes()
    assert clamp.build_command.startswith("pip install ")
    assert "pytest==" in clamp.build_command
    assert dataset.summary["repositories"][0]["error"] == "The repository has no tests that pytest finds."
    gone = [json.loads(line) for line in (out / "dropped.jsonl").read_text().splitlines()]
    assert [(entry["task_id"], entry["stage"]) for entry in gone] == [("sums.py::unused", "trace")]

    # In words; from the cache this time; one format.
    assert main(["tasks", "build", *sources, "--out", str(out), "--formats", "jsonl"]) == 1
    printed_text = capsys.readouterr()
    assert f"workbench: {tmp_path / 'nowhere'}: The folder" in printed_text.err
    assert "candidates" in printed_text.out
    assert f"Written: {out}" in printed_text.out
    assert main(["tasks", "show", str(out), "--limit", "1"]) == 0
    printed_text = capsys.readouterr()
    assert "sums.py::add" in printed_text.out
    assert "1 task of 3" in printed_text.out
    assert main(["tasks", "show", str(out), "--task", "clamp", "--json"]) == 0
    printed = lines(capsys.readouterr().out)
    assert [line["task_id"] for line in printed if line["type"] == "task"] == ["sums.py::clamp"]


@pytest.mark.slow
def test_a_killed_build_goes_on_where_it_stopped(cache: Path, tmp_path: Path, until: Callable[..., Any]) -> None:
    first = make_repository(tmp_path / "small-sums")
    second = tmp_path / "many"
    source = "\n\n".join(f"def f{n}(x):\n    return x + {n}\n" for n in range(FUNCTIONS))
    suite = "import many\n\n\n" + "\n\n".join(
        f"def test_{n}():\n    assert many.f{n}(1) == {n + 1}\n" for n in range(FUNCTIONS)
    )
    (second / "tests").mkdir(parents=True)
    (second / "many.py").write_text(source)
    (second / "tests" / "test_many.py").write_text(suite)
    command = [sys.executable, "-m", "workbench", "tasks", "build", str(first), str(second)]
    command += ["--out", str(tmp_path / "out"), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)

    def decided() -> list[dict[str, Any]]:
        found = []
        for part in (cache / "tasks").glob("*.part"):
            whole = part.read_text().rpartition("\n")[0]
            found += [json.loads(line) for line in whole.splitlines()]
        return [entry for entry in found if entry["id"].startswith("many.py")]

    try:
        before = until(lambda: len(found := decided()) >= 5 and found, 90, "five decisions")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    known = decided()
    assert 5 <= len(known) < FUNCTIONS, len(before)
    assert read_dataset(tmp_path / "out").repositories == ("small-sums",)  # what was finished is written
    suites = {path: path.stat().st_mtime_ns for path in (cache / "suites").iterdir()}
    assert len(suites) == 2

    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    printed = lines(done.stdout)
    repositories = [line for line in printed if line["type"] == "repository"]
    assert [line["cached"] for line in repositories] == [True, False]
    assert {path: path.stat().st_mtime_ns for path in (cache / "suites").iterdir()} == suites, "a suite was run again"
    rows = read_dataset(tmp_path / "out").rows
    assert [row.task_id for row in rows if row.repo == "many"] == [f"many.py::f{n}" for n in range(FUNCTIONS)]
    # What was decided before the kill was taken over as it was: measured times are never the same twice.
    seconds = {row.task_id: row.seconds for row in rows}
    assert {entry["id"]: entry["seconds"] for entry in known} == {entry["id"]: seconds[entry["id"]] for entry in known}
    assert not list((cache / "tasks").glob("*.part"))
