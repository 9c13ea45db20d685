"""Entries of a repository's file list, without their content; cheap to import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mode = Literal["-", "x", "l"]
"""How an entry is stored: plain, executable, link."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of a repository."""

    path: str  # POSIX, relative to the repository's root
    size: int  # bytes; for a link: of its target
