"""``workbench [open [SESSION]]``: open the app."""

from __future__ import annotations

import argparse
import os
import sys

from workbench.commands.arguments import shared

ARGUMENTS = {
    "[session]": "a session file or name",
    **shared("--read-only"),
}


def run(arguments: argparse.Namespace) -> int:
    from workbench.base import read_only
    from workbench.base.errors import UsageError
    from workbench.base.settings import load

    if arguments.read_only:
        # Subprocesses inherit this.
        os.environ[read_only.VARIABLE] = "1"
    # The app reads keys from standard input and draws on standard error; piped output means a script, or a browser.
    in_browser = os.environ.get("TEXTUAL_DRIVER", "").endswith(":BrowserDriver")
    if not in_browser and not all(
        stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)
    ):
        raise UsageError("The app needs a terminal; in a script use a command, for example `workbench show SESSION`.")
    if os.environ.get("TERM") == "dumb":
        raise UsageError(
            "TERM is dumb, so this terminal cannot position text. Use another one, or set TERM to its type, such as "
            "xterm-256color; `workbench show SESSION` works here."
        )
    from workbench.app.app import run_app

    session = None
    if arguments.session:
        from workbench.session.session_names import resolve_session

        session = resolve_session(arguments.session)
    return run_app(session, load())
