"""A run that was stopped ends, whatever a library does with the cancellation."""

from __future__ import annotations

import asyncio
import sqlite3
import threading

import pytest

from workbench.engine import process
from workbench.session import SessionFull, SessionLocked, SessionWriter, create, file


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
    await asyncio.wait_for(process._force_cancel(work), 10)
    assert work.cancelled()


async def test_what_never_ends_takes_its_engine_along(monkeypatch, capsys):
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
        await asyncio.wait_for(process._force_cancel(work), 10)
    assert "finished work is kept" in capsys.readouterr().out
    while not work.done():
        work.cancel()
        await asyncio.sleep(0)


async def test_a_cancel_is_heard_although_another_program_held_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(file, "BUSY_MS", 20)
    session = tmp_path / "busy.session"
    create(session)
    with SessionWriter(session) as writer, SessionWriter(session) as other:
        writer.add_run("run", "document", {})
        held = writer.acquire("run")
        other.request("run", "cancel")
        holding = sqlite3.connect(session, isolation_level=None)
        holding.execute("BEGIN IMMEDIATE")
        tried = threading.Event()
        take = writer.take_requests

        def taking(run: str) -> list[str]:
            try:
                return take(run)
            except SessionLocked:
                tried.set()
                raise

        monkeypatch.setattr(writer, "take_requests", taking)
        work = asyncio.create_task(asyncio.sleep(1000))
        listening = asyncio.create_task(process._listen(writer, held, work))
        async with asyncio.timeout(30):
            while not tried.is_set():
                await asyncio.sleep(0.01)
            assert not work.done()
            holding.execute("ROLLBACK")
            holding.close()
            await listening
        assert work.cancelled()


async def test_work_that_nobody_can_listen_for_any_more_is_ended(tmp_path, monkeypatch):
    session = tmp_path / "full.session"
    create(session)
    with SessionWriter(session) as writer:
        writer.add_run("run", "document", {})
        held = writer.acquire("run")

        def full() -> int:
            raise SessionFull("The disk is full.")

        monkeypatch.setattr(writer, "data_version", full)
        work = asyncio.create_task(asyncio.sleep(1000))
        async with asyncio.timeout(30):
            with pytest.raises(SessionFull):
                await process._listen(writer, held, work)
        assert work.cancelled()
