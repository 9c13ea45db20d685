"""External classes by dotted path, ``package.module:Class``: the only place that recognises, imports and checks them.

Such a path can be used in place of the name of any built-in agent, back end, doc system or judge, and is also its name
in sessions. Each kind has a Protocol with the required members, and a page in docs/extending/.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import inspect
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from workbench.base.errors import UsageError
from workbench.base.text import one_line

_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)


class ExtensionProblem(UsageError):
    """A class cannot be imported or instantiated, or lacks a member; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """An external class."""

    path: str
    cls: type[Any]
    folder: str  # absolute folder from which its top-level module is imported


def is_dotted(text: str, reserved: Collection[str] = ()) -> bool:
    """Return whether ``text`` is a dotted path with a module that is not in ``reserved``."""
    return _DOTTED.fullmatch(text) is not None and text.partition(":")[0] not in reserved


def load(kind: str, path: str, protocol: type[Any], folders: Sequence[str] = ()) -> Loaded:
    """Import a class and check that it has every public member of ``protocol``, except ``name``, which is set later.

    ``kind`` describes the class in messages, for example ``agent``. Its module is searched for in ``folders`` (recorded
    by a plan), in the current working directory, and then on the usual import path. Raises ExtensionProblem.
    """
    module_name, _, class_name = path.partition(":")
    module = _imported(kind, path, module_name, folders)
    cls = getattr(module, class_name, None)
    where = getattr(module, "__file__", None) or "a namespace package"
    if cls is None:
        near = difflib.get_close_matches(class_name, [name for name in vars(module) if not name.startswith("_")], 1)
        hint = f"; did you mean {near[0]}?" if near else "."
        raise ExtensionProblem(f"There is no {kind} {path}: {module_name} ({where}) has no {class_name}{hint}")
    if not isinstance(cls, type):
        raise ExtensionProblem(f"There is no {kind} {path}: {class_name} in {where} is not a class.")
    lacks = list(_lacks(cls, protocol))
    if lacks:
        raise ExtensionProblem(f"{path} ({where}) is no {kind}: it {', and '.join(lacks)}.")
    return Loaded(path, cls, _folder(module))


def make(kind: str, loaded: Loaded, offered: Mapping[str, object] | None = None) -> Any:
    """Return an instance of a loaded class with its dotted path as ``name``.

    The constructor receives those of the ``offered`` arguments that it has parameters for. Raises ExtensionProblem if
    it needs other arguments or fails, or if ``name`` cannot be set.
    """
    try:
        parameters = inspect.signature(loaded.cls).parameters
    except (TypeError, ValueError):  # constructors written in C have no signature
        parameters = {}  # type: ignore[assignment]
    taken = {name: value for name, value in (offered or {}).items() if name in parameters}
    try:
        instance = loaded.cls(**taken)
        instance.name = loaded.path
    except Exception as error:
        raise ExtensionProblem(f"The {kind} {loaded.path} cannot be made: {_message_of(error)}.") from error
    return instance


def failure(kind: str, path: str, error: BaseException) -> str:
    """Return a sentence on an exception raised by an extension, with its file and line."""
    place, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        place, trace = f"{Path(code.co_filename).name}, line {trace.tb_lineno}", trace.tb_next
    return f"The {kind} {path} failed: {_message_of(error)}" + (f" ({place})." if place else ".")


def _imported(kind: str, path: str, name: str, folders: Sequence[str]) -> ModuleType:
    importlib.invalidate_caches()
    top = name.partition(".")[0]
    here = str(Path.cwd())
    # A module that is already imported needs no folder.
    places = () if top in sys.modules else (*folders, here)
    place = next((folder for folder in places if PathFinder.find_spec(top, [folder]) is not None), None)
    try:
        with _first(place):
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            looked = " or ".join(dict.fromkeys([*folders, here]))
            raise ExtensionProblem(
                f"There is no {kind} {path}: no module {error.name} in {looked}, on PYTHONPATH or installed."
            ) from None
        raise ExtensionProblem(f"There is no {kind} {path}: importing {name} failed: {_message_of(error)}.") from error
    except (Exception, SystemExit) as error:
        raise ExtensionProblem(f"There is no {kind} {path}: importing {name} failed: {_message_of(error)}.") from error


@contextmanager
def _first(folder: str | None) -> Iterator[None]:
    """Import from ``folder`` first; afterwards it is moved to the end, so that it hides no installed package."""
    if folder is None:
        yield
        return
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        if folder not in sys.path:
            sys.path.append(folder)


