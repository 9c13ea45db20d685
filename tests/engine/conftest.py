"""Fixtures that several of the engine's tests use."""

from __future__ import annotations

import pytest
from engine.judging import Court
from loopback.server import LoopbackServer


@pytest.fixture
def court(scripted: LoopbackServer) -> Court:
    """A server that answers as the author of a README and as its judge."""
    scripted.answer = made = Court()
    return made
