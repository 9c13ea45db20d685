"""The write-ahead log beside a session belongs to one file: it is never written into another."""

from __future__ import annotations

import contextlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples.sessions import integrity_problem
from sweeps import ALL

from workbench.session import SessionError, SessionReader, SessionWriter, create, log
from workbench.session.moved_files import Fate

Until = Callable[..., object]

# Writes runs until it is killed; says each once it is in the session.
_WRITER = """
import sys
from pathlib import Path
from workbench.session import SessionWriter
writer = SessionWriter(Path(sys.argv[1]))
for number in range(int(sys.argv[2]), int(sys.argv[3])):
    writer.add_run(f"run-{number:04}", "document", {"filling": str(number) * 900})
    if number % int(sys.argv[4]) == 0:
        writer.checkpoint()
    print(number, flush=True)
sys.stdin.read()
"""


def killed_after(path: Path, first: int, last: int, checkpoint_every: int = 10**9) -> None:
    """Let another process write runs into a session and kill it, so that its log stays."""
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path), str(first), str(last), str(checkpoint_every)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) == last - 1:
                break
        process.send_signal(signal.SIGKILL)


def runs(path: Path) -> list[str]:
    with SessionReader(path) as reader:
        return [run.id for run in reader.runs()]


def named(first: int, last: int) -> list[str]:
    return [f"run-{number:04}" for number in range(first, last)]


def filled(session: Path) -> SessionWriter:
    """A writer that has written thirty runs; they are in its log."""
    writer = SessionWriter(session)
    for key in named(0, 30):
        writer.add_run(key, "document", {})
    return writer


def left_as_it_was_put(writer: SessionWriter, backup: bytes) -> None:
    """The writer notices that its file was overwritten, and writes nothing more into it, not even when it closes."""
    assert writer.fate() is Fate.OVERWRITTEN
    writer.close()
    assert writer.path.read_bytes() == backup


# Looks from outside: what this process has open of a file it shares with all its connections to it.
_VISITOR = """
import sqlite3, sys
from pathlib import Path
from workbench.session import SessionReader
with SessionReader(Path(sys.argv[1])) as reader:
    print(*(run.id for run in reader.runs()))
connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
print(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
"""


