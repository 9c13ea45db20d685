"""Runs whose candidates are tested on a cluster, started from the command line: killed workers, a lost scheduler, bad addresses."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cluster.serving import Served, alive, serving
from engine.tiny_repository import BAD, GOOD, TASKS, make_repository

from workbench.cli import main
from workbench.plans.plan import RegenerationPlan
from workbench.session import SessionReader

Until = Callable[..., Any]
pytestmark = [pytest.mark.sandbox, pytest.mark.network]


@pytest.fixture
def repository(folders: Path, tmp_path: Path) -> Path:
    return make_repository(tmp_path / "small-sums")


@pytest.fixture
def samples(tmp_path: Path) -> str:
    """Four bodies per function, slow enough that a run has a middle."""
    lines = []
    for task in TASKS:
        name = task.partition("::")[2]
        for number in range(4):
            body = f"import time\ntime.sleep(0.2)\n{(GOOD if number % 2 else BAD)[name]}"
            lines.append(
                json.dumps({"task_id": task, "completion": "".join(f"    {line}\n" for line in body.splitlines())})
            )
    path = tmp_path / "samples.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return f"samples:{path}"


def started(repository: Path, samples: str, session: Path, engine: str) -> subprocess.Popen[str]:
    command = ["regenerate", str(repository), "--evaluator", samples, "--session", str(session), "--engine", engine]
    return subprocess.Popen(
        [sys.executable, "-m", "workbench", *command],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def essence(session: Path) -> dict[Any, Any]:
    """Return all verdicts of a session by what they are of."""
    with SessionReader(session) as reader:
        (run,) = reader.runs()
        tasks = {row.id: row.qualified_name for row in reader.tasks(run.id)}
        return {
            (tasks[row.task_id], "samples" if ":" in row.evaluator else row.evaluator, row.sample): row.verdict
            for row in reader.candidates(run.id)
        }


def verdicts(session: Path) -> dict[str, tuple[str | None, float | None]]:
    if not session.exists():
        return {}
    with SessionReader(session) as reader:
        rows = [row for run in reader.runs() for row in reader.candidates(run.id)]
        return {row.id: (row.verdict, row.at) for row in rows if row.state == "done" and not row.control}


def expected() -> dict[Any, Any]:
    """By hand: the original passes, a stub fails, and so on."""
    found = {}
    for task in TASKS:
        name = task.partition("::")[2]
        found |= {(name, "reference", 0): "passed", (name, "stub", 0): "failed"}
        found |= {(name, "samples", number): "passed" if number % 2 else "failed" for number in range(4)}
    return found


@pytest.mark.nightly
def test_a_run_on_a_cluster_loses_a_worker_and_ends_with_all_its_verdicts(
    repository: Path, samples: str, tmp_path: Path, cluster: Served, until: Until
) -> None:
    session = tmp_path / "there.session"
    run = started(repository, samples, session, cluster.engine)
    until(lambda: len(verdicts(session)) >= 2, 100, "the first verdicts")
    victim = next(pid for pid in cluster.pids if alive(pid))
    assert len(verdicts(session)) < 12
    os.kill(victim, signal.SIGKILL)
    _, errors = run.communicate(timeout=100)
    assert run.returncode == 0, errors
    assert not alive(victim)
    with SessionReader(session) as reader:
        (row,) = reader.runs()
        assert RegenerationPlan.from_json(row.config).engine == cluster.engine
    assert essence(session) == expected()


@pytest.mark.slow
def test_a_scheduler_that_is_lost_ends_the_run_in_one_sentence_and_another_cluster_finishes_it(
    repository: Path, samples: str, tmp_path: Path, worker_cache: Path, cluster: Served, until: Until
) -> None:
    session = tmp_path / "run.session"
    with serving(worker_cache, workers=1) as lost:
        run = started(repository, samples, session, lost.engine)
        until(lambda: len(verdicts(session)) >= 2, 100, "the first verdicts")
        lost.kill()
        _, errors = run.communicate(timeout=60)
    assert run.returncode == 1
    sentence = f"workbench: The connection to the Dask scheduler at {lost.engine} was lost; all verdicts so far are in the session"
    assert errors.startswith(sentence), errors
    assert len(errors.splitlines()) == 1
    until(lambda: not any(alive(pid) for pid in lost.pids), 20, "the end of the workers")
    before = verdicts(session)
    assert 2 <= len(before) < 12
    assert main(["resume", str(session), "--engine", cluster.engine, "--json"]) == 0
    after = verdicts(session)
    assert {key: after[key] for key in before} == before
    assert essence(session) == expected()


def test_a_port_that_is_taken_is_named(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["cluster", "--workers", "1", "--port", str(port)]) == 1
    assert capsys.readouterr().err.startswith(f"workbench: Port {port} of 127.0.0.1 is in use")
