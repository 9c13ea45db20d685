"""What installed packages offer under names of their own, by entry points: read from their metadata, nothing is imported.

An entry point (packaging.python.org, "Entry points specification") gives a name to a dotted path. A plug-in's name is what
a person types; in sessions stands the path, as for every class from outside, so that a session does not depend on who has
which name here. Our own names come first: a package cannot take one of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import metadata

from workbench.base.text import one_line

GROUPS = {
    "agent": "workbench.agents",
    "doc system": "workbench.doc_systems",
    "sandbox": "workbench.sandboxes",
    "judge": "workbench.judges",
    "importer": "workbench.importers",
    "report format": "workbench.report_formats",
    "theme": "workbench.themes",
}
"""Kind of a plug-in, as a person says it -> the group of its entry points."""
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry point.

    Attributes:
        kind: A key of :data:`GROUPS`.
        name: What a person types.
        path: Its dotted path, ``package.module:Class``; of a theme the package that holds its file,
            ``package.themes`` for ``package/themes/NAME.yaml``.
        package: Name and version of the package that declares it.
        problem: What is wrong with the entry itself, "" where nothing is; whether it can be imported is not looked at.
    """

    kind: str
    name: str
    path: str
    package: str
    problem: str = ""


@cache
def installed() -> tuple[Plugin, ...]:
    """Return all plug-ins of this environment by kind and name; of two with one name the second has that as its problem.

    A package whose metadata cannot be read has none.
    """
    found: list[Plugin] = []
    for kind, group in GROUPS.items():
        taken: dict[str, str] = {}
        for point in sorted(_points(group), key=lambda point: (point.name, _package(point))):
            name, path, package = one_line(point.name), one_line(point.value, 200), _package(point)
            problem = ""
            if not _NAME.fullmatch(name):
                problem = "its name must be of small letters, digits and . _ -, 64 at most"
            elif name in taken:
                problem = f"{taken[name]} has that name too, and comes first"
            taken.setdefault(name, package)
            found.append(Plugin(kind, name, path, package, problem))
    return tuple(found)


def path_of(kind: str, name: str) -> str:
    """Return the dotted path of a plug-in, "" where no package offers one of that kind and name."""
    usable = (one for one in installed() if one.kind == kind and one.name == name and not one.problem)
    return next((one.path for one in usable), "")


def names(kind: str) -> tuple[str, ...]:
    """Return the names of a kind that can be used."""
    return tuple(one.name for one in installed() if one.kind == kind and not one.problem)


def _points(group: str) -> list[metadata.EntryPoint]:
    try:
        return list(metadata.entry_points(group=group))
    except Exception:  # the metadata of any package may be damaged; without plug-ins everything goes on
        return []


def _package(point: metadata.EntryPoint) -> str:
    if point.dist is None:
        return ""
    return one_line(f"{point.dist.name} {point.dist.version}")
