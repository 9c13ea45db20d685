"""What a body did to its process decides whether a pass stands, not only what its text uses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio
from hostile.changed_classes import CHANGED, HONEST, PROJECT, SUITE, TESTS

from workbench.repository.functions import find_functions
from workbench.repository.splicing import splice
from workbench.sandbox import Backend, Job, Limits, Pool, Route, Verdict, pool

# One sandbox for the whole file.
pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("changed-classes"),
]

LIMITS = Limits(seconds=60, memory_mb=256, processes=48, disk_mb=64, file_mb=16)
FUNCTIONS = {function.qualified_name: function for function in find_functions(PROJECT.encode(), "shop.py")}


def job(name: str, body: str, route: Route = Route.AUTO) -> Job:
    content = splice(PROJECT.encode(), FUNCTIONS[name], body)
    tests = tuple(f"tests/test_shop.py::{test}" for test in TESTS[name])
    return Job("candidate", tests, "shop.py", content, LIMITS, route, (name, 1))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(bubblewrap: Backend, tiny_workspace, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pool]:
    workspace = tiny_workspace(tmp_path_factory.mktemp("shop") / "repository")
    (workspace.root / "shop.py").write_text(PROJECT)
    (workspace.root / "tests" / "test_shop.py").write_text(SUITE)
    async with pool(bubblewrap, replace(workspace, own_modules=("sums", "shop")), workers=1, limits=LIMITS) as opened:
        yield opened


@pytest.mark.parametrize("name", CHANGED)
async def test_no_body_passes_unmarked_that_changed_what_its_tests_rest_on(shop: Pool, name: str) -> None:
    report = await shop.run(job(*CHANGED[name]))
    assert report.verdict in (Verdict.PASSED, Verdict.FAILED, Verdict.CRASHED), report.detail
    assert not report.passed or report.doubtful


@pytest.mark.parametrize("name", HONEST)
async def test_an_honest_body_passes_unmarked(shop: Pool, name: str) -> None:
    report = await shop.run(job(*HONEST[name]))
    assert report.verdict is Verdict.PASSED, (report.detail, report.failing)
    assert (report.doubtful, report.suspicious) == ("", ())
