"""Where no sandbox isolates: one sentence that names the option, nothing written, and the option works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FORBIDDEN = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
pytestmark = pytest.mark.sandbox


@pytest.fixture
def machine(needs_bubblewrap: None, tmp_path: Path, home: Path) -> dict[str, str]:
    """The environment of a machine on which no namespace may be made and no Docker engine runs."""
    return {**os.environ, "DOCKER_HOST": f"unix://{tmp_path}/none", "PYTHONPATH": str(ROOT)}


def workbench(machine: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["unshare", "-U", "-r", "sh", "-c", FORBIDDEN, "sh", sys.executable, "-m", "workbench", *arguments]
    return subprocess.run(command, env=machine, capture_output=True, text=True, timeout=300)


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "order",
    [
        ("regenerate", "word_counter", "--evaluator", "reference"),
        ("regenerate", "word_counter", "--evaluator", "reference", "--sandbox", "docker"),
        ("tasks", "build", "word_counter"),
    ],
    ids=" ".join,
)
def test_an_order_that_cannot_be_tested_is_refused_before_anything_is_written(order, machine, tmp_path):
    before = files(tmp_path)
    done = workbench(machine, *order)
    assert done.returncode == 1, done
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert ("user.max_user_namespaces is 0" in done.stderr) == ("docker" not in order)
    if "--sandbox" not in order:
        assert "--sandbox process" in done.stderr
        assert "but without" in done.stderr
    assert files(tmp_path) - before == set()


@pytest.mark.slow
@pytest.mark.network
def test_the_plain_process_gives_the_controls_their_verdicts(one_cache, machine, tmp_path):
    order = ("regenerate", "word_counter", "--evaluator", "reference", "--limit", "1", "--sandbox", "process", "--json")
    done = workbench(machine, *order)
    assert done.returncode == 0, done
    closing = json.loads(done.stdout.splitlines()[-1])
    assert closing["pass_at_k"]["1"] == 1.0
    assert closing["sandbox"] == "process"
