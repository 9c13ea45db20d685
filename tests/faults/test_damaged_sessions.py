"""Columns of every table changed, every page overwritten, every table dropped: no interface of the program crashes.

Nothing that cannot be may come out as a defect, what is not damaged must still be shown, and what is must be named.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from faults.damaging import (
    VALUES,
    columns,
    faces,
    invoke,
    problem_of,
    put,
    read_everything,
    tables,
    without_constraints,
)
from samples.sessions import document_session, regeneration_session
from sweeps import spread

from workbench.base.errors import WorkbenchError
from workbench.session import SessionReader, schema

sys.path.insert(0, str(Path(__file__).parent.parent / "app"))

import recorded
import regenerated
from driving import regeneration, screen_text, trajectory

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

SESSIONS = {"document": document_session, "regeneration": regeneration_session}
_UNREAD = {"log_identity", "requests", "leases", "changes"}
_BLOBS = (
    *(("document", "trials", column) for column in ("readme_blob", "metadata_blob")),
    *(("document", "steps", column) for column in ("answer_blob", "observation_blob")),
    *(("document", "calls", column) for column in ("messages_blob", "answer_blob")),
    ("document", "scorecards", "card_blob"),
    ("document", "snapshots", "files_blob"),
    *(("regeneration", "tasks", column) for column in ("source_blob", "body_blob", "docstring_blob", "prompt_blob")),
    *(("regeneration", "candidates", column) for column in ("answer_blob", "body_blob", "outcomes_blob")),
    ("regeneration", "failing_tests", "traceback_blob"),
)


def _tables() -> list[str]:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(schema.TABLES)
        return tables(connection)


def _made(kind: str, folder: Path) -> Path:
    path = folder / f"{kind}.session"
    SESSIONS[kind](path)
    free = folder / f"{kind}-free.session"
    without_constraints(path, free)
    return free


def _changed(base: Path, table: str) -> Iterator[tuple[str, str, Path]]:
    """Yield (column, kind of value, session) for values in one column in three of a table that has rows.

    Each column gets one of the values, another one than the column before.
    """
    path = base.with_name("changed.session")
    for number, (column, declared) in spread(list(enumerate(columns(base, table))), 3, len(table)):
        for name, value in spread(list(VALUES.items()), len(VALUES), 3 * number):
            shutil.copyfile(base, path)
            if put(path, table, column, value):
                yield f"{column} {declared}", name, path


def _must_be_named(table: str, column: str, value: str) -> bool:
    declared = column.rpartition(" ")[2]
    if table in _UNREAD:
        return False
    if value == "bytes":
        return declared != "BLOB"
    return declared in {"INTEGER", "REAL"} and value != "null"


@pytest.mark.parametrize("kind", ["document", "regeneration"])
@pytest.mark.parametrize("table", _tables())
def test_every_value_in_every_column(kind: str, table: str, tmp_path: Path, home: Path) -> None:
    base = _made(kind, tmp_path)
    sound = invoke("show", str(base), "--json").out
    wrong: list[str] = []
    count = 0
    for column, value, path in _changed(base, table):
        count += 1
        what = f"{table}.{column} = {value}"
        try:
            damage = read_everything(path)
        except Exception as error:
            wrong.append(f"{what}: the reader raised {type(error).__name__}: {error}")
            continue
        if _must_be_named(table, column, value) and not any(column.partition(" ")[0] in one for one in damage):
            wrong.append(f"{what}: nobody named it: {damage}")
        # Texts are looked at when they are shown: a face that shows none of them cannot know.
        with SessionReader(path) as reader:
            in_rows = reader.damage
        for name, answer in faces(path):
            if problem := problem_of(name, answer):
                wrong.append(f"{what}: {problem}")
            elif (
                in_rows or (damage and name in {"report md", "report json"} and table == "trials")
            ) and "damaged: " not in answer.err:
                wrong.append(f"{what}: {name} does not say that something is damaged")
            elif name == "show --json" and answer.out.count("\n") < min(3, sound.count("\n")):
                wrong.append(f"{what}: {name} shows nothing of the rest")
    assert not wrong, f"{len(wrong)} of {count}:\n" + "\n".join(wrong[:30])


@pytest.mark.parametrize(("kind", "filling"), [("document", b"\xa5"), ("regeneration", b"\x00")])
def test_every_page_overwritten(kind: str, filling: bytes, tmp_path: Path, home: Path) -> None:
    base = tmp_path / "base.session"
    SESSIONS[kind](base)
    with contextlib.closing(sqlite3.connect(base)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        of_schema = connection.execute("SELECT count(*) FROM dbstat WHERE name = 'sqlite_schema'").fetchone()[0]
    sound, path = base.read_bytes(), tmp_path / "demo.session"
    outcomes = {"refused with a sentence": 0, "read, and named": 0, "read": 0}
    for page in spread(range(len(sound) // size), 6):
        path.write_bytes(sound[: page * size] + filling * size + sound[(page + 1) * size :])
        try:
            named = read_everything(path)
        except WorkbenchError:
            outcomes["refused with a sentence"] += 1
        else:
            outcomes["read, and named" if named else "read"] += 1
        for name, answer in faces(path):
            assert not problem_of(name, answer), f"page {page}"
    # Only pages of the schema itself are beyond help.
    assert outcomes["refused with a sentence"] <= of_schema
    assert outcomes["read, and named"] >= 3


def test_truncated_files(tmp_path: Path, home: Path) -> None:
    base = tmp_path / "base.session"
    regeneration_session(base)
    sound, path = base.read_bytes(), tmp_path / "demo.session"
    for share in (0, 1, 99, 100, 4095, 4096, 4097, *(len(sound) * fifth // 5 for fifth in range(1, 5)), len(sound) - 1):
        path.write_bytes(sound[:share])
        for name, answer in faces(path):
            assert not problem_of(name, answer), f"the first {share} bytes"


def test_every_table_missing(tmp_path: Path, home: Path) -> None:
    base = _made("document", tmp_path)
    path = tmp_path / "demo.session"
    for table in _tables():
        shutil.copyfile(base, path)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute(f"DROP TABLE {table}")
        for name, answer in faces(path):
            assert not problem_of(name, answer), table
            if table not in _UNREAD:
                assert f"table {table}: is missing" in answer.err


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Record a session of one kind and return it."""
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))

    def record(kind: str) -> Path:
        if kind == "document":
            recorder = recorded.Recorder(tmp_path / "sound.session")
            recorder.run()
            recorded.word_counter(recorder, "trial-1")
        else:
            recorder = regenerated.Recorder(tmp_path / "sound.session")
            regenerated.word_counter(recorder)
        recorder.close()
        return recorder.path

    return record


