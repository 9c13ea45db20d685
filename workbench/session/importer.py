"""The protocols of importers and report formats of other packages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from workbench.session.reader import SessionReader


class Importer(Protocol):
    """Reads the files of one format."""

    name: str  # Its dotted path, given to it
    # How the names of its files end, in small letters: `(".log",)`; what is looked at in a folder
    endings: tuple[str, ...]

    def read(self, path: Path) -> Iterator[object]:
        """Yield each ``Trajectory``, ``ForeignTask`` or ``ForeignCandidate`` (:mod:`workbench.interop.formats`) in a file.

        What a file does not say is left empty. An exception is reported with the file's name; what was yielded before
        stays.
        """


class ReportFormat(Protocol):
    """Writes a session in a format of its own."""

    name: str

    def render(self, session: SessionReader) -> str:
        """Return the whole report; ``session`` is in one read transaction, so that its rows agree with each other."""
