"""Code under test that reads the command line finds the same one on every route: pytest without arguments."""

from __future__ import annotations

import pytest

from workbench.sandbox import Job, Limits, Pool, Route, Verdict

SOURCE = """import sys


def total(numbers):
    assert sys.argv == ["pytest"], sys.argv
    return sum(numbers)
"""


@pytest.mark.sandbox
@pytest.mark.parametrize("route", [Route.AUTO, Route.WARM, Route.COLD])
async def test_no_argument_of_the_runner_is_seen(box: Pool, route: Route) -> None:
    limits = Limits(seconds=20, memory_mb=256, processes=48, disk_mb=64, file_mb=16)
    tests = ("tests/test_sums.py::test_total[two]", "tests/test_sums.py::test_large")
    report = await box.run(Job("arguments", tests, "sums.py", SOURCE.encode(), limits, route, ("total", 1)))
    assert report.verdict is Verdict.PASSED, (report.detail, report.failing)
