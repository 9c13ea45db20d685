"""Fixtures of the cluster's tests: one engine cache, one worker cache, one cluster for tests that do not break it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster.serving import Served, alive, serving


@pytest.fixture(scope="session")
def engine_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.getbasetemp() / "regeneration-cache"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def worker_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("worker-cache")


@pytest.fixture(scope="session")
def cluster(needs_bubblewrap: None, worker_cache: Path) -> Iterator[Served]:
    with serving(worker_cache, workers=2) as served:
        yield served
        # Ctrl+c ends every process.
        assert served.interrupt() == 0
        assert not any(map(alive, served.pids))


@pytest.fixture
def folders(home: Path, engine_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(engine_cache))
    return home


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Engines are processes: a cluster's client has threads and an event loop that outlive a run."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.fresh_engines)
