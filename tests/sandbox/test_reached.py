"""Computed names, unknown values and files: what a body reaches decides whether its pass stands, not how it is written."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio
from hostile.reached import FILES, HONEST, OF_FILES, REACHED, TESTS

from workbench.repository.functions import find_functions
from workbench.repository.splicing import splice
from workbench.sandbox import Backend, Job, Limits, Pool, Route, Verdict, pool

# One sandbox for the whole file.
pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("reached"),
]

LIMITS = Limits(seconds=60, memory_mb=256, processes=48, disk_mb=64, file_mb=16)
SOURCE = FILES["depot.py"].encode()
FUNCTIONS = {function.qualified_name: function for function in find_functions(SOURCE, "depot.py")}


def job(name: str, body: str, tests: dict[str, tuple[str, ...]], route: Route = Route.AUTO) -> Job:
    named = tuple(f"tests/test_depot.py::{test}" for test in tests.get(name, TESTS[name]))
    return Job("candidate", named, "depot.py", splice(SOURCE, FUNCTIONS[name], body), LIMITS, route, (name, 1))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def depot(bubblewrap: Backend, tiny_workspace, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pool]:
    workspace = tiny_workspace(tmp_path_factory.mktemp("depot") / "repository")
    for path, text in FILES.items():
        (workspace.root / path).write_text(text)
    workspace = replace(workspace, own_modules=("sums", "depot", "depot_boxes"))
    async with pool(bubblewrap, workspace, workers=1, limits=LIMITS) as opened:
        yield opened


@pytest.mark.parametrize("name", REACHED)
async def test_no_body_passes_unmarked_that_reaches_what_its_tests_expect(depot: Pool, name: str) -> None:
    report = await depot.run(job(*REACHED[name], OF_FILES))
    assert report.verdict in (Verdict.PASSED, Verdict.FAILED, Verdict.CRASHED), report.detail
    assert not report.passed or report.doubtful


@pytest.mark.parametrize("name", HONEST)
async def test_an_honest_body_passes_unmarked(depot: Pool, name: str) -> None:
    report = await depot.run(job(*HONEST[name], {}))
    assert report.verdict is Verdict.PASSED, (report.detail, report.failing)
    assert (report.doubtful, report.suspicious, report.plain) == ("", (), True)
