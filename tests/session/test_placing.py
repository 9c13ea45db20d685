"""A session gets another place, goes to the trash and comes back, with what is in its log, and never under a run."""

from __future__ import annotations

import os
import signal
import sqlite3
from pathlib import Path

import pytest

from workbench.session import SessionError, SessionReader, SessionWriter, create
from workbench.session.file import SessionLocked
from workbench.session.session_folder import delete, deleted_sessions, move, restore


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "one.session"
    create(path)
    with SessionWriter(path) as writer:
        writer.add_run("run1", "document", {})
    return path


def files(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def test_what_is_still_in_the_log_goes_along(session: Path, tmp_path: Path) -> None:
    pid = os.fork()
    if pid == 0:  # a program that is killed leaves its log
        writer = SessionWriter(session)
        writer.add_run("run2", "document", {})
        signal.raise_signal(signal.SIGKILL)
    os.waitpid(pid, 0)
    assert Path(f"{session}-wal").stat().st_size
    move(session, tmp_path / "two.session")
    assert files(tmp_path) == ["two.session"]
    with SessionReader(tmp_path / "two.session") as reader:
        assert {run.id for run in reader.runs()} == {"run1", "run2"}


def test_never_under_a_run(session: Path, tmp_path: Path) -> None:
    with SessionWriter(session) as writer:
        held = writer.acquire("run1")
        with pytest.raises(SessionLocked, match="being written: cancel its run"):
            delete(session, tmp_path)
        writer.release(held)
    assert session.exists()
    delete(session, tmp_path)
    assert not session.exists()


def test_a_writer_that_comes_in_between_loses_nothing(session: Path, tmp_path: Path) -> None:
    with SessionWriter(session) as writer:
        move(session, tmp_path / "moved.session")
        writer.add_run("late", "document", {})
    with SessionReader(tmp_path / "moved.session") as reader:
        assert {run.id for run in reader.runs()} == {"run1", "late"}


def test_names_that_are_taken_are_numbered(session: Path, tmp_path: Path) -> None:
    first = delete(session, tmp_path)
    create(session)
    second = delete(session, tmp_path)
    assert [one.path.name for one in deleted_sessions(tmp_path)] == ["one-2.session", "one.session"]
    assert (first.was, second.was) == (session, session)
    assert restore(second) == session
    assert restore(first) == tmp_path / "one-2.session"
    assert files(tmp_path) == ["one-2.session", "one.session"]
    with pytest.raises(SessionError, match="no longer in the trash"):
        restore(first)


def test_a_file_that_is_no_session_can_be_deleted_and_comes_back(tmp_path: Path) -> None:
    broken = tmp_path / "broken.session"
    broken.write_bytes(b"SQLite format 3\0 and then nothing that makes sense" * 40)
    Path(f"{broken}-wal").write_bytes(b"what was in it")
    before = files(tmp_path), broken.read_bytes()
    restore(delete(broken, tmp_path))
    assert (files(tmp_path), broken.read_bytes()) == before
    with pytest.raises(SessionError, match="no longer exists"):
        move(tmp_path / "gone.session", tmp_path / "x.session")


def test_a_trash_that_somebody_filled_by_hand_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "trash"
    folder.mkdir()
    create(folder / "mine.session")
    (folder / "mine.session.deleted.json").write_text('{"was": 7, "at": "yesterday"')
    (found,) = deleted_sessions(tmp_path)
    assert found.was == tmp_path / "mine.session"
    assert restore(found) == tmp_path / "mine.session"
    with sqlite3.connect(tmp_path / "mine.session") as database:
        assert database.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    database.close()
