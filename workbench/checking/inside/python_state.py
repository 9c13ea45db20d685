"""What a snippet leaves behind in its process besides its own names: module state, compared before and after.

Standard library only. It compares every value in the environment's modules and what programs usually set in the standard
library. What cannot be compared (extension modules, unknown types, too many objects) counts as left behind.
"""

from __future__ import annotations

import collections
import functools
import io
import itertools
import os
import pickle
import re
import sys
import types
from typing import Any

MOST = 400_000  # bytes of what is written
#: Types of C whose instances never change, or whose changes nobody can see.
FIXED = (
    types.BuiltinFunctionType, types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType,
    types.GetSetDescriptorType, types.MemberDescriptorType, types.MethodWrapperType, types.CodeType, types.GenericAlias,
    types.ModuleType, re.Pattern,
)  # fmt: skip
FIXED_NAMES = {
    "lock", "RLock", "Struct", "date", "datetime", "time", "timedelta", "timezone", "Decimal", "UnionType", "TypeVar",
    "ParamSpec", "TypeVarTuple", "itemgetter", "attrgetter", "methodcaller", "weakref", "ReferenceType", "TextIOWrapper",
    "_abc_data", "_thread.lock", "_thread.RLock", "_tuplegetter", "ZoneInfo", "EncodedFile",
}  # fmt: skip
COUNTERS: tuple[type, ...] = (itertools.count, itertools.cycle, type(iter([])), type(iter(())))
STDLIB = frozenset(getattr(sys, "stdlib_module_names", ())) | {"__main__", "__mp_main__"}
#: Modules whose globals are caches, or change with every import.
NOISY = {"__main__", "__mp_main__", "sys", "linecache", "re", "_strptime", "traceback", "warnings", "sre_compile"}
HEAP_TYPE = 1 << 9


class Unsure(Exception):
    """Something cannot be compared."""


class Bounded(io.BytesIO):
    def write(self, data: Any) -> int:
        if self.tell() > MOST:
            raise Unsure
        return super().write(data)


class StatePickler(pickle.Pickler):
    """Writes all that is reachable from modules, for nobody to read: the same bytes as long as nothing has changed."""

    def reducer_override(self, value: Any) -> Any:
        kind = type(value)
        if value is object:
            return NotImplemented
        if isinstance(value, FIXED) or kind.__name__ in FIXED_NAMES:
            return object, (), id(value)
        if isinstance(value, type) and not is_compared(value.__module__):
            return object, (), id(value)
        held: Any = contents(value, kind)
        attributes = [] if isinstance(value, (type, types.FunctionType)) else attributes_of(value, kind)
        if held is None and not attributes and not kind.__flags__ & HEAP_TYPE:
            raise Unsure  # no class of Python's, and nothing is known of it
        return object, (), (id(value), held, attributes)


def contents(value: Any, kind: type) -> Any:
    """What is in a value besides its attributes; None where nothing is known of that."""
    if isinstance(value, type):
        names = ("__dict__", "__weakref__", "__doc__", "__abstractmethods__")
        return len(type.__subclasses__(value)), [one for one in vars(value).items() if one[0] not in names]
    if isinstance(value, types.FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or () if cell_filled(cell)]
        own = (value.__defaults__, value.__kwdefaults__, value.__dict__, cells)
        return own if is_compared(value.__module__ or "") else ()
    if isinstance(value, (dict, types.MappingProxyType)):
        return list(value.items())
    if isinstance(value, (list, tuple, set, frozenset, collections.deque)):
        return list(value)
    if isinstance(value, types.MethodType):
        return value.__self__, value.__func__
    if isinstance(value, (staticmethod, classmethod)):
        return (value.__func__,)
    if isinstance(value, property):
        return value.fget, value.fset, value.fdel
    if isinstance(value, functools.partial):
        return value.func, value.args, value.keywords
    if kind.__name__ == "_lru_cache_wrapper":
        return tuple(value.cache_info())
    if kind.__name__ == "ContextVar":
        return (value.get(None),)
    return repr(value.__reduce__()) if kind in COUNTERS else () if kind is object else None


