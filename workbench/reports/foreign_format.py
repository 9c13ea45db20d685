"""Report formats of other packages: found by name or dotted path, asked, and their failures said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.errors import UsageError, WorkbenchError
from workbench.extensions import failure, is_dotted, load, make
from workbench.plugins import names, path_of
from workbench.reports.writing import ReportError
from workbench.session.importer import ReportFormat

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader


def path_of_format(format: str) -> str:
    """Return the dotted path of a format of another package, "" where there is none of that name."""
    return format if is_dotted(format) else path_of("report format", format)


def foreign_names() -> tuple[str, ...]:
    """Return the names of the formats that plug-ins offer."""
    return names("report format")


def render_foreign(path: str, session: SessionReader, item: str | None) -> str:
    """Return the report of a format of another package.

    Args:
        path: Its dotted path.
        session: The session.
        item: Must be None: such a format knows whole sessions only.

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
