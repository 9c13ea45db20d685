"""``workbench locate [WHAT]``: where things are kept."""

from __future__ import annotations

import argparse

from workbench.base import paths
from workbench.commands.arguments import Argument
from workbench.commands.output import print_json, say, say_path

PLACES = {
    "config": paths.config_file,
    "sessions": paths.sessions_dir,
    "trash": paths.trash_dir,
    "cases": paths.own_cases_dir,
    "themes": paths.own_themes_dir,
    "cache": paths.cache_dir,
    "logs": paths.state_dir,
}


ARGUMENTS: dict[str, Argument] = {
    "[what]": ("one of them; its bare path is printed", {"choices": sorted(PLACES), "default": None}),
    "--json": "print one JSON object",
}


def run(arguments: argparse.Namespace) -> int:
    if arguments.json:
        chosen = [arguments.what] if arguments.what else PLACES
        print_json({"type": "places", **{name: str(PLACES[name]()) for name in chosen}})
    elif arguments.what:
        say_path(PLACES[arguments.what]())
    else:
        for name, place in PLACES.items():
            there = "" if place().exists() else "  (not there yet)"
            say(f"{name:<9} {place()}{there}")
    return 0
