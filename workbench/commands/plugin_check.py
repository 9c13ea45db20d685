"""Which plug-ins cannot be used, and why: they are imported in processes of their own, which one may end or block."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from workbench.errors import WorkbenchError
from workbench.extensions import is_dotted
from workbench.plugins import Plugin

_SIDE_BY_SIDE = 4


def problems(plugins: Sequence[Plugin]) -> dict[Plugin, str]:
    """Return the sentence for each plug-in that cannot be used."""
    from workbench.engine.extension_check import import_folders

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
    from workbench.engine.extension_check import import_folders

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
