"""What tests of improving docstrings share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from engine.tiny_repository import make_repository
from loopback.server import LoopbackServer

sys.path.insert(0, str(Path(__file__).parent))

from thin_docs import SOURCE, SUITE


@pytest.fixture
def thin(one_cache: None, scripted: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository; commands run in an empty folder beside it."""
    monkeypatch.setenv("WORKBENCH_MAX_TRIES", "1")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return make_repository(tmp_path / "small-sums", SOURCE, SUITE)
