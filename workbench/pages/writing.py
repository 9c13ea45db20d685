"""Render a page or session in a format, and write the result completely or not at all, but never over a session."""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.extensions import failure, is_dotted, load, make, names, path_of
from workbench.base.files import building_beside
from workbench.base.reasons import last_words
from workbench.base.text import one_line
from workbench.pages import FORMATS, PAGE_FORMATS, format_by_name
from workbench.pages.page import ReportPage
from workbench.results.contents import read_contents
from workbench.results.items import find_item
from workbench.session.reader import SessionReader
from workbench.session.row_reader import Damage

_SQLITE = b"SQLite format 3\x00"
_TIMEOUT = 600.0


class ReportFormat(Protocol):
    """Writes a session in a format that a plug-in defines."""

    name: str

    def render(self, session: SessionReader) -> str:
        """Return the whole report; ``session`` is in a single read transaction, so that its rows are consistent."""


class ReportError(WorkbenchError):
    """A report could not be written."""


# -- rendering


def rendered(page: ReportPage, format: str) -> Iterator[str]:
    """Yield a page in one of :data:`workbench.pages.PAGE_FORMATS`."""
    if format in ("csv", "json"):
        from workbench.pages.rows import page_csv, page_json

        yield from page_csv(page) if format == "csv" else page_json(page)
        return
    yield from importlib.import_module(f"workbench.pages.{'markdown' if format == 'md' else format}").render(page)


def session_report(session: Path, format: str, item: str | None, damage: list[Damage] | None = None) -> Iterator[str]:
    """Yield a report in pieces, all read from a single state of the session.

    Any damage to the session is appended to ``damage``.
    """
    with SessionReader(session) as reader:
        reader.hold()
        if format not in FORMATS:
            yield render_plugin(_format_path(format), reader, item)
            return
        contents = read_contents(reader, None if item is None else find_item(reader, item))
        if format == "json":
            from workbench.pages.session_json import report_json

            yield from report_json(reader, contents)
        elif format == "csv":
            from workbench.pages.rows import session_csv

            yield from session_csv(reader, contents)
        else:
            from workbench.pages.session_page import session_page

            yield from rendered(session_page(reader, contents), format)
        if damage is not None:
            damage += reader.damage


def plugin_formats() -> tuple[str, ...]:
    return names("report format")


def _format_path(format: str) -> str:
    path = format if is_dotted(format) else path_of("report format", format)
    if not path:
        known = ", ".join([*FORMATS, *plugin_formats()])
        raise UsageError(f"There is no report format {format!r}; choose from {known}, or package.module:Class.")
    return path


def render_plugin(path: str, session: SessionReader, item: str | None) -> str:
    """Return a report in a plug-in's format, which covers whole sessions only.

    Raises:
        UsageError: The class cannot be imported or lacks a method, or an item was requested.
        ReportError: The class failed or returned something other than text.
    """
    if item is not None:
        raise UsageError(f"The report format {path} covers whole sessions only; leave out --item.")
    made = make("report format", load("report format", path, ReportFormat))
    try:
        text = made.render(session)
    except WorkbenchError:
        raise
    except Exception as error:
        raise ReportError(failure("report format", path, error)) from error
    if not isinstance(text, str):
        raise ReportError(f"The report format {path} failed: it returned {type(text).__name__}, not text.")
    return text


# -- writing


def write_page(page: ReportPage, out: Path, format: str = "") -> Path:
    """Write a page in a format; the default is that of the file's suffix, or Markdown without a suffix.

    Raises UsageError for an unknown suffix.
    """
    format = format or format_by_name(out, PAGE_FORMATS)
    if not format and out.suffix:
        raise UsageError(
            f"{one_line(out.suffix, 20)} is not the suffix of a format; choose from {', '.join(PAGE_FORMATS)}."
        )
    return write_atomically(out, rendered(page, format or "md"))


def encoded(text: str) -> bytes:
    r"""Return the text as UTF-8; a lone surrogate, which UTF-8 cannot represent, becomes ``\udXXX``, as in JSON."""
    return text.encode("utf-8", "backslashreplace")


def check_place(out: Path, session: Path | None) -> None:
    """Refuse a folder, and a session or one of its side files, because the report would overwrite it."""
    if out.is_dir():
        raise UsageError(f"{out} is a folder; name a file in it, for example {out / 'report.html'}.")
    same = False
    if session is not None:
        own = {session.resolve(), Path(f"{session.resolve()}-wal"), Path(f"{session.resolve()}-shm")}
        same = out.resolve() in own
        with contextlib.suppress(OSError):
            same = same or (out.exists() and out.samefile(session))
    if same or _is_database(out):
        raise UsageError(f"{out} is a session file, which the report would overwrite; choose another name.")


def _is_database(path: Path) -> bool:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def write_atomically(out: Path, chunks: Iterable[str | bytes]) -> Path:
    """Write ``chunks`` to a file beside ``out`` and rename it; a device or pipe is written directly.

    Raises:
        ReportError: The disk is full, or the folder is missing or not writable.
    """
    place = out.resolve()
    direct = place.exists() and not place.is_file()
    building = place if direct else building_beside(place, "new")
    try:
        with building.open("wb") as file:
            for chunk in chunks:
                file.write(chunk if isinstance(chunk, bytes) else encoded(chunk))
            file.flush()
            if not direct:
                os.fsync(file.fileno())
        if not direct:
            building.replace(place)
    except OSError as error:
        raise ReportError(_problem(out, error)) from None
    finally:
        if not direct:
            with contextlib.suppress(OSError):
                building.unlink(missing_ok=True)
    return out


def _problem(out: Path, error: OSError) -> str:
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return f"The disk is full, so {out} was not written; free some space or choose another folder."
    if error.errno == errno.ENOENT:
        return f"The folder {out.parent} does not exist; create it or choose another one."
    return f"{out} could not be written: {error.strerror or error}."


# -- in a subprocess, for the app


def write_study_in_subprocess(session: Path | None, study: str, format: str, out: Path) -> None:
    """Write the report on a study, or on the published tables, in a subprocess; importing numpy would block the app."""
    where = [str(session)] if session is not None else []
    _report_command([*where, "--study", study, "--format", format, "-o", str(out)])


def write_plugin_in_subprocess(session: Path, format: str, out: Path) -> None:
    """Write a report in a plug-in's format, in a subprocess, because importing the plug-in may end the process."""
    _report_command([str(session), "--format", format, "-o", str(out)])


def _report_command(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "workbench", "report", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise WorkbenchError(f"The report was not finished after {_TIMEOUT / 60:.0f} minutes.") from None
    # The report on a damaged session is written even if the exit code is 1.
    if "Written: " not in done.stderr:
        problem = last_words(done.stderr).removeprefix("workbench: ")
        raise WorkbenchError(problem or "The report could not be written.")
