"""What a snippet leaves behind in its process besides its own names: module state, compared before and after.

Standard library only. It compares every value in the environment's modules and what programs usually set in the standard
library. What cannot be compared (extension modules, unknown types, too many objects) counts as left behind.
"""

from __future__ import annotations

import collections
import functools
import itertools
import os
import re
import sys
import types
from typing import Any

MOST = 20_000
SCALARS = (str, int, float, bool, bytes, complex, type(None), type(Ellipsis), type(NotImplemented), range, slice)
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


class Unsure(Exception):
    """Something cannot be compared."""


class Walk:
    """Everything reachable from modules, as a list to compare."""

    def __init__(self) -> None:
        self.atoms: list[tuple[bool, Any]] = []  # whether it is compared by identity, and the value
        self.seen: set[int] = set()

    def value(self, value: Any) -> None:
        if len(self.atoms) > MOST:
            raise Unsure
        kind = type(value)
        if kind in SCALARS:
            self.atoms.append((False, (kind, value if value == value else repr(value))))
            return
        self.atoms.append((True, value))
        if id(value) in self.seen:
            return
        self.seen.add(id(value))
        self.inside(value, kind)

    def inside(self, value: Any, kind: type) -> None:
        if isinstance(value, FIXED) or kind is object:
            return
        if isinstance(value, dict):
            for key, held in list(value.items()):
                self.value(key)
                self.value(held)
        elif isinstance(value, (list, tuple, collections.deque)):
            self.several(value)
        elif isinstance(value, (set, frozenset)):
            self.several(sorted(value, key=id))
        elif isinstance(value, types.MappingProxyType):
            self.inside(dict(value), dict)
        elif isinstance(value, type):
            if is_compared(getattr(value, "__module__", "")):
                self.atoms.append((False, len(type.__subclasses__(value))))
                for name, held in list(vars(value).items()):
                    if name not in ("__dict__", "__weakref__", "__doc__", "__abstractmethods__"):
                        self.value(held)
            return
        elif isinstance(value, types.FunctionType):
            if is_compared(value.__module__ or ""):
                self.several((value.__defaults__, value.__kwdefaults__, value.__dict__))
                self.several([cell.cell_contents for cell in value.__closure__ or () if cell_filled(cell)])
            return
        elif isinstance(value, types.MethodType):
            self.several((value.__self__, value.__func__))
        elif isinstance(value, (staticmethod, classmethod)):
            self.value(value.__func__)
        elif isinstance(value, property):
            self.several((value.fget, value.fset, value.fdel))
        elif isinstance(value, functools.partial):
            self.several((value.func, value.args, value.keywords))
        elif hasattr(kind, "cache_info") and kind.__name__ == "_lru_cache_wrapper":
            self.atoms.append((False, tuple(value.cache_info())))
        elif kind in COUNTERS:
            self.atoms.append((False, repr(value.__reduce__())))
        elif kind.__name__ == "ContextVar":
            self.value(value.get(None))
            return
        held = self.attributes(value, kind)
        if not held and not isinstance(value, (dict, list, tuple, set, frozenset, collections.deque)):
            known = kind.__name__ in FIXED_NAMES or isinstance(
                value,
                (types.MethodType, staticmethod, classmethod, property, functools.partial, types.MappingProxyType),
            )
            known = known or kind in COUNTERS or kind.__name__ == "_lru_cache_wrapper"
            if not known and not (kind.__flags__ & (1 << 9)):  # no class of Python's, and nothing is known of it
                raise Unsure

    def several(self, values: Any) -> None:
        self.atoms.append((False, len(values)))
        for one in values:
            self.value(one)

    def attributes(self, value: Any, kind: type) -> bool:
        found = False
        held = getattr(value, "__dict__", None)
        if isinstance(held, dict):
            found = True
            for name, one in list(held.items()):
                if not (name == "_cache" and kind.__name__ in ("Logger", "RootLogger")):
                    self.value(name)
                    self.value(one)
        for one in kind.__mro__:
            slots = one.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                found = True
                if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                    self.value(getattr(value, name))
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


def same(before: tuple[bool, Any], now: tuple[bool, Any]) -> bool:
    return before[1] is now[1] if before[0] else bool(before[1] == now[1])


class State:
    """State of this process, taken after imports."""

    def __init__(self) -> None:
        self.modules: dict[str, types.ModuleType] = {}
        self.atoms: list[tuple[bool, Any]] = []
        self.standard: dict[tuple[str, str], tuple[int | None, Any]] = {}
        self.world: dict[str, Any] = {}
        self.unsure = False

    def take(self) -> None:
        if self.unsure:
            return
        try:
            self.modules = own_modules()
            self.atoms = self.walked()
            self.standard, self.world = standard(), world()
        except Exception:
            self.unsure = True

    def walked(self) -> list[tuple[bool, Any]]:
        walk = Walk()
        for one in self.modules.values():
            if str(getattr(one, "__file__", None) or "").endswith((".so", ".pyd")):
                raise Unsure
            for name, value in list(vars(one).items()):
                if name not in ("__builtins__", "__loader__", "__spec__", "__doc__") and not isinstance(
                    value, types.ModuleType
                ):
                    walk.value(name)
                    walk.value(value)
        return walk.atoms

    def changed(self) -> bool:
        if self.unsure:
            return True
        try:
            if own_modules().keys() != self.modules.keys() or world() != self.world:
                return True
            now = standard()
            for key, (length, value) in self.standard.items():
                if key not in now or now[key][1] is not value or now[key][0] != length:
                    return True
            known = {module for module, _ in self.standard}
            if any(key[0] in known for key in now.keys() - self.standard.keys()):
                return True
            atoms = self.walked()
            return len(atoms) != len(self.atoms) or not all(map(same, self.atoms, atoms))
        except Exception:
            self.unsure = True
            return True
