"""Run-time checks of attributes and values that a body reaches dynamically.

Most bodies that compute an attribute's name are honest, but static analysis cannot tell. So such a body is tested once
more with these places rewritten to call :class:`Reach` (:mod:`workbench.sandbox.safety`). Access to frames, modules, the
reporter or the tests is refused; a body that still passes does not depend on it.
"""

from __future__ import annotations

import os
import string
import sys
import types
from typing import Any

#: Names that give dynamic access: to attributes, modules or programs by name.
POWERS = frozenset(
    ["exec", "eval", "compile", "__import__", "globals", "getattr", "setattr", "delattr", "import_module", "attrgetter",
     "methodcaller", "get_type_hints", "get_field", "Popen", "system", "check_output", "check_call", "make_dataclass"]
)  # fmt: skip

#: Packages of the test framework, from whose objects the reporter can be reached.
FRAMEWORK = frozenset({"pytest", "_pytest", "pluggy", "unittest", "doctest", "nose", "hypothesis", "workbench_runner"})

_DATA = frozenset(
    [type(None), bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, object]
)
#: Standard library modules whose classes and instances only hold data, and modules whose instances alone do.
_CLASSES = frozenset(["collections", "datetime", "decimal", "fractions", "uuid", "enum", "pathlib", "re"])
_INSTANCES = _CLASSES | {"_io", "argparse", "types"}
_FUNCTIONS = (types.FunctionType, types.MethodType)
_DESCRIPTIVE = frozenset(["__name__", "__qualname__", "__doc__", "__module__"])


class AccessRefused(BaseException):
    """An exception that no test expects."""


class Reach:
    """The functions that rewritten places of a body call."""

    @staticmethod
    def value(found: Any) -> Any:
        """Return the value of an expression. Raises AccessRefused if it leads out of the project and its data."""
        if not _is_allowed(found):
            raise AccessRefused(f"it reaches a {type(found).__name__}")
        return found

    @staticmethod
    def called(found: Any) -> Any:
        """Return a callable that is about to be called. Raises AccessRefused if it gives dynamic access."""
        if type(found) in _FUNCTIONS and _is_powerful(found, POWERS | {"format", "format_map"}):
            raise AccessRefused(f"it calls {found.__name__}")
        return found if type(found) in (*_FUNCTIONS, types.BuiltinMethodType) else Reach.value(found)

    @staticmethod
    def own(found: Any) -> Any:
        """Return a callable that is about to be called; functions of the same file contain their own checks."""
        return found if _globals(found) is sys._getframe(1).f_globals else Reach.called(found)

    @staticmethod
    def get(thing: Any, name: Any, *default: Any) -> Any:
        if not _may_name(thing, name):
            raise AccessRefused(f"it reaches {name!r}")
        found = getattr(thing, name, *default)
        return found if default and found is default[0] else Reach.value(found)

    @staticmethod
    def target(thing: Any, name: Any) -> Any:
        """Return an object whose attribute is about to be set."""
        if not _may_name(thing, name) or name in _DESCRIPTIVE or not _is_instance(thing) or _is_of_tests(thing):
            raise AccessRefused(f"it sets {name!r}")
        return thing

    @staticmethod
    def set(thing: Any, name: Any, value: Any) -> None:
        setattr(Reach.target(thing, name), name, value)

    @staticmethod
    def delete(thing: Any, name: Any) -> None:
        delattr(Reach.target(thing, name), name)

    @staticmethod
    def namespace(thing: Any) -> dict[str, Any]:
        """Return the attributes of an object, as ``vars`` does."""
        if not _is_instance(thing):
            raise AccessRefused(f"it accesses the names of a {type(thing).__name__}")
        found: dict[str, Any] = vars(thing)
        return dict(found) if _is_of_tests(thing) else found

    @staticmethod
    def template(text: Any) -> Any:
        """Return a template that is about to be formatted. Raises AccessRefused if it reads attributes."""
        if isinstance(text, str):
            _check_fields(text)
        else:
            Reach.value(text.format)
        return text


def _of_project(module: Any) -> bool:
    root = module.partition(".")[0] if type(module) is str else "builtins"
    return root not in sys.stdlib_module_names and root not in FRAMEWORK


def _is_allowed(value: Any) -> bool:
    if type(value) in _FUNCTIONS:
        return _of_project(_globals(value).get("__name__")) and not _is_powerful(value)
    if type(value) is types.BuiltinMethodType:
        return type(value.__self__) in _DATA and value.__name__ not in ("format", "format_map")
    kind = value if isinstance(value, type) else type(value)
    if kind in _DATA:
        return True
    if issubclass(kind, (type, types.ModuleType)):
        return False
    module = type.__dict__["__module__"].__get__(kind)
    if _of_project(module):
        return value is not kind or not _is_powerful(kind.__init__)
    return module in (_CLASSES if value is kind else _INSTANCES) or (
        issubclass(kind, BaseException) and module.partition(".")[0] not in FRAMEWORK
    )


def _is_instance(thing: Any) -> bool:
    """Return whether an object's attributes may be set: it belongs to the project, or only holds data."""
    return not isinstance(thing, type) and type(thing) not in _FUNCTIONS and _is_allowed(thing)


def _is_of_tests(thing: Any) -> bool:
    """Return whether the tests define an object's class, whose attributes may be expected values."""
    module = sys.modules.get(type.__dict__["__module__"].__get__(type(thing)))
    parts = str(getattr(module, "__file__", "")).split(os.sep)
    return parts[-1].startswith(("test_", "conftest")) or parts[-1].endswith("_test.py") or "tests" in parts[:-1]


def _may_name(thing: Any, name: Any) -> bool:
    if type(name) is not str or name.startswith("__"):
        return name in _DESCRIPTIVE
    kind = thing if isinstance(thing, type) else type(thing)
    return not name.startswith("_") or _of_project(type.__dict__["__module__"].__get__(kind))


def _globals(function: Any) -> dict[str, Any]:
    found = getattr(function, "__globals__", None)
    return found if isinstance(found, dict) else {}


def _is_powerful(function: Any, powers: frozenset[str] = POWERS) -> bool:
    pending = [getattr(function, "__code__", None)]
    while pending:
        code = pending.pop()
        if isinstance(code, types.CodeType):
            if not powers.isdisjoint(code.co_names):
                return True
            pending += code.co_consts
    return False


def _check_fields(text: str) -> None:
    try:
        fields = list(string.Formatter().parse(text))
    except ValueError:
        return  # not a valid template, so it cannot be formatted
    for _, name, wanted, _ in fields:
        steps = (name or "").replace("[", ".[").split(".")[1:]
        attributes = [step for step in steps if not step.startswith("[")]
        if attributes and (len(steps) > 1 or attributes[0].startswith("_")):
            raise AccessRefused(f"it formats {name!r}")
        if wanted:
            _check_fields(wanted)
