"""Made-up repositories whose tasks are built in a real sandbox, with the interpreter that runs the tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tasks.made_up import environment_of, write

from workbench.regeneration.building import build_tasks
from workbench.regeneration.suite import Rules
from workbench.regeneration.tasks import TaskSet
from workbench.sandbox import Backend, Limits
from workbench.sandbox.bubblewrap import Bubblewrap

#: Short enough for tests that hang on purpose, long enough for a busy machine.
RULES = Rules(suite_seconds=60, import_seconds=60, hang_seconds=30)

Build = Callable[..., Awaitable[TaskSet]]
Make = Callable[[Mapping[str, str]], Path]


@pytest.fixture(scope="session")
def bubblewrap(needs_bubblewrap: None) -> Backend:
    return Bubblewrap()


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Write a repository: path -> text."""

    return lambda files: write(tmp_path / "repository", files)


@pytest.fixture
def build(bubblewrap: Backend) -> Build:
    """Build the tasks of a folder; further arguments go to ``build_tasks``."""

    async def run(root: Path, **more: Any) -> TaskSet:
        more = {"rules": RULES, "limits": Limits(seconds=30), **more}
        return await build_tasks(root, environment_of(root), bubblewrap, **more)

    return run
