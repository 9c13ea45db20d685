"""Runs that wait for one another: each engine waits for its run's turn, and nobody has to hand over."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from engine.author import Author
from engine.following import ended

from workbench.base.errors import UsageError
from workbench.orders import launching, running
from workbench.orders.launching import enqueue, move, pause, wait_for_turn
from workbench.orders.run import plan_document
from workbench.plans.plan import DocumentPlan
from workbench.results.runs import waiting_runs
from workbench.session import SessionReader, SessionWriter, create, engine_starts

Until = Callable[..., object]
pytestmark = pytest.mark.fresh_engines
FIRST, SECOND, THIRD = "run1", "run2", "run3"


class Waiters:
    """A session with a run under way and two in the queue, for which engines wait; this process stands for all of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        create(path)
        self.writer = SessionWriter(path)
        for run in (FIRST, SECOND, THIRD):
            self.writer.add_run(run, "document", {"cases": ["word_counter"]})
            engine_starts.started(run, os.getpid())
        self.held = self.writer.acquire(FIRST)
        self.writer.set_run(FIRST, state="running")
        enqueue(path, SECOND)
        enqueue(path, THIRD)
        self.came: list[tuple[str, bool]] = []
        self._threads = [threading.Thread(target=self._wait, args=(run,), daemon=True) for run in (SECOND, THIRD)]

    def _wait(self, run: str) -> None:
        self.came.append((run, wait_for_turn(self.path, run)))

    def begin(self) -> None:
        for thread in self._threads:
            thread.start()

    def end(self, run: str) -> None:
        self.writer.set_run(run, state="done", queue_position=None)
        if run == FIRST:
            self.writer.release(self.held)

    def order(self) -> list[str]:
        with SessionReader(self.path) as reader:
            return [run.id for run in waiting_runs(reader)]

    def close(self) -> None:
        for run in (FIRST, SECOND, THIRD):
            self.end(run)
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(10)
        self.writer.close()


@pytest.fixture
def queue(home: Path, tmp_path: Path) -> Iterator[Waiters]:
    made = Waiters(tmp_path / "queue.session")
    yield made
    made.close()


def test_each_waits_for_what_is_before_it(queue: Waiters, until: Until) -> None:
    queue.begin()
    assert queue.order() == [SECOND, THIRD]
    assert not queue.came, "another run is being executed"
    queue.end(FIRST)
    until(lambda: queue.came, 20, "the second run's turn")
    assert queue.came == [(SECOND, True)], "the third waits for the second, which is about to begin"
    queue.end(SECOND)
    until(lambda: len(queue.came) == 2, 20, "the third run's turn")


def test_a_run_is_moved_up(queue: Waiters, until: Until) -> None:
    move(queue.path, THIRD, -1)
    assert queue.order() == [THIRD, SECOND]
    move(queue.path, THIRD, -5)
    move(queue.path, SECOND, 9)
    assert queue.order() == [THIRD, SECOND], "as far as it goes"
    queue.begin()
    queue.end(FIRST)
    until(lambda: queue.came, 20, "the third run's turn")
    assert queue.came == [(THIRD, True)]
    with pytest.raises(UsageError, match="is not in the queue"):
        move(queue.path, FIRST, 1)


def test_a_paused_run_is_overtaken_and_a_cancelled_one_waits_no_more(queue: Waiters, until: Until) -> None:
    pause(queue.path, SECOND, True)
    queue.begin()
    queue.end(FIRST)
    until(lambda: queue.came, 20, "the third run's turn")
    assert queue.came == [(THIRD, True)]
    running.cancel(queue.path, SECOND)
    until(lambda: len(queue.came) == 2, 20, "the end of waiting")
    with SessionReader(queue.path) as reader:
        run = reader.run(SECOND)
        assert run is not None
        assert run.state == "cancelled"


def test_a_run_whose_engine_is_gone_holds_nobody_up(queue: Waiters, until: Until) -> None:
    notes = engine_starts._notes(SECOND)
    assert notes is not None
    notes.write_text("")
    assert queue.order() == [THIRD]
    queue.begin()
    queue.end(FIRST)
    until(lambda: (THIRD, True) in queue.came, 20, "the third run's turn")


def test_a_resume_leaves_alone_what_waits(queue: Waiters, monkeypatch: pytest.MonkeyPatch) -> None:
    launched: list[object] = []
    monkeypatch.setattr(launching, "launch", lambda *given: launched.append(given))
    assert running.resume(queue.path) == []
    assert not launched


def test_a_session_that_is_gone_is_waited_for_no_longer(queue: Waiters, until: Until) -> None:
    queue.begin()
    queue.path.unlink()
    until(lambda: len(queue.came) == 2, 20, "the end of waiting")
    assert not any(turn for _, turn in queue.came)


class _NotAsked(launching.WarmEngine):
    """A waiting engine that no run is handed to."""

    def serve(self, session: Path, run: str) -> None:
        raise AssertionError(f"{run} waits in the queue, and a warm engine would wait with it")


def test_what_waits_is_a_small_process_that_ends_with_its_run(queue: Waiters, until: Until) -> None:
    process = launching.launch(queue.path, SECOND, _NotAsked())
    opened = Path(f"/proc/{process.pid}/fd")
    until(
        lambda: process.poll() is not None or any(str(file.resolve()) == str(queue.path) for file in opened.iterdir()),
        20,
        "the engine's look at the session",
    )
    maps = Path(f"/proc/{process.pid}/maps").read_text()
    heavy = [name for name in ("pydantic_core", "tree_sitter", "_asyncio", "_ssl") if name in maps]
    assert not heavy, "LiteLLM and whatever else an engine needs is imported at its turn"
    running.cancel(queue.path, SECOND)
    queue.end(FIRST)
    assert process.wait(20) == 130


@pytest.mark.slow
def test_a_queued_run_begins_when_the_one_before_is_over(scripted, tmp_path, until):
    scripted.answer = author = Author(stop_at=2)
    session = tmp_path / "real.session"
    runs = []
    for case in ("word_counter", "password_generator"):
        runs.append(plan_document(session, DocumentPlan((case,), model="openai/scripted", judge="offline")))
        if len(runs) == 2:
            enqueue(session, runs[1])
        launching.launch(session, runs[-1])
        until(author.reached.is_set, 60, "the first run's third step")
    with SessionReader(session) as reader:
        assert [run.id for run in waiting_runs(reader)] == [runs[1]]
    author.go.set()
    assert [ended(session, run, until) for run in runs] == ["done", "done"]
    with SessionReader(session) as reader:
        first, second = (reader.run(run) for run in runs)
    assert first is not None
    assert second is not None
    assert second.queue_position is None
    assert (second.started_at or 0) >= (first.finished_at or 0)
