"""The texts and files that a session holds by their digests, and what of the file could not be read."""

from __future__ import annotations

import codecs
import sqlite3
import threading
from pathlib import Path

from workbench.session import blobs
from workbench.session.damage import Damage
from workbench.session.file import SessionCorrupt, translated


class TextDamaged(SessionCorrupt):
    """A text of a session cannot be read; the rest can."""


class BlobReader:
    """Reads blobs from an open session file; one that is damaged is remembered."""

    path: Path
    _lock: threading.RLock
    _connection: sqlite3.Connection
    _damage: dict[Damage, None]

    @property
    def damage(self) -> tuple[Damage, ...]:
        """What of the file could not be read so far: rows since it was opened, texts since they were asked for."""
        with self._lock:
            return tuple(self._damage)

    def note_damage(self, item: str, what: str) -> None:
        with self._lock:
            self._damage[Damage(item, what)] = None

    def data(self, digest: str, limit: int | None = None, *, of: str = "") -> bytes:
        """Return the bytes of a blob, or only its first ``limit`` bytes.

        Raises:
            TextDamaged: It is not there or not what was stored; ``of`` says what it is.
        """
        of = of or f"the text {digest[:12]}"
        with self._lock, translated(self.path):
            try:
                return blobs.get(self._connection, digest, limit)
            except blobs.BlobDamaged as error:
                self.note_damage(of, f"cannot be read: {error}")
                raise TextDamaged(f"{of[0].upper()}{of[1:]} cannot be read: {error}.") from None

    def text(self, digest: str | None, limit: int | None = None, *, of: str = "") -> str:
        """Return the text of a blob ("" for None); ``limit`` cuts after that many bytes without unpacking more.

        Raises:
            TextDamaged: It is not there or not what was stored; ``of`` says what it is.
        """
        if digest is None:
            return ""
        raw = self.data(digest, limit, of=of)
        if limit is not None:
            # Cut in the middle of a character, the text ends before it.
            return codecs.getincrementaldecoder("utf-8")("replace").decode(raw, final=len(raw) < limit)
        try:
            return raw.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            self.note_damage(of or f"the text {digest[:12]}", "is not UTF-8")
            return raw.decode("utf-8", "replace")

    def shown(self, digest: str | None, of: str, limit: int | None = None) -> str:
        """Return a text for people: one that cannot be read is a sentence in brackets that says so."""
        try:
            return self.text(digest, limit, of=of)
        except TextDamaged as error:
            return f"({error})"

    def kept(self, digest: str | None, of: str) -> str | None:
        """Return a text for programs: None where there is none or it cannot be read."""
        try:
            return None if digest is None else self.text(digest, of=of)
        except TextDamaged:
            return None

    def size(self, digest: str | None) -> int:
        """Return the size of a blob in bytes, 0 for None."""
        if digest is None:
            return 0
        with self._lock, translated(self.path):
            return blobs.size(self._connection, digest)
