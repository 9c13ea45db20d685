"""The Docker engine is killed under a run: the run ends with a sentence about it, and ``resume`` gives the same verdicts."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from container_engines import Engine, NoEngine, dockerd, image_with_libraries
from engine import killing
from engine.tiny_repository import BAD, GOOD, make_repository
from needing_sandboxes import require

from workbench.session import SessionReader

pytestmark = [
    *(pytest.mark.docker, pytest.mark.network, pytest.mark.slow, pytest.mark.nightly, pytest.mark.fresh_engines),
    *(pytest.mark.timeout(900), pytest.mark.xdist_group("docker")),
]

IMAGE = "workbench-test-libraries:latest"
CANDIDATES, KILLS = 150, 2


@pytest.fixture
def engine(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """An engine of this test's own, with an image in which the environment's interpreter starts."""
    import docker

    # A sandbox has /tmp in memory, where an environment would be hidden.
    place = Path(tempfile.mkdtemp(prefix="workbench-test-", dir="/var/tmp"))
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(place))
    monkeypatch.setenv("WORKBENCH_DOCKER_IMAGE", IMAGE)
    try:
        with dockerd() as own:
            client = docker.DockerClient(base_url=own.host, timeout=60)
            client.api.import_image_from_data(image_with_libraries(Path(sys.executable)), repository=IMAGE)
            client.close()
            monkeypatch.setenv("DOCKER_HOST", own.host)
            yield own
    except NoEngine as reason:
        require(str(reason))
    finally:
        shutil.rmtree(place)


def _workbench(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "workbench", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    out, err = process.communicate(timeout=240)
    return process.returncode, out + err


def _verdicts_so_far(session: Path) -> killing.Verdicts:
    known = {"passed", "failed", "timeout", "crashed", "invalid", "error"}
    return {key: row for key, row in killing.verdicts(session).items() if row[0] in known}


def test_an_engine_that_is_killed_changes_no_verdict(engine, tmp_path, until, fault_counts):
    repository = make_repository(tmp_path / "small-sums")
    file = tmp_path / "answers.jsonl"
    bodies = [(f"sums.py::{name}", body) for known in (GOOD, BAD) for name, body in known.items()]
    assert killing.write_samples(file, bodies, CANDIDATES) == CANDIDATES
    whole, broken = tmp_path / "whole.session", tmp_path / "broken.session"
    order = ("regenerate", repository, "--evaluator", f"samples:{file}", "--sandbox", "docker", "--session")
    code, said = _ended(_workbench(*order, whole))
    assert code == 0, said
    wanted = killing.verdicts(whole)
    assert len(wanted) == CANDIDATES + 6  # with the controls
    assert {"passed", "failed"} <= {verdict for verdict, _ in wanted.values()}

    seed = random.randrange(2**32)
    rng = random.Random(seed)
    arguments: tuple[object, ...] = (*order, broken)
    before = 0
    for point in sorted(rng.uniform(0.05, 0.85) for _ in range(KILLS)):
        process = _workbench(*arguments)
        goal = max(int(point * len(wanted)), before + 1)
        until(lambda: broken.exists() and len(killing.done(broken)) >= goal, 240, f"{goal} verdicts (seed {seed})")  # noqa: B023
        engine.kill()
        fault_counts["kills of the Docker engine"] += 1
        code, said = _ended(process)
        assert code == 1, (seed, said)
        assert "Docker engine" in said, (seed, said)
        assert "Traceback" not in said
        assert "defect" not in said
        now = _verdicts_so_far(broken)
        assert {key: row for key, row in now.items() if wanted[key] != row} == {}, f"seed {seed}"
        before = len(now)
        assert before < len(wanted), f"seed {seed}: the run was over before the engine was killed"
        fault_counts["verdicts that a killed Docker engine left"] += before
        # Without an engine a resumed run says so as well, and touches nothing.
        code, said = _ended(_workbench("resume", broken))
        assert code == 1, (seed, said)
        assert "Docker engine" in said, (seed, said)
        assert _verdicts_so_far(broken) == now, f"seed {seed}"
        engine.start_again()
        arguments = ("resume", broken)
    code, said = _ended(_workbench(*arguments))
    assert code == 0, (seed, said)
    assert killing.states(broken) == {"done"}
    assert killing.disagreements(wanted, killing.verdicts(broken)) == [], f"seed {seed}"
    with SessionReader(broken) as reader:
        assert [run.error for run in reader.runs()] == [None]
