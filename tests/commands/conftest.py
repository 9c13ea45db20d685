"""What tests of commands share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine.tiny_repository import make_repository

sys.path.insert(0, str(Path(__file__).parent.parent / "app"))

from regenerated import Recorder


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    """A session with a regeneration run, to record into."""
    made = Recorder(tmp_path / "demo.session")
    made.run()
    yield made
    made.close()


@pytest.fixture
def repository(one_cache: None, tmp_path: Path) -> str:
    """A small repository with tests; its environment is built once for all tests."""
    return str(make_repository(tmp_path / "small-sums"))
