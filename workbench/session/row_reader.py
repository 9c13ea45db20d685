"""Fetch rows from a session file, even if it has damaged pages, wrong types or text that is not UTF-8."""

from __future__ import annotations

import codecs
import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from workbench.base.text import one_line
from workbench.session import blobs, log
from workbench.session.file import SessionCorrupt, connect, translated
from workbench.session.moved_files import Original
from workbench.session.rows import columns

Row = TypeVar("Row")


class TextDamaged(SessionCorrupt):
    """A text of a session cannot be read; this does not affect other texts."""


class RowReader:
    """Queries an open session file. It can be shared between threads. :attr:`damage` lists everything unreadable.

    Rows always have the declared types, whatever the file contains: see :mod:`workbench.session.survey`. Without
    ``surveyed``, the file is not checked, which is faster for reading a single text.
    """

    def __init__(self, path: Path, *, surveyed: bool = True) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._connection = connect(path, write=False)
        self._original = Original(path)
        self._damage: dict[Damage, None] = {}
        self._copied = False
        if surveyed:
            try:
                self._survey()
            except BaseException:
                self._connection.close()
                self._original.close()
                raise

    def _survey(self, *, copied: bool = False) -> None:
        # Imported here, because imports take most of the time of a short command.
        from workbench.session.survey import Survey

        with translated(self.path):
            try:
                found = Survey(self._connection, copied=copied)
            except sqlite3.DatabaseError as error:
                if "malformed" not in str(error) or copied:
                    raise
                self._read_copies()
            else:
                self._damage |= dict.fromkeys(found.damage)

    def _read_copies(self) -> None:
        self._copied = True
        self.note_damage("the file", "a page of it is damaged; what could be read is shown")
        # Open a new connection, because after such an error SQLite does nothing more in that transaction. If opening it
        # fails, the old one must stay open: with a closed one, every later query would only report that it is closed.
        before, self._connection = self._connection, connect(self.path, write=False)
        before.close()
        self._survey(copied=True)

    def close(self) -> None:
        """Close the file; the last connection to close removes the side files."""
        with self._lock:
            self._connection.close()
            self._original.close()
            log.tidy(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def query(self, sql: str, arguments: Sequence[object] = ()) -> list[Any]:
        with self._lock, translated(self.path):
            try:
                return self._connection.execute(sql, tuple(arguments)).fetchall()
            except sqlite3.DatabaseError as error:
                if "Could not decode" in str(error):
                    return self._replaced(sql, arguments)
                if "malformed" not in str(error) or self._copied:
                    raise
            # The query met a damaged page that the first check missed.
            self._read_copies()
            return self._connection.execute(sql, tuple(arguments)).fetchall()

    def columns_of(self, sql: str, arguments: Sequence[object] = ()) -> tuple[str, ...]:
        with self._lock, translated(self.path):
            cursor = self._connection.execute(f"SELECT * FROM ({sql}) LIMIT 0", tuple(arguments))
            return tuple(str(one[0]) for one in cursor.description)

    def _replaced(self, sql: str, arguments: Sequence[object]) -> list[Any]:
        marked: list[bool] = []

        def decode(raw: bytes) -> str:
            try:
                return raw.decode("utf-8")
            except UnicodeDecodeError:
                marked.append(True)
                return raw.decode("utf-8", "replace")

        self._connection.text_factory = decode
        try:
            rows = []
            for row in self._connection.execute(sql, tuple(arguments)):
                rows.append(row)
                if marked:
                    marked.clear()
                    name = next((str(value) for value in row if isinstance(value, str)), "?")
                    self.note_damage(f"row {name}", "it contains text that is not UTF-8")
            return rows
        finally:
            self._connection.text_factory = str

    def rows(self, row_type: type[Row], table: str, rest: str = "", arguments: Sequence[object] = ()) -> list[Row]:
        """Return rows of a table as their type, which defines the columns; ``rest`` follows the table in the SQL."""
        found = self.query(f"SELECT {columns(row_type)} FROM {table} {rest}", arguments)
        return [row_type(*row) for row in found]

    # -- texts and damage

    @property
    def damage(self) -> tuple[Damage, ...]:
        """All damage found so far: rows are checked when the file is opened, texts when they are requested."""
        with self._lock:
            return tuple(self._damage)

    def note_damage(self, item: str, what: str) -> None:
        with self._lock:
            self._damage[Damage(item, what)] = None

    def data(self, digest: str, limit: int | None = None, *, of: str = "") -> bytes:
        """Return the bytes of a blob, or its first ``limit`` bytes.

        Raises TextDamaged if the blob is missing or changed; its message calls the text ``of``.
        """
        of = of or f"the text {digest[:12]}"
        with self._lock, translated(self.path):
            try:
                return blobs.get(self._connection, digest, limit)
            except blobs.BlobDamaged as error:
                self.note_damage(of, f"cannot be read: {error}")
                raise TextDamaged(f"{of[0].upper()}{of[1:]} cannot be read: {error}.") from None

    def text(self, digest: str | None, limit: int | None = None, *, of: str = "") -> str:
        """Return the text of a blob, or "" for None; see :meth:`data`."""
        if digest is None:
            return ""
        raw = self.data(digest, limit, of=of)
        if limit is not None:
            # A character that is cut in the middle is dropped.
            return codecs.getincrementaldecoder("utf-8")("replace").decode(raw, final=len(raw) < limit)
        try:
            return raw.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            self.note_damage(of or f"the text {digest[:12]}", "is not UTF-8")
            return raw.decode("utf-8", "replace")

    def shown(self, digest: str | None, of: str, limit: int | None = None) -> str:
        """Return a text for display; an unreadable one is replaced by a sentence in brackets."""
        try:
            return self.text(digest, limit, of=of)
        except TextDamaged as error:
            return f"({error})"

    def text_or_none(self, digest: str | None, of: str) -> str | None:
        """Return a text for processing, or None if there is none or it cannot be read."""
        try:
            return None if digest is None else self.text(digest, of=of)
        except TextDamaged:
            return None

    def size(self, digest: str | None) -> int:
        if digest is None:
            return 0
        with self._lock, translated(self.path):
            return blobs.size(self._connection, digest)


_NAMED = 3
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Damage:
    """A damaged part: ``item`` names it (``trial 4f21…``, ``table steps``), and ``what`` describes the damage."""

    item: str
    what: str

    @property
    def sentence(self) -> str:
        return f"{one_line(self.item, 160)}: {one_line(self.what, 240)}"


def summary(damage: Sequence[Damage], named: int = _NAMED) -> str:
    """Return a line that names the first few items (``damaged: trial 4f21…: column seconds holds text``), or ""."""
    if not damage:
        return ""
    more = f"; and {len(damage) - named:,} more" if len(damage) > named else ""
    return f"damaged: {'; '.join(one.sentence for one in damage[:named])}{more}"


def described(value: object) -> str:
    """Describe a value that is invalid for its column."""
    if value is None:
        return "is empty"
    if isinstance(value, bytes):
        return "holds bytes"
    if isinstance(value, str):
        return f"holds the text {shown(value)!r}" if value else "holds an empty text"
    return f"holds the invalid value {value}"


def shown(value: object) -> str:
    """Return the value of a key column for use in a sentence, shortened."""
    if value is None:
        return "(empty)"
    if isinstance(value, bytes):
        return "(bytes)"
    return one_line(str(value), _SHOWN) or "(empty)"
