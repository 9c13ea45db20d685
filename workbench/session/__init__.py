"""The session file: one SQLite database that holds all that a run did, and the only truth that the app shows.

Others use :class:`SessionReader` to look, :class:`SessionWriter` to record, :func:`create` to begin, and the rows of
:mod:`workbench.session.rows`. Importing this room costs little: the app does it before its first paint.
"""

from __future__ import annotations

from workbench.session.file import (
    SUFFIX,
    SessionCorrupt,
    SessionError,
    SessionFull,
    SessionLocked,
    SessionMissing,
    SessionNewer,
    create,
    ensure,
)
from workbench.session.reader import SessionReader, read_blob
from workbench.session.writer import SessionWriter

__all__ = [
    "SUFFIX",
    "SessionCorrupt",
    "SessionError",
    "SessionFull",
    "SessionLocked",
    "SessionMissing",
    "SessionNewer",
    "SessionReader",
    "SessionWriter",
    "create",
    "ensure",
    "read_blob",
]
