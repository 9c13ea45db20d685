"""``workbench resume SESSION``: do what is missing."""

from __future__ import annotations

import argparse

SUMMARY = "execute what is missing in a session: interrupted, cancelled and failed work"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("session", help="a session file, or the name of one")
    parser.add_argument("--run", help="only this run")
    parser.add_argument("--json", action="store_true", help="print JSON lines; the last is the summary")


def run(arguments: argparse.Namespace) -> int:
    """Resume and follow."""
    from workbench.commands.run import watch
    from workbench.engine import client
    from workbench.session import SessionReader

    session = client.resolve_session(arguments.session)
    runs = client.resume(session, arguments.run)
    if not runs and not arguments.json:
        print("Nothing is missing: every run of this session is done.")

    def trials() -> list[str]:
        with SessionReader(session) as reader:
            return [row.id for row in reader.trials() if not arguments.run or row.run_id == arguments.run]

    return watch(session, runs, None, arguments.json, trials)
