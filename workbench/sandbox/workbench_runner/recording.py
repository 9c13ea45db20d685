"""Record which public callables and commands of a project its tests call, with literal arguments and results.

A profile hook sees the calls of functions while tests run. It identifies a function by its code object, so for a
decorated function it records what the innermost function receives and returns.
"""

from __future__ import annotations

import contextlib
import dis
import inspect
import os
import sys
import threading
import types
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from .child import belongs
from .command_calls import CommandCalls
from .values import NotLiteral, encode

MOST_CALLS = 40

#: Maximum numbers of calls with encoded arguments: of a callable from tests, of a callable from the project, and of a
#: constructor.
_FROM_TESTS, _FROM_PROJECT, _CONSTRUCTED = 2000, 400, 5000

_RETURNS = frozenset(code for name, code in dis.opmap.items() if name in ("RETURN_VALUE", "RETURN_CONST"))
_SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

_KINDS = ("positional", "positional", "variadic", "keyword")  # in the order of the kinds of inspect.Parameter

_UNKNOWN: Any = object()


#: These ignore the arguments, which are all for ``__init__``
_PLAIN_NEW = (object.__new__, dict.__new__, list.__new__, set.__new__)


class Site(NamedTuple):
    """The callable or command that has a code object.

    ``role`` is ``function``, ``method``, ``class method``, ``constructor`` or ``command``.
    """

    role: str
    function: Any
    module: str
    name: str  # a method's name without its class, or a command's program


class Signature:
    """The parameters of a function without the receiver of a method."""

    def __init__(self, function: types.FunctionType, bound: bool) -> None:
        found = list(inspect.signature(function, follow_wrapped=False).parameters.values())[bound:]
        self._rest = [each.name for each in found if each.kind is each.VAR_KEYWORD]
        self.parameters = [
            {"name": each.name, "kind": _KINDS[each.kind], "default": _literal(each.default)}
            for each in found
            if each.kind is not each.VAR_KEYWORD
        ]
        self._odd = {each.name: each.default for each in found if _literal(each.default) is None}

    def inputs(self, values: Any) -> tuple[str | None, ...]:
        """Return the bound values as texts, or None for a parameter left at a non-literal default."""
        for name in self._rest:
            if values[name]:
                raise NotLiteral(f"arguments for **{name}")
        texts: list[str | None] = []
        for parameter in self.parameters:
            name = str(parameter["name"])
            value = values[name]
            if value is self._odd.get(name, _UNKNOWN):
                texts.append(None)
                continue
            try:
                texts.append(encode(value))
            except NotLiteral as reason:
                raise NotLiteral(f"argument {name}: {reason}") from None
        return tuple(texts)


class Recorded:
    """One public callable and its calls."""

    def __init__(self, kind: str, module: str, qualname: str, place: tuple[str, int], signature: Signature) -> None:
        self.about = {"kind": kind, "module": module, "qualname": qualname, "path": place[0], "line": place[1]}
        self.signature = signature
        self.constructor: Signature | None = None
        # Calls from tests on fresh objects; and all other calls, which are only used if there are few of the former
        self.calls: tuple[dict[Any, tuple[str, str]], dict[Any, tuple[str, str]]] = ({}, {})
        self.left = [_FROM_TESTS, _FROM_PROJECT]
        self.unliteral: Counter[str] = Counter()

    def takes(self, rank: int) -> bool:
        self.left[rank] -= 1
        return self.left[rank] >= 0 and len(self.calls[rank]) < MOST_CALLS

    def result(self) -> dict[str, Any]:
        merged = {**self.calls[1], **self.calls[0]}
        keys = [*self.calls[0], *(key for key in self.calls[1] if key not in self.calls[0])]
        parameters, inputs = _without_odd_defaults(self.signature.parameters, [key[1] for key in keys])
        constructor, selves = None, [key[0] for key in keys]
        if self.about["kind"] == "method":
            made = self.constructor.parameters if self.constructor is not None else []
            constructor, selves = _without_odd_defaults(made, selves)
        calls: list[dict[str, Any]] = []
        for key, own, values in zip(keys, selves, inputs, strict=True):
            if None in values or None in (own or ()):
                self.unliteral["an argument left at a default that is not a literal"] += 1
            elif len(calls) < MOST_CALLS:
                calls.append(dict(zip(("self", "inputs", "result", "test"), (own, values, *merged[key]), strict=True)))
        return {
            **self.about, "parameters": parameters, "constructor": constructor, "calls": calls, "unliteral": self.unliteral
        }  # fmt: skip


