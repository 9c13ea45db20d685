"""Failures around a run, with real parts: each gives one sentence, the rest continues, finished work is kept."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from engine import killing
from engine.following import ended, error, state
from engine.regenerating import MODEL, start
from engine.tiny_repository import BAD, GOOD, Writer, fenced, make_repository
from loopback.server import LoopbackServer, Reply
from samples.sessions import integrity_problem

from workbench.base.errors import WorkbenchError
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


# -- a repository that fails to build


@pytest.mark.slow
@pytest.mark.parametrize(
    ("requirement", "words"),
    [
        ("six==99.0", ("could not be installed", "six")),
        ("broken @ file://{folder}/broken", ("could not be installed",)),
        ("not a requirement!", ("could not be installed",)),
    ],
    ids=["unsatisfiable", "broken-setup", "nonsense"],
)
def test_a_repository_that_fails_to_build(
    session: Path,
    tmp_path: Path,
    repository: Path,
    loopback_server: LoopbackServer,
    until: Until,
    requirement: str,
    words: tuple[str, ...],
) -> None:
    loopback_server.answer = Writer(ANSWERS)
    bad = make_repository(tmp_path / "bad")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "setup.py").write_text("raise RuntimeError('this setup is broken')\n")
    asked = requirement.replace("{folder}", str(tmp_path))
    (bad / "pyproject.toml").write_text(f'[project]\nname = "bad"\nversion = "1"\ndependencies = ["{asked}"]\n')
    failing, good = start(session, bad), start(session, repository, samples=2)
    assert ended(session, failing, until) == "failed"
    one_sentence(error(session, failing), *words)
    with SessionReader(session) as reader:
        assert {stage.name for stage in reader.stages(failing) if stage.state == "failed"} == {"environment"}
    # The other run of the same session goes on.
    assert ended(session, good, until) == "done", error(session, good)
    assert verdicts(session, good) == RIGHT


# -- a worker that dies in the middle


def children(pid: int, program: str) -> list[int]:
    """Descendants of a process that run ``program``."""
    found: list[int] = []
    parents: dict[int, list[int]] = {}
    names: dict[int, str] = {}
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            if folder.name.isdigit():
                text = (folder / "stat").read_text()
                names[int(folder.name)] = text[text.index("(") + 1 : text.rindex(")")]
                parents.setdefault(int(text.rpartition(")")[2].split()[1]), []).append(int(folder.name))
    waiting = [pid]
    while waiting:
        for child in parents.get(waiting.pop(), []):
            waiting.append(child)
            if names.get(child) == program:
                found.append(child)
    return found


@pytest.mark.slow
def test_a_worker_that_dies_in_the_middle(session: Path, tmp_path: Path, repository: Path, until: Until) -> None:
    # Each candidate takes its time, so that there is a middle to die in.
    slow = {name: f"import time\n    time.sleep(0.3)\n    {body}" for name, body in GOOD.items()}
    file = tmp_path / "answers.jsonl"
    killing.write_samples(file, [(f"sums.py::{name}", body.replace("\n    ", "\n")) for name, body in slow.items()], 30)
    run = start(session, repository, evaluator=f"samples:{file}")
    unbroken = session.with_name("unbroken.session")
    killed: list[int] = []
    for goal in (5, 12, 20):
        until(lambda: len(killing.done(session)) >= goal, 100, f"{goal} verdicts")  # noqa: B023
        with SessionReader(session) as reader:
            held = reader.holder(run)
        assert held is not None, error(session, run)
        workers = children(held.pid, "bwrap")
        assert workers
        os.kill(workers[0], signal.SIGKILL)
        killed.append(workers[0])
    assert ended(session, run, until) == "done", error(session, run)
    assert len(set(killed)) == 3
    other = start(unbroken, repository, evaluator=f"samples:{file}")
    assert ended(unbroken, other, until) == "done"
    assert killing.disagreements(killing.verdicts(unbroken), killing.verdicts(session)) == []


# -- a disk that fills


@contextlib.contextmanager
def small_disk(folder: Path, room_kb: int) -> Iterator[Callable[[], None]]:
    """A place for sessions that is soon full; gives what makes room again."""
    folder.mkdir()
    mounted = os.geteuid() == 0 and not subprocess.call(
        ["mount", "-t", "tmpfs", "-o", f"size={room_kb}k", "tmpfs", str(folder)], stderr=subprocess.DEVNULL
    )
    if mounted:
        try:
            yield lambda: subprocess.check_call(["mount", "-o", "remount,size=64m", str(folder)]) and None
        finally:
            subprocess.check_call(["umount", "-l", str(folder)])
        return
    # Without root: no file may grow beyond this, which an engine inherits.
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room_kb * 1024, before[1]))
    try:
        yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, before)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.slow
def test_a_disk_that_fills(
    session: Path, tmp_path: Path, repository: Path, loopback_server: LoopbackServer, until: Until
) -> None:
    warm = start(session, repository, evaluator="reference")
    assert ended(session, warm, until) == "done", error(session, warm)
    rng = random.Random(1)

    def answer(body: dict[str, object]) -> str:
        # Long answers that do not compress: the disk is full after some of them.
        noise = "".join(rng.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=60_000))
        return f"{noise}\n\n" + writer(body)

    writer = Writer({name: [fenced(GOOD[name])] for name in GOOD})
    loopback_server.answer = answer
    with small_disk(tmp_path / "disk", 1200) as make_room:
        full = tmp_path / "disk" / "full.session"
        run = start(full, repository, samples=10)
        assert ended(full, run, until) in {"failed", "interrupted"}
        one_sentence(error(full, run), "The disk is full", "workbench resume")
        kept = killing.done(full)
        assert 0 < len(kept) < 36
        asked = len(loopback_server.seen)
        # As long as there is no room, it is said again and nothing is lost.
        try:
            running.resume(full, run)
        except WorkbenchError as problem:
            one_sentence(str(problem), "disk is full")
        else:
            assert ended(full, run, until) in {"failed", "interrupted"}
        assert killing.done(full).items() >= kept.items()
        make_room()
        assert running.resume(full) == [run]
        assert ended(full, run, until) == "done", error(full, run)
        assert killing.done(full).items() >= kept.items()
        assert verdicts(full, run) == dict.fromkeys(GOOD, ["passed"] * 10)
        assert asked < 30


# -- a model that stops answering in the middle


@pytest.mark.slow
def test_a_model_that_stops_answering_in_the_middle(
    session: Path, repository: Path, loopback_server: LoopbackServer, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_REQUEST_TIMEOUT", "6")
    writer = Writer({name: [fenced(body)] for name, body in GOOD.items()})
    silent = True

    def answer(body: dict[str, object]) -> str | Reply:
        if silent and writer.asked.total() >= 5:
            return Reply("too late", wait=60)
        return writer(body)

    loopback_server.answer = answer
    run = start(session, repository, samples=12)
    told = ended(session, run, until)
    with SessionReader(session) as reader:
        reasons = sorted((row.at or 0, row.verdict_reason) for row in reader.candidates(run) if not row.control)
    assert told == "failed", reasons
    one_sentence(error(session, run), "failed 12 times in a row", "6 s", "workbench resume")
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
def halfway(
    session: Path, repository: Path, loopback_server: LoopbackServer, until: Until
) -> Iterator[tuple[str, int, dict[str, tuple[Any, ...]], threading.Event]]:
    """A run that waits for its seventh answer: its id, its engine's process, what it has finished, and what lets it go on."""
    writer = Writer(ANSWERS, stop_at=7)
    loopback_server.answer = writer
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


