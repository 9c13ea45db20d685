"""A tiny repository in a real sandbox; the interpreter is the one that runs the tests, so nothing is installed."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
import pytest_asyncio
from container_engines import IMAGE, Engine, NoEngine, dockerd, podman
from needing_sandboxes import require
from sweeps import ALL

from workbench.sandbox import Backend, Limits, Pool, Workspace, pool
from workbench.sandbox.bubblewrap import Bubblewrap
from workbench.sandbox.docker import Docker
from workbench.sandbox.process import PlainProcess

SOURCE = '''"""Sums."""


def total(numbers):
    """Return the sum of the numbers; 0 for none."""
    result = 0
    for number in numbers:
        result += number
    return result
'''

SUITE = """import pytest

from sums import total


@pytest.mark.parametrize(("numbers", "expected"), [([], 0), ([1, 2], 3), ([-1, 1], 0)], ids=["none", "two", "zero"])
def test_total(numbers, expected):
    assert total(numbers) == expected


def test_large():
    assert total(range(1000)) == 499500
"""

LIMITS = Limits(seconds=20, memory_mb=256, processes=48, disk_mb=64, file_mb=16)


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


@pytest.fixture
async def box(bubblewrap: Backend, workspace: Workspace) -> AsyncIterator[Pool]:
    """One bubblewrap worker on the tiny repository."""
    async with pool(bubblewrap, workspace, workers=1, limits=LIMITS) as opened:
        yield opened


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
async def shared_box(bubblewrap: Backend, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pool]:
    """One bubblewrap worker for a whole file of tests."""
    workspace = make_workspace(tmp_path_factory.mktemp("shared") / "repository")
    async with pool(bubblewrap, workspace, workers=1, limits=LIMITS) as opened:
        yield opened


@pytest.fixture(params=["bubblewrap", "process"])
async def any_box(request: pytest.FixtureRequest, workspace: Workspace) -> AsyncIterator[Pool]:
    """One worker of each back end that needs no engine."""
    backend: Callable[[], Backend] = {"bubblewrap": Bubblewrap, "process": PlainProcess}[request.param]
    async with pool(usable(backend()), workspace, workers=1, limits=LIMITS) as opened:
        yield opened


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of the hostile candidates bubblewrap meets all; the other back ends a spread, each another one, or all in a sweep."""
    met: dict[str, int] = {}
    left_out = []
    for item in items:
        params = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        backend = params.get("arena")
        if (
            item.path.name != "test_hostile_candidates.py"
            or backend not in {"process", "docker"}
            or "name" not in params
        ):
            continue
        number = met[backend] = met.get(backend, -1) + 1
        if not ALL and number % 3 != (0 if backend == "process" else 1):
            left_out.append(item)
    if left_out:
        items[:] = [item for item in items if item not in set(left_out)]
        config.hook.pytest_deselected(items=left_out)
