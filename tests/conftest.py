"""Fixtures that more than one room uses."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

# With --import-mode=importlib the tests folder is no package; its support code is found from here.
sys.path.insert(0, str(Path(__file__).parent))

from fault_counts import fault_counts, pytest_terminal_summary
from loopback.server import LoopbackServer
from needing_sandboxes import needs_bubblewrap
from small_disks import SmallDisk, small_disk
from warm_engines import WarmProcess

from workbench.base.garbage_collection import THRESHOLDS, collect_rarely
from workbench.orders import launching

# How long an example takes says how busy the machine is, nothing of the code; the tests' own time limits stay.
hypothesis.settings.register_profile("workbench", deadline=None)
hypothesis.settings.load_profile("workbench")

# While the tests are collected a million objects are made and none is garbage.
gc.set_threshold(*THRESHOLDS)

__all__ = ["fault_counts", "needs_bubblewrap", "pytest_terminal_summary"]

#: Folders whose tests need what only a whole machine has.
_NEVER_SKIPPED = {"sandbox", "engine", "cluster", "faults"}


@pytest.fixture
def loopback_server() -> Iterator[LoopbackServer]:
    """An OpenAI-compatible server on loopback; see ``loopback/server.py`` for its faults."""
    with LoopbackServer() as server:
        yield server


@pytest.fixture(name="small_disk")
def small_disk_fixture(tmp_path: Path) -> Iterator[Callable[[int], SmallDisk]]:
    """Mount a real disk of so many kilobytes; see ``small_disks.py``."""
    with contextlib.ExitStack() as mounted:
        yield lambda kilobytes: mounted.enter_context(small_disk(tmp_path / f"disk-{kilobytes}", kilobytes))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders of its own for settings, sessions, caches and logs; no key of the machine is seen."""
    folder = tmp_path / "home"
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"WORKBENCH_{name}_DIR", str(folder / name.lower()))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_API_KEY", "WORKBENCH_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    return folder


@pytest.fixture
def one_cache(home: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """One cache for all tests of a process: pytest is installed into it once, a repository's environment built once."""
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "regeneration-cache"))


@pytest.fixture
def scripted(home: Path, loopback_server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> LoopbackServer:
    """The loopback server as the provider of ``openai/…`` models; a test sets its ``answer``."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("WORKBENCH_BASE_URL", loopback_server.base_url)
    return loopback_server


@pytest.fixture(scope="session")
def warm_process() -> Iterator[WarmProcess]:
    """The process of which this test process's engines are forks."""
    process = WarmProcess()
    yield process
    process.close()


@pytest.fixture(autouse=True)
def warm_engines(warm_process: WarmProcess, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines that this process starts come from a warm one, see ``warm_engines.py``; not in CI, and not if marked ``fresh_engines``."""
    if os.environ.get("CI") or not hasattr(os, "pidfd_open") or request.node.get_closest_marker("fresh_engines"):
        return
    monkeypatch.setattr(launching, "engine_process", warm_process.engine)


def until(condition: Callable[[], object], seconds: float = 60.0, what: str = "the condition") -> object:
    """Wait for a condition and return its value; fail loudly after ``seconds``.

    Whoever has waited long looks less often: a look into a session takes seven milliseconds of the processor that others wait for.
    """
    pause = threading.Event()
    began = time.monotonic()
    end = began + seconds
    while (now := time.monotonic()) < end:
        value = condition()
        if value:
            return value
        pause.wait(min(0.2, max(0.02, (now - began) / 10)))
    raise AssertionError(f"{what} did not come true within {seconds:g} s")


@pytest.fixture(name="until")
def until_fixture() -> Callable[..., object]:
    """The function ``until``."""
    return until


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Hand out first the files with what may take longest, so that no test process works alone at the end.

    Whole files: their fixtures would else be made twice.
    """
    longest: dict[Path, float] = {}
    for item in items:
        marker = item.get_closest_marker("timeout")
        longest[item.path] = max(longest.get(item.path, 0.0), float(marker.args[0]) if marker is not None else 0.0)
    items.sort(key=lambda item: longest[item.path], reverse=True)


def pytest_collection_finish() -> None:
    """Look for garbage as rarely as an open app does: what all tests have imported is none, and a look at it took a third of their time."""
    collect_rarely()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """In CI a test of a sandbox, an engine or a model that was skipped has failed: there, everything can be had."""
    outcome = yield
    report = outcome.get_result()
    needed = {"sandbox", "docker", "model", "network"} & {marker.name for marker in item.iter_markers()}
    needed |= _NEVER_SKIPPED.intersection(item.path.relative_to(Path(__file__).parent).parts)
    if report.skipped and needed and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, where {' and '.join(sorted(needed))} must be there: {report.longrepr}"
