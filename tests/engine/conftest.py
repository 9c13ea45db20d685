"""Fixtures that several of the engine's tests use."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine.judging import Court
from engine.tiny_repository import make_repository
from loopback.server import LoopbackServer


@pytest.fixture
def court(scripted: LoopbackServer) -> Court:
    """A server that answers as the author of a README and as its judge."""
    scripted.answer = made = Court()
    return made


@pytest.fixture
def session(one_cache: None, tmp_path: Path, scripted: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a session of regenerations will be; its engines ask the scripted server, each question once."""
    monkeypatch.setenv("WORKBENCH_MAX_TRIES", "1")
    return tmp_path / "run.session"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The tiny repository."""
    return make_repository(tmp_path / "small-sums")