def test_a_session_that_is_removed_in_the_middle_is_saved_and_goes_on(
    session: Path, halfway: Any, loopback_server: LoopbackServer, until: Until
) -> None:
    run, pid, kept, go = halfway
    for file in session.parent.glob("run.session*"):
        file.unlink()
    until(lambda: gone(pid), 90, "its end")
    go.set()
    saved = session.with_name("run.rescued.session")
    one_sentence(launching.last_words(run), "run.session", "removed", f"workbench resume {saved}")
    assert [item.name for item in session.parent.glob("run.*")] == [saved.name]
    resumed(saved, run, kept, loopback_server, until)


def test_a_session_that_is_moved_in_the_middle_has_everything_under_its_new_name(
    session: Path, halfway: Any, loopback_server: LoopbackServer, until: Until
) -> None:
    run, pid, kept, go = halfway
    moved = session.rename(session.with_name("moved.session"))
    until(lambda: gone(pid), 90, "its end")
    go.set()
    one_sentence(launching.last_words(run), "run.session was moved", "under its new name")
    assert not list(session.parent.glob("run.*"))
    resumed(moved, run, kept, loopback_server, until)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["renamed over it", "copied into it"])
def test_a_backup_put_in_the_place_of_a_session_that_is_written(
    session: Path, halfway: Any, loopback_server: LoopbackServer, until: Until, how: str
) -> None:
    """The backup stays as it is, whatever the engine does with its log, and can be gone on with."""
    run, pid, kept, go = halfway
    with SessionReader(session) as reader:
        other = sqlite3.connect(session.with_name("backup"))
        reader._connection.backup(other)
        other.execute("DELETE FROM candidates WHERE control = 0")
        other.execute("UPDATE log_identity SET base = 'earlier', generation = 'earlier'")
        other.commit()
        other.close()
    content = session.with_name("backup").read_bytes()
    if how == "renamed over it":
        session.with_name("backup").rename(session)
    else:
        # From another process: a file that this one opens and closes takes SQLite's locks away with it.
        killing.copied_over(session.with_name("backup"), session, [pid])
    until(lambda: gone(pid), 90, "its end")
    go.set()
    one_sentence(launching.last_words(run), "run.session was", "while it was written", "so the run was ended")
    assert session.read_bytes() == content
    assert integrity_problem(session) is None
    assert len(killing.done(session)) == 6
    rescued = session.with_name("run.rescued.session")
    if how == "renamed over it":
        assert kept.items() <= killing.done(rescued).items()
    resumed(rescued, run, killing.done(rescued), loopback_server, until)
    controls = killing.done(session)
    resumed(session, run, controls, loopback_server, until)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_session_that_another_program_locks(
    session: Path, repository: Path, loopback_server: LoopbackServer, until: Until
) -> None:
    writer = Writer(ANSWERS, stop_at=4)
    loopback_server.answer = writer
    run = start(session, repository, samples=2)
    until(writer.reached.is_set, 90)
    until(lambda: len(killing.done(session)) >= 6, 60)
    kept = killing.done(session)
    with SessionReader(session) as reader:
        held = reader.holder(run)
    assert held is not None
    other = sqlite3.connect(session, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    writer.go.set()
    writer.stop_at = 0
    until(lambda: state(session, run) == "interrupted", 120, "the engine's end")
    one_sentence(error(session, run), "locked by another program")
    other.execute("ROLLBACK")
    other.close()
    assert killing.done(session).items() >= kept.items()
    assert running.resume(session) == [run]
    assert ended(session, run, until) == "done", error(session, run)
    # Answers that could not be written are asked for again, and this writer gives the next one then.
    assert {name: len(found) for name, found in verdicts(session, run).items()} == dict.fromkeys(RIGHT, 2)
    assert killing.done(session).items() >= kept.items()
