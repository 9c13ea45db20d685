"""What installed packages offer under names of their own, by entry points: read from their metadata, nothing is imported.

An entry point (packaging.python.org, "Entry points specification") gives a name to a dotted path. A plug-in's name is what
a person types; in sessions stands the path, as for every class from outside, so that a session does not depend on who has
which name here. This package registers its optional parts in the same way. Its own names come first, so that a package
cannot take one of them, and stand in sessions as they are.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from workbench.base.errors import UsageError
from workbench.base.extensions import is_dotted, load, make
from workbench.base.text import one_line

GROUPS = {
    "agent": "workbench.agents",
    "doc system": "workbench.doc_systems",
    "sandbox": "workbench.sandboxes",
    "cluster": "workbench.clusters",
    "judge": "workbench.judges",
    "importer": "workbench.importers",
    "exporter": "workbench.exporters",
    "report format": "workbench.report_formats",
    "theme": "workbench.themes",
}
"""Kind of a plug-in, as a person says it -> the group of its entry points."""
_OWN = "docs-workbench"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry point; ``problem`` is what is wrong with the entry itself, whether it can be imported is not looked at."""

    kind: str  # a key of :data:`GROUPS`
    name: str  # what a person types
    path: str  # ``package.module:Class``; of a theme the package that holds its file, ``package.themes``
    package: str  # that declares it, with its version
    problem: str = ""
    own: bool = False  # of this package


@cache
def installed(*, own: bool = False) -> tuple[Plugin, ...]:
    """Return the plug-ins of this environment by kind and name, of other packages or this one's ``own``.

    Of two with one name the second has that as its problem. A package whose metadata cannot be read has none.
    """
    if own:
        return tuple(_own())
    found: list[Plugin] = []
    for kind, group in GROUPS.items():
        taken: dict[str, str] = {}
        points = [point for point in _points(group) if point.dist is None or point.dist.name != _OWN]
        for point in sorted(points, key=lambda point: (point.name, _package(point))):
            name, path, package = one_line(point.name), one_line(point.value, 200), _package(point)
            problem = ""
            if not _NAME.fullmatch(name):
                problem = "its name must be of small letters, digits and . _ -, 64 at most"
            elif name in taken:
                problem = f"{taken[name]} has that name too, and comes first"
            taken.setdefault(name, package)
            found.append(Plugin(kind, name, path, package, problem))
    return tuple(found)


def _own() -> Iterator[Plugin]:
    """Yield what this package registers; of a checkout what its pyproject.toml says, which may be newer than its installation."""
    import tomllib  # not at the top: the app starts without it

    project: dict[str, Any] = {}
    with contextlib.suppress(OSError, ValueError, KeyError):
        project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for kind, group in GROUPS.items():
        if project.get("name") == _OWN:
            points = project.get("entry-points", {}).get(group, {})
        else:
            points = {one.name: one.value for one in _points(group) if one.dist is not None and one.dist.name == _OWN}
        for name, path in sorted(points.items()):
            yield Plugin(kind, name, path, _OWN, own=True)


def plugin_named(kind: str, text: str) -> Plugin | None:
    """Return the plug-in that a name or a dotted path means, None where no package offers one of that kind and name."""
    if is_dotted(text):
        return Plugin(kind, text, text, "")
    every = (*installed(own=True), *installed())
    return next((one for one in every if (one.kind, one.name, one.problem) == (kind, text, "")), None)


def path_of(kind: str, name: str) -> str:
    """Return the dotted path of another package's plug-in, "" where none offers one of that kind and name."""
    usable = (one for one in installed() if one.kind == kind and one.name == name and not one.problem)
    return next((one.path for one in usable), "")


def names(kind: str, *, own: bool = False) -> tuple[str, ...]:
    """Return the names of a kind that can be used."""
    return tuple(one.name for one in installed(own=own) if one.kind == kind and not one.problem)


def named_class(kind: str, text: str, protocol: type[Any], folders: Sequence[str] = ()) -> Any:
    """Return an instance of the class that a name or dotted path means. UsageError: there is none, or see ``load``."""
    plugin = plugin_named(kind, text)
    if plugin is None:
        known = ", ".join([*names(kind, own=True), *names(kind)])
        raise UsageError(f"There is no {kind} {text!r}; choose from {known}, or package.module:Class.")
    found = make(kind, load(kind, plugin.path, protocol, folders))
    if plugin.own:
        found.name = text
    return found


def _points(group: str) -> list[metadata.EntryPoint]:
    try:
        return list(metadata.entry_points(group=group))
    except Exception:  # the metadata of any package may be damaged; without plug-ins everything goes on
        return []


def _package(point: metadata.EntryPoint) -> str:
    if point.dist is None:
        return ""
    return one_line(f"{point.dist.name} {point.dist.version}")
