"""``workbench merge A B … -o C``: several sessions as one new session."""

from __future__ import annotations

import argparse

from workbench.commands.arguments import Argument
from workbench.commands.output import print_json, say, say_path, tell
from workbench.engine.merging import merge
from workbench.session.session_names import new_place, resolve_session

ARGUMENTS: dict[str, Argument] = {
    "sessions SESSION…": "two session files or more, or their names",
    "-o --output NAME": ("the new session: a name, or a file", {"required": True}),
    "--json": "print one JSON object with the counts",
}


def run(arguments: argparse.Namespace) -> int:
    sources = [resolve_session(text) for text in arguments.sessions]
    merged = merge(sources, new_place(arguments.output), told=lambda name: tell(f"Reading {name}…"))
    if arguments.json:
        print_json({"type": "merged", "session": str(merged.path), "rows": merged.rows, "equal": merged.equal})
    else:
        say_path(merged.path)
        say(merged.sentence())
    return 0