def visited(path: Path) -> list[str]:
    """The runs as another process sees them, in a file that is sound."""
    done = subprocess.run([sys.executable, "-c", _VISITOR, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found, problem = done.stdout.splitlines()
    assert problem == "ok"
    return sorted(found.split())


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "here" / "demo.session"
    create(path)
    return path


def test_the_log_of_a_killed_writer_is_its_own_and_is_brought_into_the_file_by_who_looks_next(session: Path) -> None:
    killed_after(session, 0, 40, checkpoint_every=7)
    assert log.log_size(session) > 0
    assert log.belongs(session)
    assert sorted(runs(session)) == named(0, 40)
    # Now a copy of that one file has everything.
    assert [item.name for item in session.parent.iterdir()] == ["demo.session"]
    assert sorted(runs(Path(shutil.copy(session, session.with_name("copy.session"))))) == named(0, 40)


@pytest.mark.parametrize("place", ["cp", "mv"])
def test_a_backup_that_is_put_back_is_not_touched_by_the_log_that_lies_there(session, tmp_path, place):
    killed_after(session, 0, 20)
    assert len(runs(session)) == 20
    backup = Path(shutil.copy(session, tmp_path / "backup.session"))
    content = backup.read_bytes()
    killed_after(session, 20, 60, checkpoint_every=9)
    if place == "cp":
        session.write_bytes(content)  # the same inode, other content
    else:
        session.unlink()
        shutil.copy(backup, session)
    assert log.log_size(session) > 0
    assert sorted(runs(session)) == named(0, 20)
    assert session.read_bytes() == content
    assert integrity_problem(session) is None
    assert [kept.name for kept in log.logs_set_aside(session)] == ["demo.session.foreign-log-1"]
    with SessionWriter(session) as writer:
        writer.add_run("another", "document", {})
    assert integrity_problem(session) is None
    assert len(runs(session)) == 21


@settings(max_examples=60 if ALL else 12, deadline=None)
@given(data=st.data())
def test_the_log_belongs_to_the_file_it_was_written_for_and_to_no_other_state_of_it(data: st.DataObject) -> None:
    """Any mix of writing, checkpoints with and without readers in the way, closing, and a backup taken at any point."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "demo.session"
        create(path)
        writer, number, backups = SessionWriter(path), 0, []
        readers: list[sqlite3.Connection] = []
        for action in data.draw(st.lists(st.sampled_from("wwwcbrRo"), min_size=3, max_size=25)):
            if action == "w":
                writer.add_run(f"run-{number}", "document", {"filling": str(number) * 400})
                number += 1
            elif action == "c":
                writer.checkpoint()
            elif action == "b":
                backups.append(path.read_bytes() if not readers else b"")
            elif action == "r":
                reader = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)
                reader.execute("BEGIN")
                reader.execute("SELECT count(*) FROM runs").fetchone()
                readers.append(reader)
            elif action == "R":
                for reader in readers:
                    reader.close()
                readers.clear()
            else:
                writer.close()
                writer = SessionWriter(path)
            assert writer.fate() is Fate.IN_PLACE
            assert not log.log_size(path) or log.belongs(path)
        with writer.transaction() as connection:
            known = [row[0] for row in connection.execute("SELECT id FROM runs ORDER BY id")]
        for place, earlier in enumerate(backups):
            if log.log_size(path) and earlier:
                other = Path(folder) / str(place) / "demo.session"
                other.parent.mkdir()
                other.write_bytes(earlier)
                shutil.copy(log.log_path(path), log.log_path(other))
                # A log that goes back to the backup brings it up to date; any other must not be taken for its own.
                if log.belongs(other):
                    assert sorted(runs(other)) == known
                    assert integrity_problem(other) is None
        for reader in readers:
            reader.close()
        writer.close()


def test_a_reader_in_the_middle_of_a_look_does_not_stop_the_writer(session: Path) -> None:
    with SessionWriter(session) as writer, SessionReader(session) as reader:
        writer.add_run("one", "document", {})
        reader.query("BEGIN")
        assert len(reader.runs()) == 1
        writer.add_run("two", "document", {})
        assert not writer.checkpoint()
        assert log.belongs(session)
        assert len(reader.runs()) == 1
        reader.query("COMMIT")
        assert writer.checkpoint()
        assert len(reader.runs()) == 2


def test_a_file_that_was_removed_is_saved_under_another_name(session: Path) -> None:
    writer = filled(session)
    session.unlink()
    assert writer.fate() is Fate.REMOVED
    kept = writer.rescue()
    assert kept == session.with_name("demo.rescued.session")
    assert sorted(runs(kept)) == named(0, 30)
    assert integrity_problem(kept) is None
    assert [item.name for item in session.parent.iterdir()] == [kept.name]


def test_a_file_that_was_moved_has_everything(session: Path) -> None:
    writer = filled(session)
    moved = session.rename(session.with_name("moved.session"))
    assert writer.fate() is Fate.MOVED
    assert writer.rescue() is None
    assert sorted(runs(moved)) == named(0, 30)
    assert [item.name for item in session.parent.iterdir()] == [moved.name]


def test_a_copy_as_old_as_the_file_is_noticed_with_the_first_write_after_it(session: Path, tmp_path: Path) -> None:
    """While the log is empty nothing tells such a copy from the file; one look then is not the last."""
    writer = SessionWriter(session)
    writer.add_run("first", "document", {})
    assert writer.checkpoint()
    copy = tmp_path / "copy"
    shutil.copy(session, copy)
    with contextlib.closing(sqlite3.connect(copy)) as other, other:
        other.execute("UPDATE log_identity SET base = 'earlier', generation = 'earlier'")
        other.execute("PRAGMA journal_mode = DELETE")
    content = copy.read_bytes()
    subprocess.run(["cp", str(copy), str(session)], check=True)
    assert writer.fate() is Fate.IN_PLACE
    writer.add_run("second", "document", {})
    left_as_it_was_put(writer, content)


def test_an_overwritten_file_that_somebody_looked_into_first_is_left_as_it_is(session: Path) -> None:
    """Who looks first moves the log aside, so that the writer finds none when it closes."""
    backup = session.read_bytes()
    writer = filled(session)
    assert writer.checkpoint()
    writer.add_run("more", "document", {})
    assert writer.fate() is Fate.IN_PLACE
    subprocess.run(["cp", "/dev/stdin", str(session)], input=backup, check=True)
    assert visited(session) == []
    left_as_it_was_put(writer, backup)


@pytest.mark.parametrize("others", [0, 3])
def test_a_log_that_is_deleted_under_a_writer_takes_nothing_with_it(session: Path, others: int) -> None:
    writer = filled(session)
    assert writer.fate() is Fate.IN_PLACE
    for file in (log.log_path(session), session.with_name("demo.session-shm")):
        file.unlink()
    if others:
        killed_after(session, 100, 100 + others)
    assert writer.fate() is Fate.WITHOUT_LOG
    kept = writer.rescue()
    assert (kept is None) == (not others)
    assert visited(kept or session) == named(0, 30)
    if others:
        assert visited(session) == named(100, 100 + others)


def test_a_log_where_nothing_may_be_written_is_read_with_the_file() -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = Path(folder) / "demo.session"
        create(session)
        killed_after(session, 0, 5)
        code = (
            "import os, sys; from pathlib import Path; from workbench.session import SessionReader\n"
            "if os.getuid() == 0: os.setgid(65534); os.setuid(65534)\n"
            "with SessionReader(Path(sys.argv[1])) as reader: print(len(reader.runs()))"
        )
        for item in session.parent.iterdir():
            item.chmod(0o444)
        session.parent.chmod(0o555)
        done = subprocess.run([sys.executable, "-c", code, str(session)], capture_output=True, text=True, check=False)
        session.parent.chmod(0o755)
        assert done.stdout == "5\n", done.stderr
        assert len(list(session.parent.iterdir())) == 3


@pytest.mark.parametrize("how", ["emptied", "overwritten", "cut"])
def test_what_an_overwritten_file_held_is_saved_beside_with_what_its_log_has_got_since(how: str, session: Path) -> None:
    backup = session.read_bytes()
    writer = filled(session)
    writer.remember()
    writer.add_run("more", "document", {})
    assert writer.checkpoint()
    writer.add_run("last", "document", {})
    put = {"emptied": b"", "overwritten": backup, "cut": backup[:50]}[how]
    with session.open("r+b") as file:  # as a shell's `>` and `cp` do: in place
        file.truncate(0)
        file.write(put)
    assert writer.fate() is Fate.OVERWRITTEN
    with contextlib.suppress(SessionError):  # who looks meanwhile takes nothing away
        runs(session)
    rescued, _ = writer.give_up()
    assert rescued == session.with_name("demo.rescued.session")
    assert sorted(runs(rescued)) == sorted([*named(0, 30), "more", "last"])
    assert integrity_problem(rescued) is None
    assert session.read_bytes() == put


# Writes, loses its log, and ends as an engine does.
_EMPTIED = """
import os, sys
from pathlib import Path
from workbench.session import SessionWriter, log
path = Path(sys.argv[1])
writer = SessionWriter(path)
writer.add_run("before", "document", {})
assert writer.checkpoint()
writer.add_run("after", "document", {})
print(writer.fate().name)
os.truncate(log.log_path(path), 0)
print(writer.fate().name, writer.fate().name, writer.checkpoint(), writer.rescue())
sys.stdout.flush()
os._exit(0)
"""


def test_a_log_that_was_emptied_is_noticed_and_does_not_damage_the_file(session: Path) -> None:
    said = subprocess.run([sys.executable, "-c", _EMPTIED, str(session)], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines() == ["IN_PLACE", "LOG_EMPTIED LOG_EMPTIED False None"]
    assert visited(session) == ["before"]


def test_checkpoints_of_several_writers_are_no_emptied_logs(session: Path) -> None:
    with SessionWriter(session) as one, SessionWriter(session) as other:
        for number in range(40):
            (one, other)[number % 2].add_run(f"run-{number:04}", "document", {})
            if number % 3 == 0:
                (one, other)[number % 2].checkpoint()
            assert (one.fate(), other.fate()) == (Fate.IN_PLACE, Fate.IN_PLACE)
    assert runs(session) == named(0, 40)
