"""Reports: a session, or one work item of it, as Markdown, HTML, JSON or CSV, for people and for other programs.

Others use :func:`write_report`, and of studies :func:`workbench.pages.study_report.write_study_report`, which needs numpy; ``workbench show`` also uses :mod:`workbench.results.items` (which item does a person
mean) and :mod:`workbench.pages.records` (rows as JSON values). Importing this front door costs nothing: the formats
load when a report is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.session.row_reader import Damage

PAGE_FORMATS: Mapping[str, str] = {
    "md": "Markdown",
    "html": "one file that loads nothing",
    "latex": "a fragment with booktabs",
    "json": "everything",
    "csv": "its tables",
}
"""What a page can be written as."""
FORMATS: Mapping[str, str] = {
    **PAGE_FORMATS,
    "csv": "a line per trial, or per candidate in a session of regeneration only",
}
"""The formats of a session, with what each is; packages add others. In LaTeX it has its sentences, tables and figures alone."""
STUDY_FORMATS: Mapping[str, str] = {
    **FORMATS,
    "csv": "a line per cell and per item",
    "parquet": "the rows of csv",
}
_BY_ENDING = {
    ".md": "md", ".markdown": "md", ".html": "html", ".htm": "html", ".json": "json", ".csv": "csv",
    ".tex": "latex", ".parquet": "parquet",
}  # fmt: skip

__all__ = ["FORMATS", "STUDY_FORMATS", "format_by_name", "in_words", "write_report"]


def format_by_name(file: str | Path, formats: Mapping[str, str]) -> str:
    """Return the one of ``formats`` that the ending of a file's name says, "" for none."""
    format = _BY_ENDING.get(Path(file).suffix.lower(), "")
    return format if format in formats else ""


def in_words(formats: Mapping[str, str]) -> str:
    """Return names of formats with what they are, for a person: ``md (Markdown), json (everything)``."""
    return ", ".join(f"{name} ({what})" for name, what in formats.items())


def write_report(
    session: Path, format: str, out: Path | None, item: str | None = None, *, damage: list[Damage] | None = None
) -> Path | str:
    """Write a report on a session; return the path written, or the text where ``out`` is None.

    It blocks while it reads. A file appears complete or not at all. ``damage`` gets what could not be read of the session.

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
