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
from inline_engine import inline_engines
from loopback.server import LoopbackServer
from needing_sandboxes import needs_bubblewrap
from scripted_model import ScriptedModel
from small_disks import SmallDisk, small_disk

from workbench.base.garbage_collection import THRESHOLDS, collect_rarely
from workbench.models import provider

# The duration of an example depends on the load of the machine; the time limits of the tests still apply.
hypothesis.settings.register_profile("workbench", deadline=None)
hypothesis.settings.load_profile("workbench")

# Collecting the tests creates a million objects, none of which is garbage.
gc.set_threshold(*THRESHOLDS)

__all__ = ["fault_counts", "inline_engines", "needs_bubblewrap", "pytest_terminal_summary"]

#: Folders whose tests may not be skipped in CI.
_NEVER_SKIPPED = {"sandbox", "engine", "cluster", "faults"}


@pytest.fixture
def loopback_server() -> Iterator[LoopbackServer]:
    """An OpenAI-compatible server on loopback; see ``loopback/server.py`` for its faults."""
    with LoopbackServer() as server:
        yield server


@pytest.fixture(name="small_disk")
def small_disk_fixture(tmp_path: Path) -> Iterator[Callable[[int], SmallDisk]]:
    """Mount a file system of the given size in kilobytes; see ``small_disks.py``."""
    with contextlib.ExitStack() as mounted:
        yield lambda kilobytes: mounted.enter_context(small_disk(tmp_path / f"disk-{kilobytes}", kilobytes))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Temporary folders for settings, sessions, caches and logs; the keys of the machine are removed from the environment."""
    folder = tmp_path / "home"
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"WORKBENCH_{name}_DIR", str(folder / name.lower()))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_API_KEY", "WORKBENCH_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    return folder


@pytest.fixture
def one_cache(home: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """One cache for all tests of a process: environments are built once."""
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "regeneration-cache"))


@pytest.fixture
def scripted(home, request, monkeypatch):
    """The provider of ``openai/…`` models; a test sets its ``answer``. A server on loopback for ``fresh_engines``, else a function."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    if request.node.get_closest_marker("fresh_engines"):
        with LoopbackServer() as server:
            monkeypatch.setenv("WORKBENCH_BASE_URL", server.base_url)
            yield server
        return
    model = ScriptedModel()
    monkeypatch.setenv("WORKBENCH_BASE_URL", model.base_url)
    monkeypatch.setattr(provider, "_litellm", model)
    provider._takes.cache_clear()
    yield model
    provider._takes.cache_clear()


def until(condition: Callable[[], object], seconds: float = 60.0, what: str = "the condition") -> object:
    """Wait for a condition and return its value; AssertionError after ``seconds``.

    The longer it waits, the less often it checks: reading a session takes seven milliseconds of processor time.
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
    """Start with the files that have the longest timeouts, so that no worker is left alone with them at the end.

    Files stay whole: otherwise their fixtures would be built in two workers.
    """
    longest: dict[Path, float] = {}
    for item in items:
        marker = item.get_closest_marker("timeout")
        longest[item.path] = max(longest.get(item.path, 0.0), float(marker.args[0]) if marker is not None else 0.0)
    items.sort(key=lambda item: longest[item.path], reverse=True)


def pytest_collection_finish() -> None:
    """Collect garbage as rarely as an open app does: with all imports of the tests, collecting took a third of their time."""
    collect_rarely()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Fail tests of sandboxes, engines and models that are skipped in CI, where everything is installed."""
    outcome = yield
    report = outcome.get_result()
    needed = {"sandbox", "docker", "model", "network"} & {marker.name for marker in item.iter_markers()}
    needed |= _NEVER_SKIPPED.intersection(item.path.relative_to(Path(__file__).parent).parts)
    if report.skipped and needed and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, where {' and '.join(sorted(needed))} must be there: {report.longrepr}"
