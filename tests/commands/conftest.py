"""What tests of commands share."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine.tiny_repository import make_repository


@pytest.fixture
def repository(
    home: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> str:
    """A small repository with tests; its environment is built once for all tests."""
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "regeneration-cache"))
    return str(make_repository(tmp_path / "small-sums"))
