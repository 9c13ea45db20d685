"""``workbench export SESSION --to FORMAT``: trajectories, samples, verdicts and tables for other programs."""

from __future__ import annotations

import argparse

from workbench.commands.arguments import path, shared
from workbench.commands.output import look_for_damage, say, tell
from workbench.engine.session_names import resolve_session
from workbench.interchange.exporting import export
from workbench.interchange.formats import OUT


def add_arguments(parser: argparse.ArgumentParser) -> None:
    shared(parser, "session")
    parser.add_argument(
        "items",
        nargs="*",
        metavar="ITEM",
        help="trials, or runs of candidates: ids, their first characters, or cases; all unless given",
    )
    parser.add_argument(
        "--to", required=True, choices=sorted(OUT), help="; ".join(f"{name}: {what}" for name, what in OUT.items())
    )
    parser.add_argument(
        "-o", "--output", type=path, required=True, metavar="PATH", help="a file; where several are written, a folder"
    )
    parser.add_argument(
        "--accepted",
        action="store_true",
        help="only trials that are done, scored in full, and pass by every judge (60 of 100)",
    )


def run(arguments: argparse.Namespace) -> int:
    session = resolve_session(arguments.session)
    damaged = look_for_damage(session)
    written = export(session, arguments.to, arguments.output, arguments.items, accepted=arguments.accepted)
    for note in written.notes:
        tell(note)
    say(f"Written: {written.count:,} {written.what} to {arguments.output}")
    return damaged
