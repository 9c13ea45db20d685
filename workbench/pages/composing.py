"""From a session file to the text of a report, in one consistent look while an engine may be writing."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.extensions import failure, is_dotted, load, make
from workbench.base.plugins import names, path_of
from workbench.base.text import one_line
from workbench.pages import FORMATS, PAGE_FORMATS, format_by_name
from workbench.pages.page import Page
from workbench.pages.writing import ReportError, write_atomically
from workbench.results.contents import read_contents
from workbench.results.items import find_item
from workbench.session.damage import Damage
from workbench.session.importer import ReportFormat
from workbench.session.reader import SessionReader

_ROWS = {"json": "records", "csv": "csv_report"}


def rendered(page: Page, format: str) -> Iterator[str]:
    """Yield a page in one of :data:`workbench.pages.PAGE_FORMATS`."""
    if format in _ROWS:
        from workbench.pages.rows import page_csv, page_json

        yield from page_csv(page) if format == "csv" else page_json(page)
        return
    yield from importlib.import_module(f"workbench.pages.{'markdown' if format == 'md' else format}").render(page)


def write_page(page: Page, out: Path, format: str = "") -> Path:
    """Write a page in a format, "" for that which the file's name ends in: Markdown without an ending. UsageError: no format ends so."""
    format = format or format_by_name(out, PAGE_FORMATS)
    if not format and out.suffix:
        raise UsageError(f"{one_line(out.suffix, 20)} names no format; choose from {', '.join(PAGE_FORMATS)}.")
    return write_atomically(out, rendered(page, format or "md"))


def compose(session: Path, format: str, item: str | None, damage: list[Damage] | None = None) -> Iterator[str]:
    """Yield the report piece by piece; ``damage`` gets what of the session could not be read."""
    if format not in FORMATS:
        yield _foreign(session, format, item)
        return
    with SessionReader(session) as reader:
        reader.hold()
        contents = read_contents(reader, None if item is None else find_item(reader, item))
        if format in _ROWS:
            yield from importlib.import_module(f"workbench.pages.{_ROWS[format]}").render(reader, contents)
        else:
            from workbench.pages.session_page import session_page

            yield from rendered(session_page(reader, contents), format)
        if damage is not None:
            damage += reader.damage


def _foreign(session: Path, format: str, item: str | None) -> str:
    path = path_of_format(format)
    if not path:
        known = ", ".join([*FORMATS, *foreign_names()])
        raise UsageError(f"There is no report format {format!r}; choose from {known}, or package.module:Class.")
    with SessionReader(session) as reader:
        reader.hold()
        return render_foreign(path, reader, item)


def path_of_format(format: str) -> str:
    return format if is_dotted(format) else path_of("report format", format)


def foreign_names() -> tuple[str, ...]:
    return names("report format")


def render_foreign(path: str, session: SessionReader, item: str | None) -> str:
    """Return the report of a format of another package, which knows whole sessions only.

    Raises:
        UsageError: It cannot be imported or lacks something, or an item is asked for.
        ReportError: It failed, or gave no text.
    """
    if item is not None:
        raise UsageError(f"The report format {path} writes whole sessions; leave --item out.")
    made = make("report format", load("report format", path, ReportFormat))
    try:
        text = made.render(session)
    except WorkbenchError:
        raise
    except Exception as error:
        raise ReportError(failure("report format", path, error)) from error
    if not isinstance(text, str):
        raise ReportError(f"The report format {path} failed: it gave {type(text).__name__}, not text.")
    return text
