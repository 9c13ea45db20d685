"""``workbench rerun SESSION ITEM``: run one work item once more."""

from __future__ import annotations

import argparse

SUMMARY = "run one trial once more, as the next repeat"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("session", help="a session file, or the name of one")
    parser.add_argument("item", help="a trial's id, or its first characters; `workbench show SESSION` lists them")
    parser.add_argument("--model", help="with another model")
    parser.add_argument("--json", action="store_true", help="print JSON lines; the last is the summary")


def run(arguments: argparse.Namespace) -> int:
    """Rerun and follow."""
    from workbench.commands.run import watch
    from workbench.engine import client
    from workbench.session import SessionReader

    session = client.resolve_session(arguments.session)
    trial = client.rerun(session, arguments.item, model=arguments.model)
    with SessionReader(session) as reader:
        row = reader.trial(trial)
    assert row is not None
    return watch(session, [row.run_id], None, arguments.json, lambda: [trial])
