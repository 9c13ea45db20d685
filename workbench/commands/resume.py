"""``workbench resume SESSION``: do what is missing."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

SUMMARY = "execute what is missing in a session: interrupted, cancelled and failed work"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("session", help="a session file, or the name of one")
    parser.add_argument("--run", help="only this run")
    parser.add_argument("--engine", default="", help="test elsewhere from now on: dask://HOST:PORT, or local")
    parser.add_argument("--json", action="store_true", help="print JSON lines; the last is the summary")


def run(arguments: argparse.Namespace) -> int:
    """Resume and follow."""
    from workbench.commands.run import watch
    from workbench.engine import client
    from workbench.engine.own_copy import own_copy
    from workbench.session import SessionReader

    session = client.resolve_session(arguments.session)
    with SessionReader(session) as reader:
        since = reader.last_change()
        kinds = {row.id: row.kind for row in reader.runs()}
        held = [row.id for row in reader.runs() if reader.holder(row.id) is not None]
        missing = client.unfinished(reader)
    if missing and (arguments.run is None or arguments.run in kinds):
        session = own_copy(session)
    if arguments.engine:
        from workbench.engine.regeneration_client import move

        move(session, arguments.engine, arguments.run or "")
    runs = client.resume(session, arguments.run)
    if held and not arguments.run:
        print(
            f"Being executed right now: {', '.join(held)}. Watch it: workbench open {session}; stop it: workbench cancel "
            f"{session}",
            file=sys.stderr,
        )
    elif not runs and not arguments.json:
        print("Nothing is missing: every run of this session is done.")

    def trials() -> list[str]:
        with SessionReader(session) as reader:
            return [row.id for row in reader.trials() if not arguments.run or row.run_id == arguments.run]

    mine = [key for key, kind in kinds.items() if arguments.run in (None, key) and kind == "regenerate"]
    documents = [key for key in runs if kinds[key] == "document"]
    code = 0
    if documents or not mine:
        code = watch(session, documents, None, arguments.json, trials)
    return (
        code
        if code == 130
        else max(code, _regenerations(arguments, session, [k for k in runs if k in mine], mine, since))
    )


def _regenerations(arguments: argparse.Namespace, session: Path, taken: list[str], every: list[str], since: int) -> int:
    """Follow the regeneration runs that were taken up; a script gets the summary of those that lacked nothing too."""
    from workbench.commands.regeneration_summary import summary
    from workbench.commands.regeneration_watching import watch_regeneration
    from workbench.commands.watching import print_json

    code = 0
    for key in every:
        if key in taken:
            code = max(code, watch_regeneration(session, key, None, since, arguments.json))
            if code == 130:
                break
        elif arguments.json:
            print_json(summary(session, key))
    return code
