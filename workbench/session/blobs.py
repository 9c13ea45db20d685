"""Content-addressed texts: stored once, compressed if that saves space, and read completely or up to a limit."""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from typing import Any

MOST = 2**28
"""Maximum size of a text in bytes. Without it, a hostile file could decompress to more than fits in memory."""

_WORTH_COMPRESSING = 256  # bytes; zlib saves nothing for shorter texts


def digest_of(data: bytes) -> str:
    """Return the name of a blob: the SHA-256 of its content in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def put(connection: sqlite3.Connection, text: str | bytes) -> str:
    """Store a text (UTF-8; lone surrogates survive) unless it exists, and return its digest."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    digest = digest_of(data)
    if connection.execute("SELECT 1 FROM blobs WHERE digest = ?", (digest,)).fetchone():
        return digest
    codec, stored = "raw", data
    if len(data) >= _WORTH_COMPRESSING:
        packed = zlib.compress(data, 3)
        if len(packed) < len(data):
            codec, stored = "zlib", packed
    connection.execute("INSERT OR IGNORE INTO blobs VALUES (?, ?, ?, ?)", (digest, len(data), codec, stored))
    return digest


class BlobDamaged(Exception):
    """A text cannot be read; the message completes a sentence about it: ``it is missing …``."""


def get(connection: sqlite3.Connection, digest: str, limit: int | None = None) -> bytes:
    """Return the content of a blob, or its first ``limit`` bytes without decompressing the rest. Raises BlobDamaged."""
    row = _row(connection, "codec, size, data", digest)
    if row is None:
        raise BlobDamaged("it is missing from the session file")
    codec, size, data = row
    if not isinstance(data, bytes) or not isinstance(size, int) or codec not in {"raw", "zlib"}:
        raise BlobDamaged("its entry in the session file is damaged")
    if codec == "raw":
        content = data if limit is None else data[:limit]
    else:
        try:
            most = min(size, MOST) + 1 if limit is None else min(limit, MOST)
            content = zlib.decompressobj().decompress(data, max(1, most))
        except (zlib.error, MemoryError):
            raise BlobDamaged("it cannot be unpacked") from None
    # Only complete content can be checked against the digest.
    if (limit is None or limit > size) and (len(content) != size or digest_of(content) != digest):
        raise BlobDamaged("its content is not what was recorded")
    return content


def _row(connection: sqlite3.Connection, columns: str, digest: str) -> tuple[Any, ...] | None:
    query = f"SELECT {columns} FROM blobs {{}} WHERE digest = ?"
    row: tuple[Any, ...] | None
    try:
        row = connection.execute(query.format(""), (digest,)).fetchone()
    except sqlite3.DatabaseError as error:
        if "malformed" not in str(error):
            raise
        # A damaged page of the index can hide a row that is still in the table, so scan the table.
        try:
            row = connection.execute(query.format("NOT INDEXED"), (digest,)).fetchone()
        except sqlite3.DatabaseError:
            raise BlobDamaged("a page of the session file is damaged") from None
    return row


def size(connection: sqlite3.Connection, digest: str) -> int:
    """Return the size of a blob in bytes, or 0 if it cannot be read."""
    try:
        row = _row(connection, "size", digest)
    except BlobDamaged:
        return 0
    return row[0] if row and isinstance(row[0], int) else 0
