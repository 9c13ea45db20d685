"""Trap: tests write into the tree and depend on order. Every candidate finds the tree as it was; what is unstable is
quarantined and reported, and no task rests on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.regeneration.building import build_tasks
from workbench.regeneration.environment import Environment
from workbench.regeneration.suite import run_suite
from workbench.sandbox import Backend, Job, Limits, Route, Workspace, pool

pytestmark = [pytest.mark.sandbox]

LIMITS = Limits(seconds=60, memory_mb=256, processes=48, disk_mb=64, file_mb=16)
ORIGINAL = b'"""Sums."""\n\n\ndef total(numbers):\n    """Return the sum of the numbers; 0 for none."""\n    return sum(numbers)\n'
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
# Each test needs all those before it: in any other order one of them fails.
ORDER = "from sums import total\n\nstate = []\n\n\n" + "\n\n".join(
    f"def test_{number}():\n    assert len(state) == total([{number}])\n    state.append({number})\n"
    for number in range(6)
)


def job(test: str, route: Route) -> Job:
    return Job("x", (test,), "sums.py", ORIGINAL, LIMITS, route, ("total", 1))


@pytest.mark.parametrize("route", [Route.AUTO, Route.WARM, Route.COLD])
async def test_every_candidate_finds_the_tree_as_it_was(
    bubblewrap: Backend, workspace: Workspace, route: Route
) -> None:
    (workspace.root / "tests" / "test_writes.py").write_text(WRITES)
    async with pool(bubblewrap, workspace, workers=1, limits=LIMITS) as opened:
        for _ in range(3):
            report = await opened.run(job("tests/test_writes.py::test_writes", route))
            assert report.passed, [test.message for test in report.failing]
            other = await opened.run(job("tests/test_sums.py::test_large", route))
            assert other.passed, other.detail


async def test_what_depends_on_order_is_quarantined_and_named(bubblewrap: Backend, workspace: Workspace) -> None:
    (workspace.root / "tests" / "test_order.py").write_text(ORDER)
    async with pool(bubblewrap, workspace, workers=1, limits=LIMITS) as opened:
        suite = await run_suite(opened, LIMITS)
    assert suite.unstable
    assert all(name.startswith("tests/test_order.py::test_") for name in suite.unstable)
    assert all(outcomes == ("passed", "failed", "passed") for outcomes in suite.unstable.values())
    assert "tests/test_sums.py::test_large" in suite.stable
    assert not set(suite.unstable) & set(suite.stable)


async def test_no_task_rests_on_an_unstable_test(bubblewrap: Backend, workspace: Workspace, tmp_path: Path) -> None:
    """A function that only an unstable test executes becomes no task, and the report says so."""
    source = (workspace.root / "sums.py").read_text() + "\n\ndef half(number):\n    return number / 2\n"
    (workspace.root / "sums.py").write_text(source)
    (workspace.root / "tests" / "test_chance.py").write_text(
        "from sums import half\n\n\ndef test_half(request):\n    assert half(4) == 2\n"
        "    names = [item.name for item in request.session.items]\n"
        "    assert names == ['test_half', 'test_total[none]', 'test_total[two]', 'test_total[zero]', 'test_large']\n"
    )
    environment = Environment(workspace.python, tmp_path, "0" * 64, (), (), (), workspace)
    built = await build_tasks(workspace.root, environment, bubblewrap, workers=1, limits=LIMITS)
    assert list(built.unstable) == ["tests/test_chance.py::test_half"]
    assert [task.id for task in built.tasks] == ["sums.py::total"]
    assert {(entry.id, entry.stage) for entry in built.dropped} == {("sums.py::half", "trace")}