APPS = {"document": trajectory, "regeneration": regeneration}


@pytest.mark.parametrize(
    ("kind", "table"),
    [
        *(("document", table) for table in ("runs", "trials", "steps", "calls", "scorecards", "meta")),
        *(("regeneration", table) for table in ("tasks", "candidates", "failing_tests", "stages")),
    ],
)
async def test_the_app_opens_a_session_with_damage_in(kind, table, tmp_path, recording):
    base = tmp_path / "base.session"
    without_constraints(recording(kind), base)
    for column, _ in spread(list(columns(base, table)), 10, len(table)):
        path = Path(shutil.copyfile(base, tmp_path / f"{table}-{column}.session"))
        if put(path, table, column, b"bytes"):
            async with APPS[kind](path) as (_, screen):
                assert "Opening" not in screen_text(screen.app), column


@pytest.mark.parametrize(("kind", "table", "column"), spread(_BLOBS, 3))
async def test_the_app_shows_a_session_without_the_texts_of(kind, table, column, recording):
    path = recording(kind)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"DELETE FROM blobs WHERE digest IN (SELECT {column} FROM {table})")
    async with APPS[kind](path) as (_, screen):
        assert "Opening" not in screen_text(screen.app)
    for name, answer in faces(path):
        assert not problem_of(name, answer)
