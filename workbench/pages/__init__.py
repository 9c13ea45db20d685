"""Pages are documents in any format: reports on sessions, single items and studies.

:func:`write_report` covers sessions, and :func:`workbench.pages.study_report.write_study_report` covers studies, which
need numpy. The module of a format is imported when a report is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.session.row_reader import Damage

PAGE_FORMATS: Mapping[str, str] = {
    "md": "Markdown",
    "html": "a single file without external resources",
    "latex": "a fragment with booktabs",
    "json": "everything",
    "csv": "its tables",
}
"""The formats of a page."""
FORMATS: Mapping[str, str] = {
    **PAGE_FORMATS,
    "csv": "a line per trial, or per candidate in a session of regeneration only",
}
"""The formats of a report on a session; plug-ins add others."""
STUDY_FORMATS: Mapping[str, str] = {
    **FORMATS,
    "csv": "a line per cell and per item",
    "parquet": "the same rows as csv",
}
_BY_ENDING = {
    ".md": "md", ".markdown": "md", ".html": "html", ".htm": "html", ".json": "json", ".csv": "csv",
    ".tex": "latex", ".parquet": "parquet",
}  # fmt: skip

__all__ = ["FORMATS", "STUDY_FORMATS", "format_by_name", "in_words", "write_report"]


def format_by_name(file: str | Path, formats: Mapping[str, str]) -> str:
    """Return the format with a file's suffix, or "" if ``formats`` has none."""
    format = _BY_ENDING.get(Path(file).suffix.lower(), "")
    return format if format in formats else ""


def in_words(formats: Mapping[str, str]) -> str:
    """Return a text such as ``md (Markdown), json (everything)``."""
    return ", ".join(f"{name} ({what})" for name, what in formats.items())


def write_report(
    session: Path, format: str, out: Path | None, item: str | None = None, *, damage: list[Damage] | None = None
) -> Path | str:
    """Write a report on a session and return its path, or the text if ``out`` is None; blocks while reading.

    Any damage to the session is appended to ``damage``.

    Raises:
        UsageError: The format or item is unknown, or ``out`` is a session.
        SessionError: The session cannot be read.
        ReportError: The report cannot be written, for example because the disk is full.
    """
    from workbench.pages.writing import check_place, session_report, write_atomically

    if out is None:
        return "".join(session_report(session, format, item, damage))
    check_place(out, session)
    return write_atomically(out, session_report(session, format, item, damage))
