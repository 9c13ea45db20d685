"""The session file: one file, safe against kills, honest about what it cannot read."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.session import (
    SessionCorrupt,
    SessionError,
    SessionMissing,
    SessionOfOtherVersion,
    SessionReader,
    SessionWriter,
    blobs,
    create,
    schema,
)
from workbench.session.lease import RunHeld
from workbench.session.rows import AccessedFileRow, StepRow


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "demo.session"
    create(path)
    return path


def step(number: int, trial: str = "t1", **values: object) -> StepRow:
    columns: dict[str, object] = dict.fromkeys(StepRow.__dataclass_fields__)
    columns |= {"trial_id": trial, "number": number, "kind": "tool", "action": "read_file", "target": "a.py"}
    columns |= {"observation_size": 0, "settings": "{}", "at": 1.0, **values}
    return StepRow(**columns)  # type: ignore[arg-type]


def with_trial(path: Path) -> SessionWriter:
    writer = SessionWriter(path)
    writer.add_run("r1", "document", {"cases": ["c"]})
    assert writer.add_trial("t1", "r1", 0, ("c", "Case"), "white", "local", 1)
    return writer


def test_a_closed_session_is_one_file(session: Path) -> None:
    writer = with_trial(session)
    reader = SessionReader(session)
    writer.add_step(step(1))
    assert session.with_name("demo.session-wal").exists()
    writer.close()
    reader.close()
    assert [item.name for item in session.parent.iterdir()] == ["demo.session"]


def test_a_text_is_stored_once(session: Path) -> None:
    text = "x = 1\n" * 200_000
    with SessionWriter(session) as writer:
        first = writer.blob(text)
        assert writer.checkpoint()
        size = session.stat().st_size
        assert writer.blob(text) == first
        with SessionReader(session) as reader:
            assert reader.query("SELECT count(*) FROM blobs") == [(1,)]
            assert reader.text(first) == text
            assert reader.text(first, limit=10) == text[:10]
            assert reader.size(first) == len(text)
        assert writer.checkpoint()
        assert session.stat().st_size == size


@given(st.text(st.characters()))
def test_every_text_comes_back(text: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(schema.TABLES)
    digest = blobs.put(connection, text)
    assert blobs.get(connection, digest).decode("utf-8", "surrogatepass") == text
    connection.close()


def test_steps_once_recorded_stay(session: Path) -> None:
    with with_trial(session) as writer:
        writer.add_step(step(1, seconds=1.5))
        writer.add_step(step(1, seconds=99.0))
        with SessionReader(session) as reader:
            assert [row.seconds for row in reader.steps("t1")] == [1.5]


def test_the_feed_names_what_changed_in_order(session: Path) -> None:
    with with_trial(session) as writer, SessionReader(session) as reader:
        before, version = reader.last_change(), reader.data_version()
        writer.add_step(step(1))
        writer.add_accessed_files([AccessedFileRow("t1", "a.py", "read", 1, 10, None)])
        writer.set_trial("t1", state="done")
        assert reader.data_version() != version
        changes = reader.changes(before)
        assert [(c.kind, c.item, c.part) for c in changes] == [
            ("step", "t1", "1"),
            ("accessed_file", "t1", "a.py"),
            ("trial", "t1", None),
        ]
        assert reader.changes(changes[-1].seq) == []


def test_what_was_committed_survives_kill_9(session: Path) -> None:
    code = (
        "import sys, os\nfrom pathlib import Path\nfrom workbench.session import SessionWriter\n"
        "w = SessionWriter(Path(sys.argv[1])); w.add_run('r1', 'document', {})\n"
        "for i in range(10**6):\n    w.add_trial(f't{i}', 'r1', i, ('c', 'C'), 'white', 'local', i + 1)\n"
        "    print(i, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(session)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = -1
    for line in process.stdout:
        said = int(line)
        if said >= 100:
            os.kill(process.pid, signal.SIGKILL)
            break
    process.wait()
    with SessionReader(session) as reader:
        assert len(reader.trials("r1")) > said  # all that it said was done, is there


def test_a_block_is_in_the_file_together_or_not_at_all(session: Path) -> None:
    with with_trial(session) as writer:
        with contextlib.suppress(ZeroDivisionError), writer.transaction():
            writer.add_step(step(1))
            writer.add_step(step(1 // 0))
        with SessionReader(session) as reader:
            assert reader.steps("t1") == []


def test_a_second_engine_is_refused_while_the_first_lives(session: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom workbench.session import SessionWriter\n"
        "w = SessionWriter(Path(sys.argv[1])); w.acquire('r1'); print('held', flush=True); sys.stdin.read()\n"
    )
    with with_trial(session) as writer:
        other = subprocess.Popen(
            [sys.executable, "-c", code, str(session)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(RunHeld, match=f"process {other.pid}"):
            writer.acquire("r1")
        other.kill()
        other.wait()
        assert writer.acquire("r1").pid == os.getpid()  # taken over from the dead at once


def test_a_lone_surrogate_in_a_column_is_no_crash(session: Path) -> None:
    with with_trial(session) as writer:
        writer.add_step(step(1, target="odd\ud800name", problem="\udfff"))
        with SessionReader(session) as reader:
            assert reader.steps("t1")[0].target == "odd?name"


def test_a_missing_session_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SessionMissing, match="There is no session"):
        SessionReader(tmp_path / "none.session")


@pytest.mark.parametrize("content", [b"", b"not a database at all" * 50, b"SQLite format 3\x00" + b"\x01" * 500])
def test_a_corrupt_file_is_one_sentence_and_unchanged(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.session"
    path.write_bytes(content)
    with pytest.raises(SessionCorrupt, match="not a workbench session"):
        SessionReader(path)
    assert path.read_bytes() == content
    assert [item.name for item in tmp_path.iterdir()] == ["bad.session"]


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.session"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (x)")
    connection.commit()
    connection.close()
    with pytest.raises(SessionCorrupt, match="not a workbench session"):
        SessionReader(path)


@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("maker", ["workbench 7.1.0", None])
def test_a_session_of_another_version_is_refused_unchanged(session: Path, step: int, maker: str | None) -> None:
    with contextlib.closing(sqlite3.connect(session, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA user_version = {schema.SCHEMA_VERSION + step}")
        connection.execute(
            "UPDATE meta SET value = ? WHERE key = 'created_by'" if maker else "DROP TABLE meta",
            (maker,) if maker else (),
        )
    before = session.read_bytes()
    for opened in (SessionReader, SessionWriter):
        with pytest.raises(
            SessionOfOtherVersion, match=f"made by {maker or 'an unknown release'} .* only that version can read it"
        ):
            opened(session)
    assert session.read_bytes() == before
    assert [item.name for item in session.parent.iterdir()] == ["demo.session"]


def test_create_never_overwrites(session: Path) -> None:
    with pytest.raises(SessionError, match="exists already"):
        create(session)


def test_a_read_only_folder_can_be_read(session: Path) -> None:
    with_trial(session).close()
    session.chmod(0o444)
    code = (
        "import os, sys; from pathlib import Path; from workbench.session import SessionReader\n"
        "os.access = lambda *a: False\n"
        "print(len(SessionReader(Path(sys.argv[1])).trials()))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(session)], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
    assert [item.name for item in session.parent.iterdir()] == ["demo.session"]