def _without_odd_defaults(parameters: list[Any], rows: list[Any]) -> tuple[list[Any], list[Any]]:
    """Leave out parameters that every call leaves at a non-literal default; later ones become keywords."""
    unpacks = any(
        one["kind"] == "variadic" and any(row[at] != "()" for row in rows) for at, one in enumerate(parameters)
    )
    kept: list[int] = []
    found = []
    for at, one in enumerate(parameters):
        odd = rows and all(row[at] is None for row in rows)
        if not odd or (unpacks and one["kind"] == "positional"):
            by_name = one["kind"] == "positional" and len(kept) < at
            kept.append(at)
            found.append({**one, "kind": "keyword"} if by_name else one)
    return found, [[row[at] for at in kept] for row in rows]


class Recorder:
    """The pytest plugin that records calls made in tests and their fixtures."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._own = set(spec["own_modules"])
        self._root = os.path.realpath(spec["root"]) + os.sep
        self._sources: dict[Any, bool] = {}  # by a module's name and file
        self._known: dict[types.CodeType, Site | None] = {}
        self._scanned: dict[str, types.ModuleType] = {}
        self._modules = 0
        self._pending: dict[types.FrameType, tuple[Any, ...]] = {}
        self._objects: dict[int, list[Any]] = {}  # id -> [reference, inputs or reason, whether a method was called]
        self._constructors: dict[type, tuple[types.CodeType, Signature] | None] = {}
        self._constructed: Counter[type] = Counter()
        self._methods: dict[tuple[type, types.CodeType], Recorded | None] = {}
        self._recorded: dict[tuple[str, str], Recorded] = {}
        self._dropped: dict[tuple[str, str, str], None] = {}
        self._commands = CommandCalls(spec, self._is_source, self._owns)
        self._test = ""
        self._hook = self._make_hook()

    def result(self) -> dict[str, Any]:
        dropped = [*self._dropped, *self._commands.dropped]
        return {
            "callables": [each.result() for each in self._recorded.values()],
            "commands": list(self._commands.calls.values()),
            "dropped": [dict(zip(("name", "path", "reason"), each, strict=True)) for each in dropped],
        }

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtestloop(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._commands.stop()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> None:
        self._test = self._commands.test = item.nodeid
        self._commands.inside = 0
        self._pending.clear()

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_fixture_setup(self) -> Iterator[None]:
        yield from self._recording()

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_call(self, item: Any) -> Iterator[None]:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            yield  # its values differ from run to run
        else:
            yield from self._recording()

    def _recording(self) -> Iterator[None]:
        if len(sys.modules) != self._modules:
            self._modules = len(sys.modules)
            self._commands.watch()
            for name, module in list(sys.modules.items()):
                if self._owns(name):
                    self._scan(module, name)
        before = sys.getprofile()
        threading.setprofile(self._hook)
        sys.setprofile(self._hook)
        try:
            yield
        finally:
            sys.setprofile(before)
            threading.setprofile(before)

    def _make_hook(self) -> Callable[[types.FrameType, str, Any], None]:
        known, called, returned = self._known.get, self._called, self._returned

        def hook(frame: types.FrameType, event: str, argument: Any) -> None:
            site = known(frame.f_code, _UNKNOWN)
            if site is None:
                return
            try:
                if event == "call":
                    called(frame, site)
                elif event == "return":
                    returned(frame, argument)
            except Exception:  # a value that raises when it is encoded must not fail the test
                self._known[frame.f_code] = None

        return hook

    # Codes

    def _owns(self, name: str) -> bool:
        return belongs(name, self._own)

    def _is_source(self, frame: types.FrameType) -> bool:
        """Return whether a frame runs the project's own code; examples in docstrings count as tests."""
        return self._has_sources(frame.f_globals) and not frame.f_code.co_filename.startswith("<doctest ")

    def _has_sources(self, namespace: dict[str, Any]) -> bool:
        key = name, file = namespace.get("__name__"), namespace.get("__file__")
        if key not in self._sources:
            file = os.path.realpath(str(file))
            *folders, base = file.removeprefix(self._root).split(os.sep)
            is_test = base.startswith(("test_", "conftest.")) or base.endswith("_test.py")
            is_test = is_test or not {"test", "tests"}.isdisjoint(folders)
            self._sources[key] = self._owns(str(name)) and file.startswith(self._root) and not is_test
        return self._sources[key]

    def _find(self, frame: types.FrameType) -> Site | None:
        code = frame.f_code
        name = frame.f_globals.get("__name__")
        if not self._is_source(frame) or "<" in code.co_qualname:
            self._known[code] = None
            return None
        module = sys.modules.get(str(name))
        if module is None or getattr(module.__spec__, "_initializing", False):
            return None  # it may be found later
        if vars(module) is frame.f_globals:
            self._scan(module, str(name))
        return self._known.setdefault(code, None)

    def _scan(self, module: types.ModuleType, name: str) -> None:
        if self._scanned.get(name) is module or not self._has_sources(vars(module)):
            return
        self._scanned[name] = module
        for attribute, value in list(vars(module).items()):
            with contextlib.suppress(Exception):  # a metaclass may raise when its class is inspected
                if issubclass(type(value), type):
                    if value.__module__ == name and value.__qualname__ == attribute:
                        self._scan_class(value)
                    continue
                function = _innermost(value)
                if function is not None and function.__globals__ is vars(module):
                    program = self._commands.program_of(name, attribute)
                    role = "command" if program else "function"
                    self._add(Site(role, function, name, program or attribute), attribute)

    def _scan_class(self, owner: type) -> None:
        constructor = self._constructor(owner)
        if constructor is not None:
            self._known[constructor[0]] = Site("constructor", _UNKNOWN, owner.__module__, "")
        for name, value in list(vars(owner).items()):
            if issubclass(type(value), type):
                if value.__qualname__ == f"{owner.__qualname__}.{name}":
                    self._scan_class(value)
                continue
            function = _innermost(value)
            if function is None or name.startswith("_"):
                continue
            if isinstance(value, staticmethod):
                if _is_public(owner.__qualname__):
                    self._add(Site("function", function, owner.__module__, f"{owner.__qualname__}.{name}"), name)
            elif function.__code__.co_argcount:
                role = "class method" if isinstance(value, classmethod) else "method"
                self._add(Site(role, function, owner.__module__, name), name)

    def _add(self, site: Site, name: str) -> None:
        code = site.function.__code__
        if not _is_public(name):
            return
        if code.co_flags & _SUSPENDS:
            kind = "a generator" if code.co_flags & inspect.CO_GENERATOR else "asynchronous"
            self._drop(site, f"It is {kind}.")
            return
        known = self._known.setdefault(code, site)
        if known is None or known is site:
            return
        if (
            known.function is not site.function
        ):  # these functions come from one decorator that does not set ``__wrapped__``
            self._drop(known, "It shares its code with other functions.")
            self._known[code] = None
        elif site.name == site.function.__name__:
            self._known[code] = site

    def _drop(self, site: Site, reason: str) -> None:
        self._dropped[f"{site.module}.{site.name}", self._place(site.function, site.module)[0], reason] = None

    def _place(self, function: types.FunctionType, module: str) -> tuple[str, int]:
        code = function.__code__
        file = os.path.realpath(code.co_filename)
        if not file.startswith(self._root):  # generated
            file = os.path.realpath(str(sys.modules[module].__file__))
        return file.removeprefix(self._root).replace(os.sep, "/"), code.co_firstlineno

    # Calls

    def _called(self, frame: types.FrameType, site: Any) -> None:
        site = self._find(frame) if site is _UNKNOWN else site
        if site is None:
            return
        if site.role == "constructor":
            self._construct(frame.f_code, frame.f_locals)
        elif site.role != "command":
            self._arguments(frame, site)
        elif self._commands.enter(frame, site.name):
            self._pending[frame] = ()

    def _arguments(self, frame: types.FrameType, site: Site) -> None:
        values, own = frame.f_locals, None
        rank = int(frame.f_back is not None and self._is_source(frame.f_back))
        recorded: Recorded | None
        if site.role == "function":
            recorded = self._record("function", site, site.module, site.name)
        else:
            receiver = values[frame.f_code.co_varnames[0]]
            recorded = self._method(receiver if site.role == "class method" else type(receiver), frame.f_code, site)
            if recorded is None:
                return
            if site.role == "method":
                own, used = self._object(receiver, recorded)
                rank |= used
        if not recorded.takes(rank):
            return
        try:
            if isinstance(own, str):
                raise NotLiteral(f"its object: {own}")
            self._pending[frame] = (recorded, rank, (own, recorded.signature.inputs(values)), self._test)
        except NotLiteral as reason:
            recorded.unliteral[str(reason)] += 1

    def _object(self, receiver: Any, recorded: Recorded) -> tuple[Any, bool]:
        """Return an object's constructor arguments, or why they are unknown, and whether a method was called before."""
        known = self._objects.get(id(receiver))
        if known is None or known[0]() is not receiver:
            return ("made otherwise" if recorded.constructor is not None else ()), False
        used, known[2] = known[2], True
        return known[1], used

    def _returned(self, frame: types.FrameType, value: Any) -> None:
        pending = self._pending.pop(frame, None)
        if pending is None:
            return
        if not pending:
            self._commands.leave()
            return
        recorded, rank, key, test = pending
        if value is None and frame.f_code.co_code[frame.f_lasti] not in _RETURNS:
            recorded.unliteral["an exception"] += 1
            return
        try:
            recorded.calls[rank].setdefault(key, (encode(value), test))
        except NotLiteral as reason:
            recorded.unliteral[f"result: {reason}"] += 1

    def _record(self, kind: str, site: Site, module: str, qualname: str) -> Recorded:
        if (module, qualname) not in self._recorded:
            place, bound = self._place(site.function, site.module), site.role != "function"
            recorded = Recorded(kind, module, qualname, place, Signature(site.function, bound))
            self._recorded[module, qualname] = recorded
        return self._recorded[module, qualname]

    def _method(self, owner: Any, code: types.CodeType, site: Site) -> Recorded | None:
        """Return the callable of a public class that has this code, which may be inherited."""
        key = (owner, code)
        if key not in self._methods:
            self._methods[key] = None
            value = next((vars(base)[site.name] for base in owner.__mro__ if site.name in vars(base)), None)
            function = _innermost(value)
            found = function is not None and function.__code__ is code  # otherwise, it is called through ``super()``
            if found and _is_public(owner.__qualname__) and _at(owner.__module__, owner.__qualname__) is owner:
                kind = "method" if site.role == "method" else "function"
                constructor = self._constructor(owner)
                if kind == "method" and constructor is None and owner.__new__ is not object.__new__:
                    self._drop(site, f"Its class {owner.__qualname__} has a constructor that is not Python.")
                    return None
                recorded = self._record(kind, site, owner.__module__, f"{owner.__qualname__}.{site.name}")
                recorded.constructor = constructor[1] if constructor is not None else None
                self._methods[key] = recorded
        return self._methods[key]

    def _constructor(self, owner: type) -> tuple[types.CodeType, Signature] | None:
        if owner not in self._constructors:
            function = _innermost(owner.__init__)  # type: ignore[misc]
            made: Any = owner.__new__
            fits = function is not None and made in _PLAIN_NEW and function.__code__.co_argcount
            self._constructors[owner] = (function.__code__, Signature(function, True)) if function and fits else None
        return self._constructors[owner]

    def _construct(self, code: types.CodeType, values: Any) -> None:
        made = values[code.co_varnames[0]]
        owner = type(made)
        constructor = self._constructor(owner)
        if constructor is None or constructor[0] is not code:  # called through ``super()``
            return
        self._constructed[owner] += 1
        if self._constructed[owner] > _CONSTRUCTED:
            self._objects.pop(id(made), None)
            return
        inputs: Any
        try:
            inputs = constructor[1].inputs(values)
        except NotLiteral as reason:
            inputs = str(reason)
        number, objects = id(made), self._objects
        reference: Any = lambda: made  # noqa: E731
        if type(made).__weakrefoffset__:  # otherwise it has slots
            reference = weakref.ref(made, lambda gone: objects.pop(number, None))
        objects[number] = [reference, inputs, False]


def _literal(value: Any) -> str | None:
    try:
        return encode(value)
    except NotLiteral:
        return None


def _is_public(qualname: str) -> bool:
    return not any(part.startswith(("_", "<")) for part in qualname.split("."))


def _at(module: str, qualname: str) -> Any:
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = vars(found).get(part) if found is not None else None
    return found


def _innermost(value: Any) -> types.FunctionType | None:
    """Return the innermost function that decorators wrap, or None."""
    for _ in range(20):
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        try:
            value = object.__getattribute__(value, "__dict__")["__wrapped__"]
        except (AttributeError, KeyError, TypeError):
            break
    return value if type(value) is types.FunctionType else None
