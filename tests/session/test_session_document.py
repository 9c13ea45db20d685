"""docs/reference/session.md tells of every table, view and column, and what it says works with sqlite3 alone."""

from __future__ import annotations

import re
import sqlite3
import zlib
from pathlib import Path

import pytest
from samples.sessions import document_session, regeneration_session

from workbench.session import SessionReader, SessionWriter, read_blob, schema

DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "session.md"


def documented() -> dict[str, list[str]]:
    """Return the columns that the document names, by table or view."""
    found: dict[str, list[str]] = {}
    for section in re.split(r"^### ", DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name = section.partition("\n")[0].strip("`")
        rows = re.findall(r"^\| (`[^|]*) \|", section.partition("\n## ")[0], flags=re.MULTILINE)
        found[name] = re.findall(r"`(\w+)`", " ".join(rows))
    return found


def real(path: Path) -> dict[str, list[str]]:
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    names = [
        name
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
        )
    ]
    found = {name: [row[1] for row in connection.execute(f"PRAGMA table_info({name})")] for name in names}
    connection.close()
    return found


def examples() -> list[str]:
    return re.findall(r"```sql\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A file with a document run and a regeneration."""
    path = tmp_path / "both.session"
    regeneration_session(path)
    other = tmp_path / "other.session"
    document_session(other)
    with SessionWriter(path) as writer, writer.transaction() as connection:
        source = sqlite3.connect(other)
        for table in ("runs", "trials", "scorecards", "blobs", "calls"):
            for row in source.execute(f"SELECT * FROM {table}"):
                connection.execute(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        source.close()
    return path


def test_no_column_is_missing_and_none_is_too_many(session: Path) -> None:
    told, there = documented(), real(session)
    assert told.keys() == there.keys()
    assert {name: sorted(columns) for name, columns in told.items()} == {
        name: sorted(columns) for name, columns in there.items()
    }
    assert f"`PRAGMA user_version` = {schema.SCHEMA_VERSION}" in DOCUMENT.read_text(encoding="utf-8")


def test_the_examples_answer_with_sqlite3_alone(session: Path) -> None:
    assert len(examples()) >= 5
    connection = sqlite3.connect(f"{session.as_uri()}?mode=ro", uri=True)
    answers = [connection.execute(query).fetchall() for query in examples()]
    assert all(answers)
    trials, candidates, passes, failing, calls = answers
    assert trials[0][-2:] == (15.0, 26.0)
    assert len(candidates) == 4
    assert passes[0][-2:] == (1, 2 / 3)  # ✓✗↯✓: our error is no sample
    assert failing[0][:2] == ("tests/test_a.py::test_one", 1)
    assert calls[0][2] == 2
    connection.close()


def test_texts_are_read_with_the_function_and_without(session: Path) -> None:
    connection = sqlite3.connect(f"{session.as_uri()}?mode=ro", uri=True)
    digests = [
        digest for (digest,) in connection.execute("SELECT readme_blob FROM trial_scores WHERE readme_blob != ''")
    ]
    assert digests
    for digest in digests:
        codec, data = connection.execute("SELECT codec, data FROM blobs WHERE digest = ?", (digest,)).fetchone()
        assert read_blob(session, digest) == (zlib.decompress(data) if codec == "zlib" else data)
    assert read_blob(session, digests[0]).decode().startswith("# <script>")
    connection.close()


def test_the_feed_does_not_grow_for_ever_and_who_is_behind_reads_everything(tmp_path, monkeypatch):
    monkeypatch.setattr(schema, "KEPT_CHANGES", 20)
    monkeypatch.setattr("workbench.session.writer._CHECKPOINT_SECONDS", 0.0)
    path = tmp_path / "long.session"
    names = regeneration_session(path)
    with SessionReader(path) as reader:
        assert reader.changes(0)[0].seq == 1
        early = reader.last_change()
    with SessionWriter(path) as writer:
        for number in range(40):
            writer.set_run("reg1", note=f"note {number}")
        writer.annotate(names["count_text"], "seen late")
    with SessionReader(path) as reader:
        count, last = reader.query("SELECT count(*) FROM changes")[0][0], reader.last_change()
        assert 20 <= count <= 26
        # Up to date: only what is new.
        assert [change.kind for change in reader.changes(last - 2)] == ["run", "annotation"]
        # Behind: everything that there is, once, and then nothing more.
        for since in (0, early):
            behind = reader.changes(since, limit=5)
            assert {change.seq for change in behind} == {last}
            items = {(change.kind, change.item) for change in behind}
            assert {("candidate", names[f"local{n}"]) for n in range(4)} < items
            assert {("run", "reg1"), ("task", names["count_text"]), ("annotation", names["count_text"])} < items
        assert reader.changes(last) == []
