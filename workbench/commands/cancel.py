"""``workbench cancel SESSION``: stop the runs of a session; what is done stays, resume goes on."""

from __future__ import annotations

import argparse

SUMMARY = "stop the runs of a session; what is done stays"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("session", help="a session file, or the name of one")
    parser.add_argument("--run", help="only this run")


def run(arguments: argparse.Namespace) -> int:
    """Cancel every run that waits or is executed."""
    from workbench.commands.watching import stop
    from workbench.engine import client
    from workbench.engine.own_copy import is_example
    from workbench.session import SessionReader

    session = client.resolve_session(arguments.session)
    with SessionReader(session) as reader:
        waiting = [
            row.id
            for row in reader.runs()
            if not is_example(session)
            and arguments.run in (None, row.id)
            and reader.run_state(row) in {"queued", "running", "interrupted"}
        ]
    for key in waiting:
        stop(session, key)
    print(f"{len(waiting)} cancelled. Go on with: workbench resume {session}" if waiting else "Nothing was running.")
    return 0
