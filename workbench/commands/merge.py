"""``workbench merge A B … -o C``: several sessions as one new session."""

from __future__ import annotations

import argparse

from workbench.commands.output import print_json, say, say_path, tell
from workbench.engine.merging import merge
from workbench.engine.session_names import new_place, resolve_session


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sessions", nargs="+", metavar="SESSION", help="two session files or more, or their names")
    parser.add_argument("-o", "--output", required=True, metavar="NAME", help="the new session: a name, or a file")
    parser.add_argument("--json", action="store_true", help="print one JSON object with the counts")


def run(arguments: argparse.Namespace) -> int:
    sources = [resolve_session(text) for text in arguments.sessions]
    merged = merge(sources, new_place(arguments.output), told=lambda name: tell(f"Reading {name}…"))
    if arguments.json:
        print_json({"type": "merged", "session": str(merged.path), "rows": merged.rows, "equal": merged.equal})
    else:
        say_path(merged.path)
        say(merged.sentence())
    return 0
