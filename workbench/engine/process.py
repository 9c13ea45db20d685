"""The life of an engine process: take the lease, execute the run, listen for requests, say how it ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
import traceback
from collections.abc import Callable, Coroutine
from pathlib import Path

from workbench import settings as settings_room
from workbench.engine import document
from workbench.engine.client import mark_cancelled
from workbench.errors import WorkbenchError
from workbench.session import SessionError, SessionReader, SessionWriter
from workbench.session.lease import HEARTBEAT_SECONDS, Lease
from workbench.session.rows import RunRow
from workbench.settings import Settings

_LISTEN_SECONDS = 0.1
_INSIST_SECONDS = 2.0
_GIVE_UP_SECONDS = 30.0


class SessionRemoved(SessionError):
    """The session's file is not where it was; what is written now would be lost."""


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


async def _listen(writer: SessionWriter, held: Lease, work: asyncio.Task[None]) -> None:
    """Renew the lease and cancel the work when somebody asks for it.

    Raises:
        SessionRemoved: The file was deleted, moved or replaced; the work was cancelled.
    """
    seen, renewed = -1, time.monotonic()
    opened = _identity(writer.path)
    while not work.done():
        if work.cancelling():
            await _insist(work)
            return
        if _identity(writer.path) != opened:
            work.cancel()
            await _insist(work)
            raise SessionRemoved(
                f"{writer.path.name} was removed, moved or replaced while it was written, so the run was ended; "
                f"put {writer.path} back and resume it, or start again."
            )
        version = writer.data_version()
        if version != seen:
            seen = version
            if "cancel" in writer.take_requests(held.run_id):
                work.cancel()
        if time.monotonic() - renewed > HEARTBEAT_SECONDS:
            renewed = time.monotonic()
            writer.renew(held)
        await asyncio.sleep(_LISTEN_SECONDS)


async def _insist(work: asyncio.Task[None]) -> None:
    """See that cancelled work ends: a library that swallows a cancellation gets further ones, then the process ends."""
    began = time.monotonic()
    while not work.done():
        await asyncio.wait([work], timeout=_INSIST_SECONDS)
        for task in asyncio.all_tasks() - {work, asyncio.current_task()}:
            # Those that were cancelled once and still run; a task group tells its members only once.
            if not work.done() and task.cancelling():
                task.cancel()
        if time.monotonic() - began > _GIVE_UP_SECONDS and not work.done():
            print("The run was stopped but did not end, so its engine was; what is finished is kept.", flush=True)
            os._exit(1)


def _executor(run: RunRow) -> Callable[[SessionWriter, RunRow, Settings], Coroutine[object, object, None]]:
    if run.kind == "document":
        return document.execute
    from workbench.engine.regenerate import execute

    return execute


async def _execute(writer: SessionWriter, run: RunRow, held: Lease) -> int:
    settings = settings_room.load()
    writer.set_run(run.id, state="running", started_at=run.started_at or time.time(), error=None, finished_at=None)
    work: asyncio.Task[None] = asyncio.create_task(_executor(run)(writer, run, settings))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, work.cancel)
    listening = asyncio.create_task(_listen(writer, held, work))
    try:
        await work
    except asyncio.CancelledError:
        try:
            await listening
        except SessionRemoved as gone:
            # Written into a file without a name, nothing would ever be found again.
            print(gone, flush=True)
            return gone.exit_code
        with writer.transaction() as connection:
            mark_cancelled(connection, run.id)
            writer.set_run(run.id, state="cancelled", finished_at=time.time())
        return 130
    except WorkbenchError as error:
        print(error, flush=True)
        writer.set_run(run.id, state="failed", error=str(error), finished_at=time.time())
        return error.exit_code
    except Exception as error:
        traceback.print_exc()
        sentence = f"A defect of the workbench ended the run: {type(error).__name__}: {error}."
        writer.set_run(run.id, state="failed", error=sentence, finished_at=time.time())
        return 1
    finally:
        listening.cancel()
        with contextlib.suppress(asyncio.CancelledError, WorkbenchError):
            await listening
    writer.set_run(run.id, state="done", finished_at=time.time())
    return 0


def serve(session: Path, run_id: str) -> int:
    """Execute one run of a session in this process.

    Returns:
        0 when the run is done (trials may have failed), 130 when it was cancelled, else 1; the reason is in the run
        and on standard output.
    """
    try:
        with SessionWriter(session) as writer:
            held = writer.acquire(run_id)
            try:
                with SessionReader(session) as reader:
                    run = reader.run(run_id)
                if run is None:
                    raise SessionError(f"{session.name} has no run {run_id!r}.")
                return asyncio.run(_execute(writer, run, held))
            finally:
                with contextlib.suppress(WorkbenchError):
                    writer.release(held)
    except WorkbenchError as error:
        print(error, flush=True)
        return error.exit_code
