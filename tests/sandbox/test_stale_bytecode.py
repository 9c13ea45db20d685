"""Trap: a same-size rewrite within one second runs a stale ``.pyc``, for its record of the source does not change."""

from __future__ import annotations

import importlib.util
import py_compile
from pathlib import Path

import pytest

from workbench.sandbox import Job, Pool, Route, Verdict
from workbench.sandbox.workbench_runner.tree import Tree

from .conftest import LIMITS, job


@pytest.mark.sandbox
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("route", [Route.AUTO, Route.WARM, Route.COLD])
async def test_every_rewrite_of_the_same_size_is_what_runs(box: Pool, route: Route) -> None:
    await box.run(Job("suite", limits=LIMITS))  # writes bytecode of the original
    wanted = [0, 1, 0, 2, 0]
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
