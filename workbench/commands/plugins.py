"""``workbench plugins``: what installed packages add, and whether it can be used."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

from workbench.base import glyphs
from workbench.base.errors import WorkbenchError
from workbench.base.extension_check import import_folders
from workbench.base.extensions import is_dotted
from workbench.base.plugins import GROUPS, Plugin, installed
from workbench.commands.output import print_json, say, sign
from workbench.commands.terminal import Terminal
from workbench.pages.page import Table

ARGUMENTS = {
    "--json": "print a JSON line per plug-in; the last is the summary",
}


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
    rows: list[tuple[str, ...]] = []
    for plugin in found:
        broken = plugin in wrong
        mark = sign(glyphs.VERDICTS["failed" if broken else "passed"], "broken" if broken else "ok")
        rows.append((f"{mark} {plugin.kind}", plugin.name, f"{plugin.path}  ({plugin.package})"))
        rows += [("", "", wrong[plugin])] if broken else []
    Terminal().parts([Table(("", "", ""), tuple(rows))])
    return 1 if wrong else 0


_SIDE_BY_SIDE = 4


def problems(plugins: Sequence[Plugin]) -> dict[Plugin, str]:
    classes = [plugin for plugin in plugins if not plugin.problem and plugin.kind != "theme" and is_dotted(plugin.path)]
    try:
        # One process for all where nothing is wrong; else each has its own, to find out whose fault it is.
        import_folders([(plugin.kind, plugin.path) for plugin in classes])
        plugins = [plugin for plugin in plugins if plugin not in classes]
    except WorkbenchError:
        pass
    with ThreadPoolExecutor(_SIDE_BY_SIDE) as threads:
        return {plugin: said for plugin, said in zip(plugins, threads.map(_problem, plugins), strict=True) if said}


def _problem(plugin: Plugin) -> str:
    if plugin.problem:
        return f"{plugin.package} offers {plugin.kind} {plugin.name!r}: {plugin.problem}."
    try:
        if plugin.kind == "theme":
            from workbench.app.theming import plugin_theme, read_theme

            read_theme(plugin_theme(plugin))
            return ""
        if not is_dotted(plugin.path):
            return f"{plugin.package} says {plugin.path!r} for {plugin.kind} {plugin.name}, which is not package.module:Class."
        import_folders([(plugin.kind, plugin.path)])
    except WorkbenchError as problem:
        return str(problem)
    return ""
