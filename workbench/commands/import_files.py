"""``workbench import FILE…``: trajectories, samples and verdicts of other programs into a session."""

from __future__ import annotations

import argparse
import sys

from workbench.base.text import plural
from workbench.catalog import resolve_case
from workbench.commands.arguments import Argument, path, shared
from workbench.commands.ordering import session_path
from workbench.commands.output import print_json, say, say_path, tell, tell_over
from workbench.interop.formats.importing import Options, Tally, files_in, import_files
from workbench.interop.formats.reading import importer_named
from workbench.session import file
from workbench.session.json_forms import picked
from workbench.session.placing import discard_empty
from workbench.session.session_names import named

ARGUMENTS: dict[str, Argument] = {
    "files FILE…": (
        "files, or folders of them: ATIF, Inspect, SWE-agent, mini-swe-agent, OpenAI chat lines, EvalPlus, rows of tasks",
        path,
    ),
    "--format IMPORTER": "the importer of a plug-in, or package.module:Class, that reads all of them; without it each "
    "is known by what is in it",
    **shared("--session"),
    "--case CASE": "the test case that the trajectories are about, so that they can be scored",
    "--readme-is-last-message": "the last message of each trajectory is the README that was handed in",
    "--json": "print one JSON object with the counts",
}


def run(arguments: argparse.Namespace) -> int:
    """Import and say what came of it; 1 where something could not be read, 130 where it was stopped."""
    case = ""
    if arguments.case:
        case = resolve_case(arguments.case).id
    importer = importer_named(arguments.format) if arguments.format else None
    files = files_in(arguments.files) if importer is None else files_in(arguments.files, importer.endings)
    session = named(session_path(arguments.session))
    made = file.ensure(session)
    shown = not arguments.json and sys.stderr.isatty()

    def on_progress(tally: Tally) -> None:
        if shown:
            tell_over(
                f"{tally.done:,} of {tally.files:,} files · {tally.added:,} imported · {tally.known:,} there already"
            )

    tally = import_files(session, files, Options(case, arguments.readme_is_last_message, importer), on_progress)
    if shown:
        tell_over("")
    there = not (made and discard_empty(session))
    for told in (*tally.problems, *tally.remarks):
        tell(told)
    if arguments.json:
        counts = picked(tally, "added", "known", "files", "problems", "remarks", "stopped")
        place = str(session) if there else None
        print_json({"type": "imported", "session": place, "run": tally.run or None, **counts})
    else:
        if there:
            say_path(session)
        say(sentence(tally))
    return 130 if tally.stopped else 1 if tally.problems else 0


def sentence(tally: Tally) -> str:
    parts = [f"{tally.added:,} imported"]
    if tally.known:
        parts.append(f"{tally.known:,} there already")
    if tally.problems:
        parts.append(f"{len(tally.problems):,} could not be read")
    ended = (
        f"; stopped after {tally.done:,} of {tally.files:,} files, the same command goes on" if tally.stopped else ""
    )
    return ", ".join(parts) + f" ({plural(tally.files, 'file')}){ended}."
