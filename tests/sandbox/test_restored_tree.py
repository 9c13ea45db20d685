"""Trap: what the tests or a former candidate wrote. Every candidate finds the tree as it was, and no bytecode of the original."""

from __future__ import annotations

import importlib.util
import py_compile
from pathlib import Path

import pytest

from workbench.sandbox import Backend, Job, Pool, Route, Verdict, Workspace, pool
from workbench.sandbox.workbench_runner.tree import Tree

from .conftest import LIMITS, job


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("route", [Route.AUTO, pytest.param(Route.WARM, marks=pytest.mark.nightly), Route.COLD])
async def test_every_rewrite_of_the_same_size_is_what_runs(box: Pool, route: Route) -> None:
    await box.run(Job("suite", limits=LIMITS))  # writes bytecode of the original
    wanted = [0, 1, 0]
    reports = [await box.run(job(f"return sum(numbers) + {extra}", route)) for extra in wanted]
    assert [report.verdict for report in reports] == [Verdict.FAILED if extra else Verdict.PASSED for extra in wanted]
    assert {report.route for report in reports} == {Route.HOT if route is Route.AUTO else route}


def test_the_bytecode_of_the_original_is_gone_while_a_candidate_is_there(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    tree = Tree(str(root), [])
    tree.load([["pkg/sums.py", 0o644, "eCA9IDEK"], ["pkg/other.py", 0o644, "eCA9IDEK"]])
    caches = [Path(importlib.util.cache_from_source(str(root / "pkg" / name))) for name in ("sums.py", "other.py")]
    for name in ("sums.py", "other.py"):
        py_compile.compile(str(root / "pkg" / name))
        py_compile.compile(str(root / "pkg" / name), optimize=1)
    assert tree.harvest() == 4
    tree.reset()
    assert all(cache.exists() for cache in caches)
    tree.place("pkg/sums.py", b"x = 2\n")
    assert [path.name.split(".")[0] for path in (root / "pkg" / "__pycache__").iterdir()] == ["other", "other"]
    tree.reset()
    assert all(cache.exists() for cache in caches)
    assert (root / "pkg" / "sums.py").read_bytes() == b"x = 1\n"


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


@pytest.mark.slow
@pytest.mark.sandbox
async def test_every_candidate_finds_the_tree_as_it_was(bubblewrap: Backend, workspace: Workspace) -> None:
    (workspace.root / "tests" / "test_writes.py").write_text(WRITES)
    async with pool(bubblewrap, workspace, workers=1, limits=LIMITS) as opened:
        for route in (Route.AUTO, Route.AUTO, Route.WARM, Route.COLD):
            report = await opened.run(job(RIGHT, route, tests=("tests/test_writes.py::test_writes",)))
            assert report.passed, [test.message for test in report.failing]
            other = await opened.run(job(RIGHT, route))
            assert other.passed, other.detail
