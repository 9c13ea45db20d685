"""Content-addressed texts: stored once, compressed where that pays, read back whole or from the front."""

from __future__ import annotations

import hashlib
import sqlite3
import zlib

_WORTH_COMPRESSING = 256  # bytes; below that zlib gains nothing


def digest_of(data: bytes) -> str:
    """Return the name of a blob: the SHA-256 of its content in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def put(connection: sqlite3.Connection, text: str | bytes) -> str:
    """Store a text (UTF-8; lone surrogates survive) unless it is there already and return its digest."""
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


def get(connection: sqlite3.Connection, digest: str, limit: int | None = None) -> bytes:
    """Return the content of a blob, or its first ``limit`` bytes without unpacking the rest.

    Raises:
        KeyError: There is no such blob.
    """
    row = connection.execute("SELECT codec, data FROM blobs WHERE digest = ?", (digest,)).fetchone()
    if row is None:
        raise KeyError(digest)
    codec, data = row
    if codec == "raw":
        return bytes(data if limit is None else data[:limit])
    if limit is None:
        return zlib.decompress(data)
    return zlib.decompressobj().decompress(data, max(1, limit))


def size(connection: sqlite3.Connection, digest: str) -> int:
    """Return the size of a blob in bytes, 0 if there is none."""
    row = connection.execute("SELECT size FROM blobs WHERE digest = ?", (digest,)).fetchone()
    return int(row[0]) if row else 0
