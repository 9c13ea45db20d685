"""The engine hears of a kill for memory as an event, now and then after the container's last word: it is waited for, not forever."""

from __future__ import annotations

import socket
from types import SimpleNamespace

import pytest

from workbench.sandbox.backend import Layout
from workbench.sandbox.docker import DockerChannel


class Container:
    """A container as the engine tells of it: killed for memory from the n-th look on, 0 for never."""

    def __init__(self, told_at: int) -> None:
        self.told_at, self.looks = told_at, 0
        self.attrs: dict[str, dict[str, bool]] = {}

    def reload(self) -> None:
        self.looks += 1
        self.attrs = {"State": {"OOMKilled": 0 < self.told_at <= self.looks}}

    def remove(self, force: bool) -> None:
        assert force


@pytest.mark.parametrize(
    ("told_at", "patience", "killed"),
    [(1, 0.0, True), (3, 20.0, True), (3, 0.0, False), (0, 0.2, False)],
    ids=["at-once", "third-look", "no-patience", "never"],
)
async def test_a_kill_for_memory_is_waited_for(told_at: int, patience: float, killed: bool) -> None:
    container = Container(told_at)
    ours, engines = socket.socketpair()
    channel = DockerChannel(SimpleNamespace(close=lambda: None), container, Layout(), ours)
    try:
        assert await channel.memory_killed(patience) is killed
    finally:
        engines.close()
        await channel.close()
    assert container.looks == 1 if patience == 0 else container.looks >= 2
    assert not killed or container.looks == told_at


async def test_an_engine_that_is_gone_tells_of_no_kill() -> None:
    class Gone(Container):
        def reload(self) -> None:
            raise ConnectionError("the engine is gone")

    ours, engines = socket.socketpair()
    channel = DockerChannel(SimpleNamespace(close=lambda: None), Gone(1), Layout(), ours)
    try:
        assert await channel.memory_killed(20.0) is False
    finally:
        engines.close()
        await channel.close()
