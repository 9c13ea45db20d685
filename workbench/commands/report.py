"""``workbench report SESSION``: a session as Markdown, HTML, JSON or CSV."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.commands.arguments import path
from workbench.commands.output import tell
from workbench.reports import FORMATS

if TYPE_CHECKING:
    from workbench.session.damage import Damage

SUMMARY = "write a report on a session, or on one item of it, as Markdown, HTML, JSON or CSV"
_BY_SUFFIX = {".md": "md", ".markdown": "md", ".html": "html", ".htm": "html", ".json": "json", ".csv": "csv"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("session", help="a session file, or the name of one")
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="md, html (one file that loads nothing), json (everything), csv (a line per trial, or per candidate in a "
        "session of regeneration only); without it, what FILE ends in, else md",
    )
    parser.add_argument(
        "-o", "--output", type=path, metavar="FILE", help="where to write it; standard output if not given"
    )
    parser.add_argument("--item", metavar="ITEM", help="only this trial or task: its id or the first characters of it")


def run(arguments: argparse.Namespace) -> int:
    """Write the report."""
    from workbench.commands.damaged import tell_damage
    from workbench.engine.session_names import resolve_session
    from workbench.reports import write_report

    out: Path | None = arguments.output
    format = arguments.format or (_BY_SUFFIX.get(out.suffix.lower(), "md") if out else "md")
    damage: list[Damage] = []
    written = write_report(resolve_session(arguments.session), format, out, arguments.item, damage=damage)
    if isinstance(written, Path):
        tell(f"Written: {written}")
        return tell_damage(damage)
    from workbench.reports.writing import encoded

    # As bytes: a report is UTF-8 whatever the terminal's encoding is.
    sys.stdout.flush()
    sys.stdout.buffer.write(encoded(written))
    sys.stdout.buffer.flush()
    return tell_damage(damage)
