"""``workbench [open [SESSION]]``: the app."""

from __future__ import annotations

import argparse

SUMMARY = "open the app, on a session if one is named"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("session", nargs="?", help="a session file, or the name of one")


def run(arguments: argparse.Namespace) -> int:
    """Open the app and return its exit code."""
    from workbench.app.app import run_app
    from workbench.settings import load

    session = None
    if arguments.session:
        from workbench.engine.client import resolve_session

        session = resolve_session(arguments.session)
    return run_app(session, load())
