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
    from workbench.commands.following import follow_all
    from workbench.engine import client

    session = client.resolve_session(arguments.session)
    runs = client.resume(session, arguments.run)
    if not runs and not arguments.json:
        print("Nothing is missing: every run of this session is done.")
    return follow_all(session, runs, arguments.json)
