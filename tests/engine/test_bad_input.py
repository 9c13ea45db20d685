"""Failures around a run, with real parts: each gives one sentence, the rest continues, finished work is kept."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine import killing
from engine.following import ended, error
from engine.regenerating import MODEL, start
from engine.tiny_repository import BAD, GOOD, Writer, fenced
from loopback.server import LoopbackServer, Reply

from workbench.orders import launching, running
from workbench.session import SessionReader

Until = Callable[..., Any]
pytestmark = [pytest.mark.sandbox, pytest.mark.network, pytest.mark.usefixtures("needs_bubblewrap")]
ANSWERS = {name: [fenced(GOOD[name]), fenced(BAD[name])] for name in GOOD}


def one_sentence(text: str, *words: str) -> None:
    assert all(word in text for word in words), text
    assert text.count("\n") == 0
    assert "Traceback" not in text
    assert "defect" not in text


def verdicts(session: Path, run: str) -> dict[str, list[str]]:
    """The verdicts of every function's samples; which answer came first is the network's choice."""
    with SessionReader(session) as reader:
        rows = [row for row in reader.candidates(run) if row.evaluator == MODEL]
        return {
            task.qualified_name: sorted(row.verdict or row.state for row in rows if row.task_id == task.id)
            for task in reader.tasks(run)
        }


RIGHT = dict.fromkeys(GOOD, ["failed", "passed"])


# -- a disk that fills


@pytest.mark.slow
@pytest.mark.fresh_engines
def test_a_disk_that_fills(session, repository, scripted, until, small_disk):
    warm = start(session, repository, evaluator="reference")
    assert ended(session, warm, until) == "done", error(session, warm)
    rng = random.Random(1)

    def answer(body: dict[str, object]) -> str:
        # Long answers that do not compress: the disk is full after some of them.
        noise = "".join(rng.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=60_000))
        return f"{noise}\n\n" + writer(body)

    writer = Writer({name: [fenced(GOOD[name])] for name in GOOD})
    scripted.answer = answer
    # Room for all answers, the journal and its copy in the file; only what ``fill`` leaves is scarce.
    disk = small_disk(12_000)
    disk.fill(leave=1_200_000)
    full = disk.folder / "full.session"
    run = start(full, repository, samples=10)
    assert ended(full, run, until) in {"failed", "interrupted"}
    one_sentence(error(full, run), "The disk is full", "workbench resume")
    kept = killing.done(full)
    assert 0 < len(kept) < 36
    assert len(scripted.seen) < 30
    disk.empty()
    assert running.resume(full) == [run]
    assert ended(full, run, until) == "done", error(full, run)
    assert killing.done(full).items() >= kept.items()
    assert verdicts(full, run) == dict.fromkeys(GOOD, ["passed"] * 10)


# -- a model that stops answering in the middle


@pytest.mark.slow
def test_a_model_that_stops_answering_in_the_middle(session, repository, scripted, until, monkeypatch):
    monkeypatch.setenv("WORKBENCH_REQUEST_TIMEOUT", "1")
    writer = Writer({name: [fenced(body)] for name, body in GOOD.items()})
    silent = True

    def answer(body: dict[str, object]) -> str | Reply:
        if silent and writer.asked.total() >= 5:
            return Reply("too late", wait=10)
        return writer(body)

    scripted.answer = answer
    run = start(session, repository, samples=12)
    told = ended(session, run, until)
    with SessionReader(session) as reader:
        reasons = sorted((row.at or 0, row.verdict_reason) for row in reader.candidates(run) if not row.control)
    assert told == "failed", reasons
    one_sentence(error(session, run), "failed 12 times in a row", "1 s", "workbench resume")
    kept = {key: row for key, row in killing.done(session).items() if row[1] == "passed"}
    assert kept
    silent = False
    monkeypatch.setenv("WORKBENCH_REQUEST_TIMEOUT", "60")
    assert running.resume(session) == [run]
    assert ended(session, run, until) == "done", error(session, run)
    assert verdicts(session, run) == dict.fromkeys(GOOD, ["passed"] * 12)
    assert killing.done(session).items() >= kept.items()
    with SessionReader(session) as reader:
        answered = "SELECT max(n) FROM (SELECT count(*) n FROM calls WHERE answer_blob IS NOT NULL GROUP BY scope)"
        assert reader.query(answered) == [(1,)]


# -- a session that is removed or locked


@pytest.fixture
def halfway(session, repository, scripted, until):
    """A run that waits for its seventh answer: its id, its engine's process, what it has finished, and what lets it go on."""
    writer = Writer(ANSWERS, stop_at=7)
    scripted.answer = writer
    run = start(session, repository, samples=3)
    until(writer.reached.is_set, 90)
    until(lambda: len(killing.done(session)) >= 6 + 3, 60)
    with SessionReader(session) as reader:
        held = reader.holder(run)
    assert held is not None
    yield run, held.pid, killing.done(session), writer.go
    writer.go.set()


def gone(pid: int) -> bool:
    command = Path(f"/proc/{pid}/cmdline")
    return not command.exists() or not command.read_bytes()


def resumed(session: Path, run: str, kept: dict[str, tuple[Any, ...]], server: LoopbackServer, until: Until) -> None:
    """Resume a run and see that it ends, with everything that was finished before as it was."""
    server.answer = Writer({name: [fenced(body)] for name, body in GOOD.items()})
    assert running.resume(session) == [run]
    assert ended(session, run, until) == "done", error(session, run)
    assert killing.done(session).items() >= kept.items()


@pytest.mark.slow
@pytest.mark.fresh_engines
@pytest.mark.parametrize("how", ["removed", pytest.param("moved", marks=pytest.mark.nightly)])
def test_a_session_that_is_removed_or_moved_in_the_middle_is_saved_and_goes_on(session, halfway, scripted, until, how):
    run, pid, kept, go = halfway
    if how == "moved":
        saved, words = session.rename(session.with_name("moved.session")), ("under its new name",)
    else:
        saved = session.with_name("run.rescued.session")
        words = (f"workbench resume {saved}",)
        for file in session.parent.glob("run.session*"):
            file.unlink()
    until(lambda: gone(pid), 90, "its end")
    go.set()
    one_sentence(launching.last_words(run), "run.session", how, *words)
    assert [item for item in session.parent.glob("*.session*") if item != saved] == []
    resumed(saved, run, kept, scripted, until)
