"""The tiny repository and one bubblewrap worker, for the traps that only a real sandbox can show."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sandbox.conftest import LIMITS, make_workspace, usable

from workbench.sandbox import Backend, Pool, Workspace, pool
from workbench.sandbox.bubblewrap import Bubblewrap


@pytest.fixture(scope="module")
def bubblewrap() -> Backend:
    return usable(Bubblewrap())


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path / "repository")


@pytest.fixture
async def box(bubblewrap: Backend, workspace: Workspace) -> AsyncIterator[Pool]:
    async with pool(bubblewrap, workspace, workers=1, limits=LIMITS) as opened:
        yield opened
