"""A deleted log, a full disk, a limit of the file's size and one of open files: each has its own sentence, and its own cure."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.session import SessionError, SessionFull, SessionReader, SessionWriter, create
from workbench.session.file import translate

_WRITER = """
import resource, signal, sys
from pathlib import Path
from workbench.session import SessionError, SessionReader, SessionWriter
path = Path(sys.argv[1])
"""


def _ran(code: str, path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _WRITER + code, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _side(path: Path, which: str) -> Path:
    return path.with_name(f"{path.name}-{which}")


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "demo.session"
    create(path)
    return path


_VISIT = "\ntry:\n    with {} as opened:\n        {}\nexcept SessionError as error:\n    print(error)\n"


@pytest.mark.parametrize(
    ("visitor", "does"),
    [("SessionReader(path)", "opened.runs()"), ("SessionWriter(path)", "opened.add_run('two', 'document', {})")],
)
def test_a_log_deleted_under_a_writer_is_no_full_disk(session: Path, visitor: str, does: str) -> None:
    with SessionWriter(session) as writer:
        writer.add_run("one", "document", {})
        _side(session, "wal").unlink()
        said = _ran(_VISIT.format(visitor, does), session)
        assert said.startswith(
            "The log of demo.session (demo.session-wal) was deleted while a program writes the session"
        )
        assert "full" not in said
        # It goes on writing, and its last act brings everything into the file.
        writer.add_run("three", "document", {})
    with SessionReader(session) as reader:
        assert [run.id for run in reader.runs()] == ["one", "three"]


def test_a_full_disk_is_one_sentence_and_keeps_what_was_finished(small_disk) -> None:
    path = small_disk(1500).folder / "demo.session"
    create(path)
    finished = []

    def fill(writer: SessionWriter) -> None:
        for number in range(1000):
            writer.blob(os.urandom(20_000))
            writer.add_trial(f"t{number}", "one", number, ("c", "C"), "white", "local", number + 1)
            finished.append(f"t{number}")

    with SessionWriter(path) as writer:
        writer.add_run("one", "document", {})
        with pytest.raises(SessionFull) as caught:
            fill(writer)
        assert str(caught.value) == (
            f"The disk is full: demo.session could not be written. Everything finished so far is kept; free some space, "
            f"then run: workbench resume {path}"
        )
    with SessionReader(path) as reader:
        assert [trial.id for trial in reader.trials("one")] == finished != []


def test_a_disk_without_room_for_the_index_is_full(small_disk) -> None:
    disk = small_disk(1024)
    path = disk.folder / "demo.session"
    create(path)
    disk.fill()
    with pytest.raises(SessionFull, match=r"^The disk is full: demo.session could not be written\."):
        SessionWriter(path).add_run("one", "document", {})
    disk.empty()
    with SessionWriter(path) as writer:
        writer.add_run("one", "document", {})


def test_a_limit_of_the_files_size_is_no_full_disk(session: Path) -> None:
    said = _ran(
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "writer = SessionWriter(path); writer.add_run('one', 'document', {})\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))\n"
        "try:\n    for n in range(1000):\n        writer.blob(bytes(str(n), 'ascii') * 9999)\n"
        "except SessionError as error:\n    print(type(error).__name__, error)\n",
        session,
    )
    assert said.startswith("SessionFull demo.session cannot grow: files are limited to 300,000 bytes here (ulimit -f).")
    assert said.endswith(f"raise that limit, then run: workbench resume {session}\n")


def test_a_limit_of_open_files_is_no_missing_folder(session: Path) -> None:
    said = _ran(
        "resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))\nimport os\n"
        "try:\n    while True: os.open('/', 0)\nexcept OSError: pass\n"
        "try:\n    SessionReader(path)\nexcept SessionError as error:\n    print(error)\n",
        session,
    )
    assert said == (
        "demo.session cannot be opened: this program may open no more files; raise the limit (ulimit -n), then try again.\n"
    )


def test_a_disk_error_of_another_kind_is_not_called_a_full_disk(session: Path) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = "SQLITE_IOERR_FSYNC"  # type: ignore[misc]  # as SQLite sets it
    told = translate(error, session)
    assert type(told) is SessionError
    assert str(told) == (
        "The disk refused demo.session (fsync), although it is not full: a quota, the disk itself or its connection; "
        "finished work is kept."
    )
    session.unlink()
    assert "was moved or deleted while it was open" in str(translate(error, session))
