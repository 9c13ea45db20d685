"""What a body did to its process, and what it reached, decide whether its pass stands; not how it is written."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import pytest
import pytest_asyncio
from hostile import changed_classes, reached

from workbench.repository.functions import find_functions
from workbench.repository.splicing import splice
from workbench.sandbox import Backend, Job, Pool, Report, Route, Verdict, pool

from .conftest import LIMITS

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("unverified-passes"),
]

PROJECTS = {"shop.py": changed_classes, "depot.py": reached}


@dataclass
class Arena:
    """One worker on the files of both projects."""

    pool: Pool

    async def run(self, path: str, name: str, body: str, tests: dict[str, tuple[str, ...]]) -> Report:
        source = PROJECTS[path].FILES[path].encode()
        function = next(each for each in find_functions(source, path) if each.qualified_name == name)
        named = tuple(f"tests/test_{path}::{test}" for test in tests.get(name, PROJECTS[path].TESTS[name]))
        return await self.pool.run(
            Job("candidate", named, path, splice(source, function, body), LIMITS, Route.AUTO, (name, 1))
        )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def arena(bubblewrap: Backend, tiny_workspace, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Arena]:
    workspace = tiny_workspace(tmp_path_factory.mktemp("projects") / "repository")
    for project in PROJECTS.values():
        for path, text in project.FILES.items():
            (workspace.root / path).write_text(text)
    own = ("sums", "shop", "depot", "depot_boxes")
    async with pool(bubblewrap, replace(workspace, own_modules=own), workers=1, limits=LIMITS) as opened:
        yield Arena(opened)


def bodies(table: str) -> pytest.MarkDecorator:
    """All bodies of both projects; one in six without ``slow``."""
    found = [(path, name) for path, project in PROJECTS.items() for name in getattr(project, table)]
    return pytest.mark.parametrize(
        ("path", "name"),
        [pytest.param(*each, marks=[pytest.mark.slow] if number % 6 else []) for number, each in enumerate(found)],
    )


@bodies("HOSTILE")
async def test_no_body_passes_unmarked_that_changed_or_reached_what_its_tests_rest_on(arena, path, name):
    report = await arena.run(path, *PROJECTS[path].HOSTILE[name], getattr(PROJECTS[path], "TESTS_OF_FILES", {}))
    assert report.verdict in (Verdict.PASSED, Verdict.FAILED, Verdict.CRASHED), report.detail
    assert not report.passed or report.doubtful


@bodies("HONEST")
async def test_an_honest_body_passes_unmarked(arena: Arena, path: str, name: str) -> None:
    report = await arena.run(path, *PROJECTS[path].HONEST[name], {})
    assert report.verdict is Verdict.PASSED, (report.detail, report.failing)
    assert (report.doubtful, report.suspicious) == ("", ())
    assert report.plain or path == "shop.py"
