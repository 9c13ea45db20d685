"""From a session file to the text of a report, in one consistent look while an engine may be writing."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

from workbench.errors import UsageError
from workbench.reports import FORMATS
from workbench.reports.contents import read_contents
from workbench.results.items import find_item
from workbench.session.damage import Damage
from workbench.session.reader import SessionReader

_MODULES = {"md": "page_markdown", "html": "html_report", "json": "json_report", "csv": "csv_report"}


def compose(session: Path, format: str, item: str | None, damage: list[Damage] | None = None) -> Iterator[str]:
    """Yield the report piece by piece; ``damage`` gets what of the session could not be read.

    Raises:
        UsageError: The format or the item is unknown; at the first piece.
        SessionError: The session cannot be read.
    """
    if format not in _MODULES:
        yield _foreign(session, format, item)
        return
    renderer = importlib.import_module(f"workbench.reports.{_MODULES[format]}")
    with SessionReader(session) as reader:
        reader.hold()
        chosen = None if item is None else find_item(reader, item)
        yield from renderer.render(reader, read_contents(reader, chosen))
        if damage is not None:
            damage += reader.damage


def _foreign(session: Path, format: str, item: str | None) -> str:
    from workbench.reports.foreign_format import foreign_names, path_of_format, render_foreign

    path = path_of_format(format)
    if not path:
        known = ", ".join([*FORMATS, *foreign_names()])
        raise UsageError(f"There is no report format {format!r}; choose from {known}, or package.module:Class.")
    with SessionReader(session) as reader:
        reader.hold()
        return render_foreign(path, reader, item)
