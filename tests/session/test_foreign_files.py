"""Session files that others made: what is no part of a session's schema is refused, and no look at one is without an end."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.cli import main
from workbench.session import SessionError, SessionReader, SessionWriter, blobs, create
from workbench.session.row_reader import TextDamaged

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT"


def changed(path: Path, script: str) -> Path:
    """Return a session that somebody has worked on with SQLite."""
    if not path.exists():
        create(path)
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    return path


HOSTILE = {
    "view-for-a-table": f"DROP TABLE annotations; CREATE VIEW annotations AS {ENDLESS} x AS id, 'i' AS item FROM n;",
    "view-for-trials": f"ALTER TABLE trials RENAME TO t; CREATE VIEW trials AS {ENDLESS} x AS id FROM n;",
    "view-for-names": f"DROP TABLE log_identity; CREATE VIEW log_identity AS {ENDLESS} x AS base, x AS generation FROM n "
    "WHERE x < 0;",
    "view-for-leases": f"DROP TABLE leases; CREATE VIEW leases AS {ENDLESS} x AS run_id FROM n WHERE x < 0;",
    "known-view": f"DROP VIEW trial_scores; CREATE VIEW trial_scores AS {ENDLESS} x AS trial FROM n;",
    "view": "CREATE VIEW mine AS SELECT 1;",
    "trigger": "CREATE TRIGGER t AFTER INSERT ON labels BEGIN DELETE FROM steps; END;",
    "known-trigger": "DROP TRIGGER labels_insert; CREATE TRIGGER labels_insert AFTER INSERT ON labels BEGIN "
    "DELETE FROM steps; INSERT INTO changes (kind, item, part) VALUES ('label', NEW.item, NEW.part); END;",
    "virtual-table": "CREATE VIRTUAL TABLE v USING fts5(x);",
    "generated-column": "CREATE TABLE g (a, b AS (a * 2));",
    "default-that-calls": "CREATE TABLE g (a, b DEFAULT (randomblob(9)));",
    "check-that-calls": "CREATE TABLE g (a CHECK (length(randomblob(9)) > a));",
    "expression-index": "CREATE INDEX e ON runs (upper(id));",
    "partial-index": "CREATE INDEX e ON runs (id) WHERE length(id) > 2;",
}


@pytest.fixture(params=HOSTILE.values(), ids=HOSTILE.keys())
def hostile(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return changed(tmp_path / "from elsewhere.session", request.param)


def test_what_no_session_has_is_refused_in_a_sentence(hostile: Path) -> None:
    before = hostile.read_bytes()
    for opened in (SessionReader, SessionWriter):
        with pytest.raises(
            SessionError, match=r"^from elsewhere\.session was not opened: it contains the \w+ '\w+', [^\n]+$"
        ):
            opened(hostile)
    assert hostile.read_bytes() == before


@pytest.mark.parametrize("command", ["show", "resume"])
def test_commands_say_so(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], home: Path) -> None:
    path = changed(tmp_path / "s.session", HOSTILE["view-for-trials"])
    assert main([command, str(path)]) == 1
    assert "s.session was not opened: it contains the" in " ".join(capsys.readouterr().err.split())


def test_a_log_beside_is_no_way_around(tmp_path: Path) -> None:
    path = changed(tmp_path / "s.session", HOSTILE["view-for-names"])
    Path(f"{path}-wal").write_bytes(b"no log at all")
    with pytest.raises(SessionError):
        SessionReader(path)


@pytest.mark.parametrize(
    ("script", "fine"),
    [
        (
            "CREATE INDEX more ON steps (kind, action DESC); CREATE TABLE mine (a INTEGER PRIMARY KEY, b TEXT DEFAULT 'x (y)');",
            True,
        ),
        ("CREATE TRIGGER t AFTER UPDATE ON runs BEGIN DELETE FROM steps; END;", False),
        ("CREATE VIEW mine AS SELECT 1;", False),
    ],
    ids=["plain", "trigger", "view"],
)
def test_what_a_person_may_add(script: str, fine: bool, tmp_path: Path) -> None:
    path = changed(tmp_path / "s.session", script)
    opened: list[Callable[[Path], SessionReader | SessionWriter]] = [SessionReader, SessionWriter, SessionReader]
    for each in opened:
        if fine:
            each(path).close()
            continue
        with pytest.raises(SessionError, match="was not opened"):
            each(path)


def test_no_query_is_without_an_end(tmp_path: Path) -> None:
    path = changed(tmp_path / "s.session", "")
    with SessionReader(path) as reader:
        with pytest.raises(SessionError, match="did not finish"):
            reader.query(f"{ENDLESS} count(*) FROM n")
        assert reader.runs() == []


INTERRUPTED = """
import os, signal, sys, threading
from pathlib import Path
from workbench.session import SessionReader

with SessionReader(Path(sys.argv[1])) as reader:
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        while True:
            reader.query(sys.argv[2])
    except BaseException as error:
        print(type(error).__name__)
"""


def test_an_interrupt_during_a_query_is_no_damage(tmp_path: Path) -> None:
    path = changed(tmp_path / "s.session", "")
    query = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 1000000) SELECT count(*) FROM n"
    command = [sys.executable, "-c", INTERRUPTED, str(path), query]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "KeyboardInterrupt"


@pytest.mark.parametrize("said", [10, 2**40], ids=["says-little", "says-all"])
def test_a_text_unpacks_to_no_more_than_it_says_or_than_any_has(said, tmp_path, monkeypatch):
    monkeypatch.setattr(blobs, "MOST", 2**20)
    path = changed(tmp_path / "s.session", "")
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO blobs VALUES ('bomb', ?, 'zlib', ?)", (said, zlib.compress(bytes(2**26))))
    connection.commit()
    connection.close()
    with SessionReader(path) as reader:
        tracemalloc.start()
        with pytest.raises(TextDamaged):
            reader.data("bomb")
        assert tracemalloc.get_traced_memory()[1] < 2**23
        tracemalloc.stop()