def _folder(module: ModuleType) -> str:
    file = getattr(module, "__file__", None)
    if file is None:
        places = list(getattr(module, "__path__", ()))
        return str(Path(places[0]).absolute().parents[module.__name__.count(".")]) if places else ""
    above = module.__name__.count(".") + (Path(file).name == "__init__.py")
    return str(Path(file).absolute().parents[above])


def _lacks(cls: type[Any], protocol: type[Any]) -> Iterator[str]:
    """Yield what a class lacks compared to a protocol: a member, an ``async``, or a parameter."""
    for name, wanted in _members(protocol).items():
        try:
            raw = inspect.getattr_static(cls, name)
        except AttributeError:
            yield f"lacks {name}()" if callable(wanted) else f"lacks the attribute {name}"
            continue
        if not callable(wanted):
            continue
        member = getattr(cls, name)
        if not callable(member):
            yield f"has no method {name}(), but an attribute"
            continue
        if inspect.iscoroutinefunction(wanted) and not inspect.iscoroutinefunction(member):
            yield f"has a {name}() that is not async"
        elif inspect.iscoroutinefunction(member) and not inspect.iscoroutinefunction(wanted):
            yield f"has a {name}() that must not be async"
        arguments = list(inspect.signature(wanted).parameters)
        passed = arguments[1:] if isinstance(raw, staticmethod | classmethod) else arguments
        try:
            inspect.signature(member).bind(*passed)
        except TypeError:
            yield f"has a {name}() that cannot be called as {name}({', '.join(arguments[1:])})"
        except ValueError:
            continue


def _members(protocol: type[Any]) -> dict[str, Any]:
    """Return the public members of a protocol except ``name``: functions unchanged, attributes as None."""
    members: dict[str, Any] = {}
    for base in reversed(protocol.__mro__):
        if getattr(base, "_is_protocol", False):
            members |= dict.fromkeys(inspect.get_annotations(base))
            members |= {name: value if inspect.isfunction(value) else None for name, value in vars(base).items()}
    return {name: value for name, value in members.items() if not name.startswith("_") and name != "name"}


def _message_of(error: BaseException) -> str:
    message = one_line(str(error), 200).rstrip(".")
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


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
"""Kind of a plug-in -> group of its entry points."""
_OWN = "docs-workbench"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Plugin:
    """An entry point, which is not imported; ``problem`` says what is wrong with the entry."""

    kind: str  # a key of :data:`GROUPS`
    name: str  # as typed on the command line
    path: str  # ``package.module:Class``; for a theme, the package with its file, ``package.themes``
    package: str  # the package that declares it, with its version
    problem: str = ""
    own: bool = False  # whether this package declares it


@cache
def installed(*, own: bool = False) -> tuple[Plugin, ...]:
    """Return the plug-ins of this environment by kind and name, from other packages or, with ``own``, from this one.

    If two have the same name, the second one's problem says so. Packages with unreadable metadata are skipped.
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
                problem = "its name must consist of at most 64 lower-case letters, digits and . _ -"
            elif name in taken:
                problem = f"{taken[name]} also has that name and takes precedence"
            taken.setdefault(name, package)
            found.append(Plugin(kind, name, path, package, problem))
    return tuple(found)


def _own() -> Iterator[Plugin]:
    """Yield the plug-ins of this package.

    In a checkout they are read from pyproject.toml, which may be newer than the installation.
    """
    import tomllib  # not at the top, because the app starts without it

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
    """Return the plug-in for a name or a dotted path, or None if no package has one of that kind and name."""
    if is_dotted(text):
        return Plugin(kind, text, text, "")
    every = (*installed(own=True), *installed())
    return next((one for one in every if (one.kind, one.name, one.problem) == (kind, text, "")), None)


def path_of(kind: str, name: str) -> str:
    """Return the dotted path of another package's plug-in, or "" if there is none of that kind and name."""
    usable = (one for one in installed() if one.kind == kind and one.name == name and not one.problem)
    return next((one.path for one in usable), "")


def names(kind: str, *, own: bool = False) -> tuple[str, ...]:
    """Return the names of the usable plug-ins of a kind."""
    return tuple(one.name for one in installed(own=own) if one.kind == kind and not one.problem)


def named_class(kind: str, text: str, protocol: type[Any], folders: Sequence[str] = ()) -> Any:
    """Return an instance of the class for a name or dotted path.

    Raises UsageError if there is no such class, or if :func:`load` or :func:`make` fails.
    """
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
    except Exception:  # damaged metadata of a package only means that its plug-ins are not found
        return []


def _package(point: metadata.EntryPoint) -> str:
    if point.dist is None:
        return ""
    return one_line(f"{point.dist.name} {point.dist.version}")
