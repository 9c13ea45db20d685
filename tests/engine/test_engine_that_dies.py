"""An engine that dies before it holds its run: waiting processes notice at once instead of waiting for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine.author import Author
from engine.tiny_repository import make_repository
from loopback.server import LoopbackServer

from workbench.orders import launching, running
from workbench.orders.run import plan_document
from workbench.plans.plan import DocumentPlan
from workbench.session import SessionReader, SessionWriter, engine_starts

Until = Callable[..., Any]
pytestmark = pytest.mark.fresh_engines


@pytest.fixture
def session(tmp_path: Path, scripted: LoopbackServer) -> Path:
    scripted.answer = Author()
    return tmp_path / "run.session"


def planned(session: Path) -> str:
    return plan_document(session, DocumentPlan(("word_counter",), model="openai/scripted", judge="offline"))


def seen_as(session: Path, run: str) -> str:
    with SessionReader(session) as reader:
        row = reader.run(run)
        assert row is not None
        return reader.run_state(row)


def engines_started(home: Path) -> list[int]:
    notes = (home / "state" / "engine").glob("*.started")
    words = [line.split() for note in notes for line in note.read_text().splitlines()]
    return [int(pid) for _, pid, _ in words if pid.isdecimal()]


def test_resume_notices_that_its_engine_died(session: Path, home: Path, until: Until) -> None:
    run = planned(session)
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", "resume", str(session)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    (pid,) = until(lambda: engines_started(home), 60, "the engine's start")
    os.kill(pid, signal.SIGKILL)
    began = time.monotonic()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert time.monotonic() - began < 15
    assert "The engine ended before it started the run: it was terminated by SIGKILL." in err
    assert f"To continue: workbench resume {session}" in err
    assert seen_as(session, run) == "interrupted"


@pytest.mark.parametrize(
    ("command", "after"),
    [(["run", "word_counter", "--model", "openai/scripted", "--judge", "offline"], 0.05), ([], 0.5)],
)
def test_a_start_that_is_killed_ends_the_command(session, home, until, command, after):
    if not command:
        command = ["regenerate", str(make_repository(session.parent / "small")), "--evaluator", "stub"]
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", *command, "--session", str(session), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    (pid,) = until(lambda: engines_started(home), 60, "the engine's start")
    process_mark = time.monotonic() + after
    until(lambda: time.monotonic() > process_mark, 5)
    os.kill(pid, signal.SIGKILL)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1, (out, err)
    assert "The engine ended" in out
    assert "Traceback" not in err


def test_the_last_words_of_a_dead_engine_are_its_own(session: Path, until: Until) -> None:
    run = planned(session)
    launching.engine_log(run).parent.mkdir(parents=True, exist_ok=True)
    launching.engine_log(run).write_text("What an earlier engine said.\n")
    process = launching.launch(session, run)
    process.kill()
    process.wait(30)
    assert "earlier" not in launching.end_of(run)


def test_a_run_that_nobody_took_up_is_seen_as_such(session: Path, until: Until) -> None:
    run = planned(session)
    # It was announced a moment ago: its engine may be about to start.
    assert seen_as(session, run) == "queued"
    process = launching.launch(session, run)
    process.kill()
    process.wait(30)
    assert until(lambda: seen_as(session, run) == "interrupted", 2)
    # A warm engine that dies is no other.
    warm = launching.WarmEngine()
    warm.start()
    with SessionWriter(session) as writer:
        writer.set_run(run, state="queued")
    process = launching.launch(session, run, warm)
    assert launching.engine_of(run) is process
    process.kill()
    process.wait(30)
    assert until(lambda: seen_as(session, run) == "interrupted", 2)
    warm.close()
    running.resume(session)
    assert until(lambda: seen_as(session, run) == "done", 90)


def test_an_engine_that_ended_is_no_zombie_although_nobody_asks_for_it(home: Path, until: Until) -> None:
    process = launching.engine_process(["--warm"], home / "log", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    os.kill(process.pid, signal.SIGKILL)
    assert until(lambda: not Path(f"/proc/{process.pid}").exists(), 10)
    assert process.poll() == -signal.SIGKILL


@pytest.mark.slow
def test_a_run_that_was_cancelled_before_its_engine_came_is_not_executed(session: Path, until: Until) -> None:
    run = planned(session)
    process = launching.launch(session, run)
    running.cancel(session, run)
    assert process.wait(60) == 130
    assert seen_as(session, run) == "cancelled"
    running.resume(session)
    assert until(lambda: seen_as(session, run) == "done", 90)


def test_a_note_that_is_no_note_is_nobody(home: Path) -> None:
    folder = home / "state" / "engine"
    folder.mkdir(parents=True)
    (folder / "abc.started").write_bytes(b"\xff\xfe nonsense\n")
    assert not engine_starts.is_coming("abc")
    assert not engine_starts.is_coming("../abc")
    (folder / "def.started").write_text("elsewhere 1 1\nthree words here\n\n")
    assert not engine_starts.is_coming("def")
    engine_starts.started("ghi", os.getpid())
    assert engine_starts.is_coming("ghi")
