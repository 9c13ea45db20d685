"""The full-text index of sessions: SQLite FTS5 in a separate file, which can be deleted at any time.

A text with several locations (such as a file that every agent read) is indexed once. The index is updated from a
session's change feed, in small transactions, by a reader that never writes to the session.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.search.entries import IndexedItem, IndexEntry, IndexPart, parts_of, read_part
from workbench.search.query import NUMBERS, Query

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

VERSION = 8
MAX_BYTES = 1_000_000
"""Maximum number of bytes of a text to index."""
_BATCH = 200  # parts per transaction; each takes a few milliseconds
_ITEM = [f'"{one.name}"' for one in fields(IndexedItem)]
_TABLES = f"""
CREATE TABLE sessions (id INTEGER PRIMARY KEY, path TEXT UNIQUE NOT NULL, created TEXT NOT NULL, seq INTEGER NOT NULL);
CREATE TABLE texts (id INTEGER PRIMARY KEY, digest TEXT UNIQUE NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='unicode61 remove_diacritics 0');
CREATE TABLE items (session INTEGER NOT NULL, {", ".join(_ITEM)}, PRIMARY KEY (session, id)) WITHOUT ROWID;
CREATE TABLE entries (
    session INTEGER NOT NULL, part TEXT NOT NULL, item TEXT NOT NULL, kind TEXT NOT NULL, number INTEGER NOT NULL,
    blob TEXT, inline_text TEXT NOT NULL, text INTEGER NOT NULL, criterion TEXT NOT NULL
);
CREATE TABLE archived (session INTEGER NOT NULL, run TEXT NOT NULL, PRIMARY KEY (session, run)) WITHOUT ROWID;
CREATE INDEX entries_by_text ON entries (text);
CREATE INDEX entries_by_part ON entries (session, part);
PRAGMA user_version = {VERSION};
"""
_COLUMNS = {"kind": "entries.kind", "file": "items.files", "date": "items.at"}


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A matching text."""

    session: Path
    entry: IndexEntry
    item: IndexedItem


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits, ordered by session and item; ``total`` also counts those beyond the limit.

    ``counts`` is the number of hits by value of ``kind``, ``agent``, ``model``, ``case`` and ``verdict``, largest
    first.
    """

    hits: tuple[SearchHit, ...] = ()
    total: int = 0
    counts: dict[str, list[tuple[str, int]]] = field(default_factory=dict)


class SearchIndex:
    """The index file, recreated if missing, damaged or of another version. Every method may raise WorkbenchError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._write_lock, self._read_lock = threading.Lock(), threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = self._open()
            self._reader = self._connect()
            self._reader.create_function("folded", 1, lambda text: str(text or "").casefold(), deterministic=True)
        except (sqlite3.Error, OSError) as error:
            raise WorkbenchError(f"The search index {path} cannot be used: {error}.") from None

    def close(self) -> None:
        with self._write_lock, self._read_lock:
            self._reader.close()
            self._writer.close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=5.0)
        # Entries lost in a system crash can be indexed again.
        for setting in ("journal_mode = WAL", "synchronous = OFF"):
            connection.execute(f"PRAGMA {setting}")
        return connection

    def _open(self) -> sqlite3.Connection:
        with contextlib.suppress(sqlite3.DatabaseError):
            connection = self._connect()
            if connection.execute("PRAGMA user_version").fetchone()[0] == VERSION:
                return connection
            if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                return self._create_tables(connection)
            connection.close()
        for side in ("", "-wal", "-shm"):
            Path(f"{self.path}{side}").unlink(missing_ok=True)
        return self._create_tables(self._connect())

    @staticmethod
    def _create_tables(connection: sqlite3.Connection) -> sqlite3.Connection:
        connection.execute("BEGIN IMMEDIATE")
        # Another process may have created the tables while this one was waiting.
        if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            for statement in _TABLES.split(";\n"):
                connection.execute(statement)
        connection.execute("COMMIT")
        return connection

    def broken(self) -> bool:
        try:
            self._reader.execute("SELECT count(*) FROM sessions").fetchone()
        except sqlite3.Error:
            return True
        return False

    # -- writing

    def update(
        self,
        reader: SessionReader,
        stopped: Callable[[], bool] = lambda: False,
        progress: Callable[[int], None] = lambda _: None,
    ) -> int:
        """Index the changes of a session since the last update; return the number of parts that were read.

        ``reader`` must not be shared, because the update may take a while. Completed batches persist if ``stopped``
        returns True; ``progress`` is called with the number of parts so far.
        """
        done = 0
        with self._write_lock, self._translate_errors():
            session, seq = self._session(reader)
            while not stopped():
                changes = reader.changes(seq)
                if not changes:
                    break
                parts = parts_of(changes)
                for at in range(0, len(parts), _BATCH):
                    if stopped():
                        return done
                    self._replace(reader, session, parts[at : at + _BATCH])
                    done += len(parts[at : at + _BATCH])
                    progress(done)
                if any(change.kind == "run" for change in changes):
                    self._update_archived(reader, session)
                seq = changes[-1].seq
                self._writer.execute("UPDATE sessions SET seq = ? WHERE id = ?", (seq, session))
        return done

    def _update_archived(self, reader: SessionReader, session: int) -> None:
        archived = [(session, run.id) for run in reader.all_runs() if run.archived_at is not None]
        self._writer.execute("BEGIN IMMEDIATE")
        self._writer.execute("DELETE FROM archived WHERE session = ?", (session,))
        self._writer.executemany("INSERT INTO archived VALUES (?, ?)", archived)
        self._writer.execute("COMMIT")

    def _session(self, reader: SessionReader) -> tuple[int, int]:
        """Return the ID of a session and its last indexed change; its entries are deleted if the file was replaced."""
        path, created = str(reader.path.resolve()), reader.meta().get("created_at", "")
        row = self._writer.execute("SELECT id, created, seq FROM sessions WHERE path = ?", (path,)).fetchone()
        if row and (row[1] != created or row[2] > reader.last_change()):
            self._writer.execute("BEGIN IMMEDIATE")
            for table in ("entries", "items", "archived"):
                self._writer.execute(f"DELETE FROM {table} WHERE session = ?", (row[0],))
            self._writer.execute("UPDATE sessions SET created = ?, seq = 0 WHERE id = ?", (created, row[0]))
            self._writer.execute("COMMIT")
            return int(row[0]), 0
        if row is None:
            # Another process may insert it at the same time.
            self._writer.execute(
                "INSERT OR IGNORE INTO sessions (path, created, seq) VALUES (?, ?, 0)", (path, created)
            )
            row = self._writer.execute("SELECT id, created, seq FROM sessions WHERE path = ?", (path,)).fetchone()
        return int(row[0]), int(row[2])

    def _replace(self, reader: SessionReader, session: int, parts: Sequence[IndexPart]) -> None:
        connection = self._writer
        connection.execute("BEGIN IMMEDIATE")
        try:
            for part in parts:
                item, entries = read_part(reader, part)
                key = f"{part.kind} {part.item} {part.number}"
                connection.execute("DELETE FROM entries WHERE session = ? AND part = ?", (session, key))
                if item is not None:
                    marks = ", ".join("?" * len(_ITEM))
                    connection.execute(f"INSERT OR REPLACE INTO items VALUES (?, {marks})", (session, *astuple(item)))
                connection.executemany(
                    "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    [
                        (
                            session,
                            key,
                            one.item,
                            one.kind,
                            one.number,
                            one.blob,
                            one.text,
                            self._text(reader, one),
                            one.criterion,
                        )
                        for one in entries
                    ],
                )
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def _text(self, reader: SessionReader, entry: IndexEntry) -> int:
        digest = entry.blob or hashlib.sha256(entry.text.encode("utf-8", "surrogatepass")).hexdigest()
        row = self._writer.execute("SELECT id FROM texts WHERE digest = ?", (digest,)).fetchone()
        if row:
            return int(row[0])
        number = int(self._writer.execute("INSERT INTO texts (digest) VALUES (?)", (digest,)).lastrowid or 0)
        text = text_of(reader, entry).encode("utf-8", "replace").decode()
        self._writer.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (number, text))
        return number

    # -- reading

    def search(self, query: Query, sessions: Sequence[Path] = (), limit: int = 2000) -> SearchResult:
        """Return at most ``limit`` matching texts, but count all; a query without words matches names of items."""
        if not query:
            return SearchResult()
        tables = "entries JOIN items ON items.session = entries.session AND items.id = entries.item"
        wheres = ["(entries.session, items.run) NOT IN (SELECT session, run FROM archived)"]
        values: list[object] = []
        if query.words:
            wheres.append("entries.text IN (SELECT rowid FROM words WHERE words MATCH ?)")
            values.append(query.match())
        elif not any(condition.field == "kind" for condition in query.conditions):
            wheres.append("entries.kind IN ('name', 'candidate')")
        if sessions:
            wheres.append(
                f"entries.session IN (SELECT id FROM sessions WHERE path IN ({', '.join('?' * len(sessions))}))"
            )
            values += [str(path.resolve()) for path in sessions]
        for condition in query.conditions:
            column = _COLUMNS.get(condition.field, f'items."{condition.field}"')
            if condition.field not in NUMBERS:
                # SQLite's own lower() handles only ASCII.
                wheres.append(f"folded({column}) = ?" if condition.exact else f"instr(folded({column}), ?) > 0")
                values.append(condition.text.casefold())
        numbers = [condition for condition in query.conditions if condition.field in NUMBERS]
        with self._read_lock, self._translate_errors():
            paths = dict(self._reader.execute("SELECT id, path FROM sessions"))
            rows = self._reader.execute(
                f"SELECT entries.session, entries.item, entries.kind, number, blob, inline_text, criterion, {', '.join(f'items.{name}' for name in _ITEM)} "
                f"FROM {tables} WHERE {' AND '.join(wheres)} "
                'ORDER BY entries.session, items.kind DESC, items."order", number, items.id, entries.rowid',
                values,
            ).fetchall()
        hits: list[SearchHit] = []
        counts, total = {name: Counter[str]() for name in ("kind", "agent", "model", "case", "verdict")}, 0
        for session, key, kind, number, blob, text, criterion, *columns in rows:
            item = IndexedItem(*columns)
            if not all(one.holds(item.at if one.field == "date" else getattr(item, one.field)) for one in numbers):
                continue
            total += 1
            for name, counter in counts.items():
                value = kind if name == "kind" else getattr(item, name)
                if value:
                    counter[value] += 1
            if len(hits) < limit:
                hits.append(SearchHit(Path(paths[session]), IndexEntry(key, kind, number, blob, text, criterion), item))
        return SearchResult(tuple(hits), total, {name: counter.most_common() for name, counter in counts.items()})

    @contextlib.contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise WorkbenchError(f"The search index {self.path} cannot be used: {error}.") from None


def text_of(reader: SessionReader, entry: IndexEntry) -> str:
    """Return the indexed part of an entry's text, or "" if it is unreadable."""
    if entry.blob is None:
        return entry.text
    from workbench.session.row_reader import TextDamaged

    try:
        return reader.text(entry.blob, MAX_BYTES)
    except TextDamaged:
        return ""


@dataclass(frozen=True, slots=True)
class MatchedLine:
    """The line of a hit and the span of the match in it, or (0, 0) if there is none."""

    text: str
    start: int = 0
    end: int = 0


def line_of(reader: SessionReader, hit: SearchHit, query: Query) -> MatchedLine:
    text = text_of(reader, hit.entry)
    pattern = query.pattern()
    found = pattern.search(text) if pattern is not None else None
    if found is None:
        return MatchedLine(next((line.strip() for line in text.splitlines() if line.strip()), ""))
    start = text.rfind("\n", 0, found.start()) + 1
    end = text.find("\n", found.start())
    line = text[start : end if end >= 0 else len(text)]
    lead = len(line) - len(line.lstrip())
    return MatchedLine(line.strip(), max(0, found.start() - start - lead), min(found.end() - start, len(line)) - lead)
