"""A tiny repository in a real sandbox; the interpreter is the one that runs the tests, so nothing is installed."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from container_engines import IMAGE, Engine, NoEngine, dockerd, podman
from needing_sandboxes import require

from workbench.sandbox import Backend, Job, Limits, Pool, Route, Workspace, pool
from workbench.sandbox.bubblewrap import Bubblewrap
from workbench.sandbox.docker import Docker
from workbench.sandbox.process import PlainProcess

HEAD = '"""Sums."""\n\n\ndef total(numbers):\n    """Return the sum of the numbers; 0 for none."""\n'
SOURCE = f"{HEAD}    result = 0\n    for number in numbers:\n        result += number\n    return result\n"

SUITE = """import pytest

from sums import total


@pytest.mark.parametrize(("numbers", "expected"), [([], 0), ([1, 2], 3), ([-1, 1], 0)], ids=["none", "two", "zero"])
def test_total(numbers, expected):
    assert total(numbers) == expected


def test_large():
    assert total(range(1000)) == 499500
"""

TESTS = (
    *(f"tests/test_sums.py::test_total[{name}]" for name in ("none", "two", "zero")),
    "tests/test_sums.py::test_large",
)
LIMITS = Limits(seconds=60, memory_mb=256, processes=48, disk_mb=64, file_mb=16)


def job(body: str, route: Route = Route.AUTO, seconds: float = 60.0, tests: tuple[str, ...] = TESTS) -> Job:
    """A candidate for ``total`` with this body."""
    content = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    return Job("candidate", tests, "sums.py", content.encode(), replace(LIMITS, seconds=seconds), route, ("total", 1))


def make_workspace(root: Path) -> Workspace:
    (root / "tests").mkdir(parents=True)
    (root / "sums.py").write_text(SOURCE)
    (root / "tests" / "test_sums.py").write_text(SUITE)
    mounts = dict.fromkeys((Path(sys.prefix), Path(sys.base_prefix), Path(sys.base_prefix).resolve()))
    return Workspace(
        root=root,
        python=Path(sys.prefix) / "bin" / "python",
        mounts=tuple(mount for mount in mounts if not mount.is_relative_to("/usr")),
        own_modules=("sums",),
    )


def usable(backend: Backend) -> Backend:
    """Return the back end, or skip loudly; in CI a missing sandbox is a failure."""
    require(backend.problem())
    return backend


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path / "repository")


@pytest.fixture(scope="session")
def tiny_workspace() -> Callable[[Path], Workspace]:
    """Make the tiny repository in a folder."""
    return make_workspace


@pytest.fixture(scope="module")
def bubblewrap() -> Backend:
    return usable(Bubblewrap())


@pytest.fixture(scope="module")
def bubblewrap_backend(bubblewrap: Backend) -> Backend:
    return bubblewrap


@pytest.fixture(scope="module")
def process_backend() -> Backend:
    return usable(PlainProcess())


@pytest.fixture(scope="session")
def engine() -> Iterator[str]:
    """The address of a Docker engine of our own."""
    yield from _engine(dockerd())


@pytest.fixture(scope="session")
def podman_engine() -> Iterator[str]:
    """The address of a Podman service of our own."""
    yield from _engine(podman())


def _engine(opening: AbstractContextManager[Engine]) -> Iterator[str]:
    try:
        with opening as running:
            yield running.host
    except NoEngine as reason:
        require(str(reason))


@pytest.fixture(scope="module")
def docker_backend(engine: str) -> Iterator[Backend]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", engine)
        patch.setenv("WORKBENCH_DOCKER_IMAGE", IMAGE)
        yield usable(Docker())


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def box(bubblewrap: Backend, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pool]:
    """One bubblewrap worker on the tiny repository for a whole file of tests."""
    workspace = make_workspace(tmp_path_factory.mktemp("shared") / "repository")
    async with pool(bubblewrap, workspace, workers=1, limits=LIMITS) as opened:
        yield opened
