"""``workbench plugins``: what installed packages add, and whether it can be used."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from workbench import glyphs
from workbench.commands.output import print_json, say, sign
from workbench.commands.plugin_check import problems
from workbench.plugins import GROUPS, installed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--json", action="store_true", help="print a JSON line per plug-in; the last is the summary")


def run(arguments: argparse.Namespace) -> int:
    """Try each plug-in in a process of its own and print; 1 if one cannot be used."""
    found = installed()
    wrong = problems(found)
    if arguments.json:
        for plugin in found:
            print_json({"type": "plugin", **asdict(plugin), "problem": wrong.get(plugin, "")})
        print_json({"type": "summary", "plugins": len(found), "broken": len(wrong)})
        return 1 if wrong else 0
    if not found:
        say(
            f"No installed package adds anything; the groups are {', '.join(GROUPS.values())} (docs/extending/plugins.md)."
        )
        return 0
    for plugin in found:
        broken = plugin in wrong
        mark = sign(glyphs.VERDICTS["failed" if broken else "passed"], "broken" if broken else "ok")
        say(f"{mark} {plugin.kind:<13} {plugin.name:<20} {plugin.path}  ({plugin.package})")
        if broken:
            say(f"    {wrong[plugin]}")
    return 1 if wrong else 0
