"""The main part of an engine process: acquire the lease, execute the run, handle requests, and record how it ended."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
import signal
import threading
import time
import traceback
from pathlib import Path

from workbench.base import settings as settings_room
from workbench.base.errors import WorkbenchError
from workbench.base.settings import Settings
from workbench.engine import document
from workbench.orders.launching import require_turn
from workbench.orders.running import mark_cancelled
from workbench.plans.usage import candidate_plan
from workbench.session import SessionError, SessionLocked, SessionReader, SessionWriter
from workbench.session.lease import HEARTBEAT_SECONDS, Lease, RunHeld
from workbench.session.moved_files import Fate
from workbench.session.pending_work import is_imported
from workbench.session.rows import RunRow

_LISTEN_SECONDS = 0.1
#: Seconds between checkpoints of SQLite's write-ahead log.
_CHECKPOINT_SECONDS = 0.5
_INSIST_SECONDS = 2.0
_GIVE_UP_SECONDS = 30.0


class SessionRemoved(SessionError):
    """The session file was moved or replaced; further writes would be lost."""


async def _listen(writer: SessionWriter, held: Lease, work: asyncio.Task[None]) -> None:
    """Renew the lease, checkpoint the file, and cancel the work on request or if the file is missing or unusable."""
    try:
        await _monitor(writer, held, work)
    except SessionRemoved:
        raise
    except Exception:
        # Stop the work too: without this listener, it could not be cancelled and its lease would expire.
        work.cancel()
        await _force_cancel(work)
        raise


async def _monitor(writer: SessionWriter, held: Lease, work: asyncio.Task[None]) -> None:
    seen, renewed, checked = -1, time.monotonic(), time.monotonic()
    while not work.done():
        if work.cancelling():
            await _force_cancel(work)
            return
        fate = writer.fate()
        if fate is not Fate.IN_PLACE:
            work.cancel()
            await _force_cancel(work)
            raise SessionRemoved(_saved(writer, fate))
        # Another program may lock the file for longer than SQLite waits, so try again in the next round.
        with contextlib.suppress(SessionLocked):
            if time.monotonic() - checked > _CHECKPOINT_SECONDS:
                checked = time.monotonic()
                await asyncio.to_thread(writer.checkpoint)
            version = writer.data_version()
            if version != seen:
                if "cancel" in writer.take_requests(held.run_id):
                    work.cancel()
                seen = version
            if time.monotonic() - renewed > HEARTBEAT_SECONDS:
                writer.renew(held)
                renewed = time.monotonic()
        await asyncio.sleep(_LISTEN_SECONDS)


def _saved(writer: SessionWriter, fate: Fate) -> str:
    """Rescue the data of a session file that was moved or replaced, and return a message that says where it is."""
    name, go_on = writer.path.name, "Go on with: workbench resume"
    ended = "while it was written, so the run was ended"
    try:
        if fate is Fate.OVERWRITTEN:
            rescued, leftover = writer.give_up()
            where = "The file was left as it is."
            if rescued:
                where = f"The data that could be saved is in {rescued.name}. {go_on} {rescued}"
            elif leftover:
                where = (
                    f"The most recent records are in {leftover.name}, which can be read only with a copy of "
                    "the original file."
                )
            return f"{name} was overwritten {ended}. {where}"
        rescued = writer.rescue()
    except (WorkbenchError, OSError) as error:
        return f"{name} was {fate.value} {ended}. {error}"
    saved = f"everything recorded is in {rescued.name if rescued else 'the file'}"
    if fate is Fate.LOG_EMPTIED:
        lost = "the most recent records are lost"
        return f"The log beside {name} was emptied {ended}; {lost}. {go_on} {writer.path}"
    if fate is Fate.WITHOUT_LOG:
        return f"The log beside {name} was removed {ended}; {saved}. {go_on} {rescued or writer.path}"
    if rescued is None:
        return f"{name} was moved {ended}; resume it under its new name, which has all data."
    return f"{name} was removed or replaced {ended}; {saved}. {go_on} {rescued}"


def _exit_if_moved(writer: SessionWriter, error: WorkbenchError) -> None:
    """Exit the process if the work failed because the session file was moved or replaced."""
    if isinstance(error, SessionError) and (fate := writer.fate()) is not Fate.IN_PLACE:
        print(_saved(writer, fate), flush=True)
        os._exit(error.exit_code)


async def _force_cancel(work: asyncio.Task[None]) -> None:
    """Make sure that cancelled work ends.

    The cancellation is repeated in case a library swallows it; as a last resort, the process exits.
    """
    began = time.monotonic()
    while not work.done():
        await asyncio.wait([work], timeout=_INSIST_SECONDS)
        for task in asyncio.all_tasks() - {work, asyncio.current_task()}:
            # A task group cancels its members only once, so repeat the cancellation.
            if not work.done() and task.cancelling():
                task.cancel()
        if time.monotonic() - began > _GIVE_UP_SECONDS and not work.done():
            print(
                "The run was cancelled but did not end, so its engine was stopped; finished work is kept.", flush=True
            )
            os._exit(1)


async def _work(writer: SessionWriter, run: RunRow, settings: Settings) -> None:
    if run.kind == "document":
        await document.execute(writer, run, settings)
        return
    module = importlib.import_module(f"workbench.engine.{run.kind}")
    await module.execute(writer, run, settings)


async def _execute(writer: SessionWriter, run: RunRow, held: Lease) -> int:
    settings = settings_room.load()
    writer.set_run(
        run.id,
        state="running",
        started_at=run.started_at or time.time(),
        error=None,
        finished_at=None,
        queue_position=None,
        paused=0,
    )
    work: asyncio.Task[None] = asyncio.create_task(_work(writer, run, settings))
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
            # The session file has been unlinked, so releasing the lease would be lost too.
            print(gone, flush=True)
            os._exit(gone.exit_code)
        except WorkbenchError as error:
            _exit_if_moved(writer, error)
            print(error, flush=True)
            writer.set_run(run.id, state="failed", error=str(error), finished_at=time.time())
            return error.exit_code
        with writer.transaction() as connection:
            mark_cancelled(connection, run.id)
            writer.set_run(run.id, state="cancelled", finished_at=time.time())
        return 130
    except WorkbenchError as error:
        _exit_if_moved(writer, error)
        print(error, flush=True)
        if error.permanent and run.has_candidates:
            from workbench.engine.regenerate import RunRecord

            RunRecord(writer, run.id).mark_permanent_failure()
        writer.set_run(run.id, state="failed", error=str(error), finished_at=time.time())
        return error.exit_code
    except Exception as error:
        traceback.print_exc()
        sentence = f"A bug in the workbench ended the run: {type(error).__name__}: {error}."
        writer.set_run(run.id, state="failed", error=sentence, finished_at=time.time())
        return 1
    finally:
        listening.cancel()
        with contextlib.suppress(asyncio.CancelledError, WorkbenchError):
            await listening
    # RunRecord.finish marks a regeneration run as done, because the run may have been extended.
    writer.update("runs", {"id": run.id, "state": "running"}, {"state": "done", "finished_at": time.time()})
    return 0


def serve(session: Path, run_id: str) -> int:
    """Execute one run of a session in this process; its outcome is recorded in the run and printed.

    Return 0 if the run is done (trials may have failed), 130 if it was cancelled, and otherwise the error's exit code.
    """
    try:
        # Check again, because the run may have been moved or paused while this module was imported.
        require_turn(session, run_id)
        with SessionReader(session, surveyed=False) as reader:
            ordered = reader.run(run_id)
        if ordered is not None and is_imported(ordered):
            # This package is optional, so it is imported only when a run needs it.
            code: int = importlib.import_module("workbench.interop.formats.importing").execute(session, run_id)
            return code
        with SessionWriter(session) as writer:
            held, waited = _acquired(writer, run_id)
            writer.remember()
            try:
                with SessionReader(session) as reader:
                    run = reader.run(run_id)
                if run is None:
                    raise SessionError(f"{session.name} has no run {run_id!r}.")
                if run.state == "cancelled":
                    return 130
                if waited and run.state != "queued" and not _is_waited_for(run):
                    return 0
                return asyncio.run(_execute(writer, run, held))
            finally:
                with contextlib.suppress(WorkbenchError):
                    writer.release(held)
    except WorkbenchError as error:
        print(error, flush=True)
        return error.exit_code


def _acquired(writer: SessionWriter, run_id: str) -> tuple[Lease, bool]:
    """Acquire the lease on a run, waiting for a holder that may exit with work left; return it, and whether it waited.

    An engine that is failing or about to exit does not check the run for new asks again. Without the wait, asks added
    at that moment would not be executed by any engine. Raises RunHeld if another engine has processed all asks.
    """
    pause = threading.Event()
    waited = False
    with SessionReader(writer.path) as reader:
        while True:
            try:
                return writer.acquire(run_id), waited
            except RunHeld:
                if not _is_left_over(reader, run_id):
                    raise
            waited = True
            while reader.holder(run_id) is not None and _is_left_over(reader, run_id):
                pause.wait(_LISTEN_SECONDS)


def _is_left_over(reader: SessionReader, run_id: str) -> bool:
    """Return whether a run's engine may exit with work left: it is starting or ending, or has unprocessed asks."""
    run = reader.run(run_id)
    if run is None or run.state == "cancelled":
        return False
    return run.state != "running" or _is_waited_for(run)


def _is_waited_for(run: RunRow) -> bool:
    return run.has_candidates and bool(candidate_plan(run).waiting)
