"""Repositories: from what the user names (a folder, a git URL, a pinned release) to an immutable copy of its files.

`parse_source` parses the text, `fetch` copies the repository into the cache as an immutable, content-addressed
`Snapshot`, and `View` shows an agent the part of it that it may see. `read_text` is for browsing a whole snapshot.
Git, archives and the network are imported only when a source needs them.
"""

from __future__ import annotations

from workbench.repository.entries import FileEntry
from workbench.repository.fetching import cached, fetch, forget
from workbench.repository.patterns import DEFAULT_HIDDEN
from workbench.repository.problems import BadSource, ChecksumMismatch, FetchError, SourceUnavailable, UnsafeArchive
from workbench.repository.sources import Source, parse_source
from workbench.repository.store import Snapshot
from workbench.repository.view import (
    FileText,
    NoSuchPath,
    NotADirectory_,
    NotAFile,
    NotVisible,
    OutsideRepository,
    Unreadable,
    View,
    ViewError,
    read_text,
)

__all__ = [
    "DEFAULT_HIDDEN",
    "BadSource",
    "ChecksumMismatch",
    "FetchError",
    "FileEntry",
    "FileText",
    "NoSuchPath",
    "NotADirectory_",
    "NotAFile",
    "NotVisible",
    "OutsideRepository",
    "Snapshot",
    "Source",
    "SourceUnavailable",
    "Unreadable",
    "UnsafeArchive",
    "View",
    "ViewError",
    "cached",
    "fetch",
    "forget",
    "parse_source",
    "read_text",
]
