"""Asks where a report of a session goes, and has it written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.toolkit.ask import AskText
from workbench.app.toolkit.handing_over import suggested_place
from workbench.app.toolkit.path_suggester import PathSuggester

if TYPE_CHECKING:
    from workbench.app.host import Host

FORMATS = ("html", "md", "json", "csv")


async def ask_and_export(host: Host, session: Path) -> None:
    """Ask for a file and write the report of a session there; call it from a worker."""
    note = f"The ending decides on the format: {', '.join('.' + ending for ending in FORMATS)}."
    suggested = suggested_place(host, f"{session.stem}.html")
    paths = None if host.in_browser else PathSuggester()
    answer = await host.push_screen_wait(AskText("Export report", note, suggested, suggester=paths))
    if answer:
        host.export_report(session, answer)
