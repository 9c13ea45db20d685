"""``workbench export SESSION --to FORMAT``: trajectories, samples, verdicts and tables for other programs."""

from __future__ import annotations

import argparse

from workbench.commands.arguments import Argument, path, shared
from workbench.commands.output import look_for_damage, say, tell
from workbench.interop.formats.exporting import export, own_exporters
from workbench.session.session_names import resolve_session

ARGUMENTS: dict[str, Argument] = {
    **shared("session"),
    "[items ITEM…]": "trials, or runs of candidates: ids, their first characters, or cases; all unless given",
    "--to TO": (
        "; ".join(f"{one.name}: {one.about}" for one in own_exporters())
        + "; or the exporter of a plug-in, or package.module:Class",
        {"required": True},
    ),
    "-o --output PATH": ("a file; where several are written, a folder", {"type": path, "required": True}),
    "--accepted": "only trials that are done, scored in full, and pass by every judge (60 of 100)",
}


def run(arguments: argparse.Namespace) -> int:
    session = resolve_session(arguments.session)
    damaged = look_for_damage(session)
    written = export(session, arguments.to, arguments.output, arguments.items, accepted=arguments.accepted)
    for note in written.notes:
        tell(note)
    say(f"Written: {written.count:,} {written.what} to {arguments.output}")
    return damaged
