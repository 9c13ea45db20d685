"""What a report format of another package has; :mod:`workbench.reports` asks it."""

from __future__ import annotations

from typing import Protocol

from workbench.session.reader import SessionReader


class ReportFormat(Protocol):
    """Writes a session in a format of its own."""

    name: str

    def render(self, session: SessionReader) -> str:
        """Return the whole report; ``session`` is in one read transaction, so that its rows agree with each other."""
        ...
