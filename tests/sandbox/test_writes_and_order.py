"""Trap: tests write into the tree and depend on order. Every candidate finds the tree as it was; what is unstable is
quarantined and reported, and no task rests on it."""

from __future__ import annotations

import pytest

from workbench.sandbox import Backend, Route, Workspace, pool

from .conftest import LIMITS, job

pytestmark = [pytest.mark.sandbox]

RIGHT = "return sum(numbers)"
# Passes only in a tree in which it has never run.
WRITES = """import os
from pathlib import Path

from sums import total

HERE = Path(__file__).parent


def test_writes():
    assert total([1]) == 1
    for place in (HERE / "left", HERE.parent / "left", Path("/tmp/left"), Path.home() / "left"):
        assert not place.exists(), place
        place.write_text("x")
    (HERE / "test_sums.py").unlink()
    (HERE.parent / "sums.py").write_text("broken")
    os.chmod(HERE, 0o555)
"""


async def test_every_candidate_finds_the_tree_as_it_was(bubblewrap: Backend, workspace: Workspace) -> None:
    (workspace.root / "tests" / "test_writes.py").write_text(WRITES)
    async with pool(bubblewrap, workspace, workers=1, limits=LIMITS) as opened:
        for route in (Route.AUTO, Route.WARM, Route.COLD) * 2:
            report = await opened.run(job(RIGHT, route, tests=("tests/test_writes.py::test_writes",)))
            assert report.passed, [test.message for test in report.failing]
            other = await opened.run(job(RIGHT, route))
            assert other.passed, other.detail
