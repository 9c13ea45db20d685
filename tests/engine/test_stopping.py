"""A run that was stopped ends, whatever a library does with the cancellation."""

from __future__ import annotations

import asyncio

import pytest

from workbench.engine import process


async def swallow(times: int) -> None:
    for _ in range(times):
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            continue


async def test_a_swallowed_cancellation_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_INSIST_SECONDS", 0.05)

    async def run() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(swallow(3))
            group.create_task(asyncio.sleep(1000))

    work = asyncio.create_task(run())
    await asyncio.sleep(0.01)
    work.cancel()
    await asyncio.wait_for(process._insist(work), 10)
    assert work.cancelled()


async def test_what_never_ends_takes_its_engine_along(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Left(Exception):
        pass

    def leave(code: int) -> None:
        raise Left(code)

    monkeypatch.setattr(process, "_INSIST_SECONDS", 0.02)
    monkeypatch.setattr(process, "_GIVE_UP_SECONDS", 0.1)
    monkeypatch.setattr(process.os, "_exit", leave)
    work = asyncio.create_task(swallow(50))
    await asyncio.sleep(0.01)
    work.cancel()
    with pytest.raises(Left):
        await asyncio.wait_for(process._insist(work), 10)
    assert "what is finished is kept" in capsys.readouterr().out
    while not work.done():
        work.cancel()
        await asyncio.sleep(0)
