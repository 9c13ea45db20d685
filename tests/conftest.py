"""Fixtures that more than one room uses."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# With --import-mode=importlib the tests folder is no package; its support code is found from here.
sys.path.insert(0, str(Path(__file__).parent))

from loopback.server import LoopbackServer


@pytest.fixture
def loopback_server() -> Iterator[LoopbackServer]:
    """An OpenAI-compatible server on loopback; see ``loopback/server.py`` for its faults."""
    with LoopbackServer() as server:
        yield server