def attributes_of(value: Any, kind: type) -> list[tuple[str, Any]]:
    held = getattr(value, "__dict__", None)
    found = list(held.items()) if isinstance(held, dict) else []
    if kind.__name__ in ("Logger", "RootLogger"):
        found = [one for one in found if one[0] != "_cache"]
    for one in kind.__mro__:
        slots = one.__dict__.get("__slots__", ())
        names = [name for name in ((slots,) if isinstance(slots, str) else slots) if hasattr(value, name)]
        found += [(name, getattr(value, name)) for name in names if name not in ("__dict__", "__weakref__")]
    return found


def cell_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def is_compared(module: Any) -> bool:
    return isinstance(module, str) and module.split(".")[0] not in STDLIB


def own_modules() -> dict[str, types.ModuleType]:
    return {
        name: one for name, one in list(sys.modules.items()) if is_compared(name) and isinstance(one, types.ModuleType)
    }


def standard() -> dict[tuple[str, str], tuple[int | None, Any]]:
    """Globals of the standard library that are no modules or caches, with their lengths."""
    found = {}
    for module, one in list(sys.modules.items()):
        if is_compared(module) or module in NOISY or not isinstance(one, types.ModuleType):
            continue
        for name, value in list(vars(one).items()):
            if isinstance(value, types.ModuleType) or name.startswith("__") or name == "_" or "cache" in name.lower():
                continue
            found[module, name] = (len(value) if type(value) in (list, dict, set) else None, value)
    return found


def world() -> dict[str, Any]:
    """Process state that programs usually set."""

    def of(module: str, function: Any) -> Any:
        return function(sys.modules[module]) if module in sys.modules else None

    def loggers(logging: Any) -> Any:
        named = sorted(logging.root.manager.loggerDict.items())
        each = [("", logging.root), *((name, one) for name, one in named if isinstance(one, logging.Logger))]
        return (
            logging.root.manager.disable,
            [(name, one.level, list(map(id, one.handlers)), one.propagate, one.disabled) for name, one in each],
        )

    return {
        "folder": os.getcwd(),
        "variables": dict(os.environ),
        "path": list(sys.path),
        "arguments": list(sys.argv),
        "hooks": [
            id(one)
            for one in (
                sys.stdin,
                sys.stdout,
                sys.stderr,
                sys.displayhook,
                sys.excepthook,
                *sys.meta_path,
                *sys.path_hooks,
            )
        ],
        "limits": (sys.getrecursionlimit(), sys.getswitchinterval(), sys.gettrace() is None, sys.getprofile() is None),
        "warnings": of("warnings", lambda module: [tuple(map(str, one)) for one in module.filters]),
        "threads": len(sys._current_frames()),
        "random": of("random", lambda module: hash(module.getstate())),
        "decimal": of("decimal", lambda module: repr(module.getcontext())),
        "locale": of("locale", lambda module: module.setlocale(module.LC_ALL)),
        "socket": of("_socket", lambda module: module.getdefaulttimeout()),
        "exit": of("atexit", lambda module: module._ncallbacks()),
        "garbage": of("gc", lambda module: module.isenabled()),
        "signals": of("signal", lambda module: [id(module.getsignal(one)) for one in sorted(module.valid_signals())]),
        "dialects": of("_csv", lambda module: module.list_dialects()),
        "logging": of("logging", loggers),
    }


class State:
    """State of this process, taken after imports."""

    def __init__(self) -> None:
        self.known: Any = None
        self.standard: dict[tuple[str, str], tuple[int | None, Any]] = {}
        self.unsure = False

    def take(self) -> None:
        try:
            self.known, self.standard = look(), standard()
        except Exception:
            self.unsure = True

    def changed(self) -> bool:
        try:
            now, known = standard(), {module for module, _ in self.standard}
            if any(key[0] in known for key in now.keys() - self.standard.keys()):
                return True
            same = all(
                key in now and now[key][1] is value and now[key][0] == length
                for key, (length, value) in self.standard.items()
            )
            return self.unsure or not same or look() != self.known
        except Exception:
            self.unsure = True
            return True


def look() -> tuple[Any, ...]:
    """Own modules, what programs usually set, and what is in the modules."""
    modules = own_modules()
    if any(str(getattr(one, "__file__", None) or "").endswith((".so", ".pyd")) for one in modules.values()):
        raise Unsure
    unseen = ("__builtins__", "__loader__", "__spec__", "__doc__")
    globals_of = [one for module in modules.values() for one in vars(module).items() if one[0] not in unseen]
    written = Bounded()
    StatePickler(written).dump([one for one in globals_of if not isinstance(one[1], types.ModuleType)])
    return list(modules), world(), written.getvalue()
