"""Detect what a candidate changed in its process (classes, modules, functions, ``sys``), and which files it opened.

Library calls can set attributes of any name, so a body that looks harmless can replace the ``==`` of a class and return
an object that equals whatever a test expects. Static rules cannot detect this, so the process is compared before and
after. A body may also read the expected values from the tests' data, or change them.

CPython assigns a version number to every change of a class and of a dictionary. Reading all numbers takes half a
millisecond, and attributes are compared only where a number changed: reading an attribute changes a reference count,
and each such write copies a memory page in a fork.
"""

from __future__ import annotations

import abc
import array
import builtins
import contextlib
import ctypes
import gc
import os
import sys
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from .judge import PROCESSES

#: Modules of the test framework, which determine outcomes, and of the runner itself.
_FRAMEWORK = ("_pytest.", "pluggy.", "unittest.case", "unittest.suite", "workbench_runner.", "builtins")

#: Modules of pytest that do not affect outcomes; "assertion" because pytest sets hooks there for every test.
_NO_SAY = tuple(
    "_pytest." + name
    for name in (
        "_argcomplete", "_io", "_py", "_version", "assertion", "cacheprovider", "debugging", "deprecated", "doctest",
        "faulthandler", "freeze_support", "helpconfig", "hookspec", "junitxml", "legacypath", "mark.expression", "pastebin",
        "pytester", "setuponly", "setupplan", "stepwise", "terminal", "timing", "warning_types",
    )
)  # fmt: skip

#: Attributes that Python sets lazily, or that only describe their object.
_DESCRIBING = frozenset(
    f"__{name}__"
    for name in ["annotations", "annotate", "annotations_cache", "cached", "doc", "slotnames", "warningregistry", "wrapped"]
)  # fmt: skip
#: Attributes of ``sys`` that pytest replaces for each test, or that Python replaces on an error.
_OF_SYS = frozenset(["stdin", "stdout", "stderr", "last_type", "last_value", "last_traceback", "last_exc"])

#: Audit events of file operations; their first two arguments may be paths.
_OF_FILES = frozenset(["open", "os.remove", "os.rename", "os.link", "os.symlink", "os.truncate"])
#: Audit events of new processes; what these processes do is not observed.
_OF_PROCESSES = frozenset(["subprocess.Popen", "os.system", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec"])
_PYTEST = f"{os.sep}_pytest{os.sep}"
#: Devices that every body may use.
_DEVICES = frozenset(["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty"])

#: Attributes whose assignment replaces a function's code or an object's class.
_IDENTITY = frozenset(["__code__", "__defaults__", "__kwdefaults__", "__class__"])

#: Special methods that affect neither comparisons nor numbers nor the type.
_ORDINARY = frozenset(
    f"__{name}__"
    for name in ["init", "new", "post_init", "repr", "str", "enter", "exit", "aenter", "aexit", "iter", "next", "aiter", "anext",
                 "call", "init_subclass", "class_getitem", "set_name", "del"]
)  # fmt: skip

_MISSING = object()
_HEAP_TYPE, _IMMUTABLE_TYPE = 1 << 9, 1 << 8
_MOST = 200


class _Versions:
    """The version numbers of objects; on a Python without version numbers, every object counts as changed."""

    def __init__(self, objects: Sequence[object], place: int | None, number: type[Any]) -> None:
        self._number = number
        self._count = len(objects)
        self._views = None if place is None else [number.from_address(id(thing) + place) for thing in objects]
        self._before = b"".join(self._views or ())
        # 0 means that changes of the class are not counted.
        self.unnumbered = {at for at, version in enumerate(self._numbers(self._before)) if not version}

    def _numbers(self, data: bytes) -> array.array[int]:
        return array.array("I" if self._number is ctypes.c_uint else "Q", data)

    def moved(self) -> Collection[int]:
        if self._views is None:
            return range(self._count)
        now = b"".join(self._views)
        if now == self._before:
            return self.unnumbered
        pairs = zip(self._numbers(now), self._numbers(self._before), strict=True)
        return self.unnumbered | {at for at, (new, old) in enumerate(pairs) if new != old}


class ProcessState:
    """A snapshot of the process, to be compared later."""

    def __init__(self) -> None:
        every = list(_all_classes())
        self._known = {id(cls) for cls in every}
        self._metaclasses = {id(cls) for cls in every if _is_kind(cls, type)}
        self._classes = [cls for cls in every if _own(cls, "__flags__") & (_HEAP_TYPE | _IMMUTABLE_TYPE) == _HEAP_TYPE]
        for cls in self._classes:
            type.__getattribute__(cls, "__init_subclass__")  # a class has no number before its first lookup
        self._attributes = [_tokens(_namespace(cls)) for cls in self._classes]
        self._bases = [_own(cls, "__bases__") for cls in self._classes]
        modules = {
            id(module): module for module in list(sys.modules.values()) if _is_kind(type(module), types.ModuleType)
        }
        self._modules = list(modules.values())
        self._globals = [_tokens(_globals(module)) for module in self._modules]
        self._imported = dict(sys.modules)
        self._system = _system()
        self._token = abc.get_cache_token()
        self._registered = [(cls, _registry(cls)) for cls in self._classes if "_abc_impl" in _namespace(cls)]
        self._noted: set[str] = set()
        self._body = ("", "")
        self._root = os.sep
        self._places: tuple[str, ...] = ()
        self._emit: Callable[..., None] = lambda *given, **named: None
        self._class_versions = _Versions(self._classes, _CLASS_VERSION, ctypes.c_uint)
        self._module_versions = _Versions(
            [_globals(module) for module in self._modules], _DICT_VERSION, ctypes.c_uint64
        )

    def listen(self, emit: Callable[..., None], root: str, file: str, function: str) -> None:
        """Record events that a comparison cannot detect: replaced functions, temporary classes, opened files.

        ``emit`` reports an event at once, because code that is written into the tree may run and erase stored notes.
        ``function`` is the qualified name of the candidate's function; special methods that it defines count.
        """
        self._body = (file, f"{function}.<locals>.")
        self._emit = emit
        self._root = os.path.join(root, "")
        self._places = (
            "/proc/",
            "/dev/",
            *(os.path.join(os.path.abspath(one), "") for one in (root, *sys.path) if one),
        )
        sys.addaudithook(self._audit)
        gc.callbacks.append(self._before_collection)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in _OF_FILES:
            reads = event == "open" and not (type(arguments[2]) is int and arguments[2] & (os.O_WRONLY | os.O_RDWR))
            for path in arguments[: 1 if event == "open" else 2]:
                if isinstance(path, (str, bytes, os.PathLike)):
                    self._opened(os.path.abspath(os.fsdecode(path)), reads)
            return
        if event in _OF_PROCESSES:
            self._noted.add(PROCESSES)
        if event != "object.__setattr__" or arguments[1] not in _IDENTITY:
            return
        changed, name, value = arguments
        if name == "__class__":
            self._noted.add(f"the class of a {_name_of(type(changed))}")
        elif type(changed) is types.FunctionType:
            code = changed.__code__
            made = code.co_filename.startswith("<")  # created by a library call from source text
            if (value.co_code != code.co_code or value.co_consts != code.co_consts) if name == "__code__" else not made:
                self._noted.add(f"{changed.__globals__.get('__name__')}.{code.co_qualname}.{name}")

    def _opened(self, path: str, reads: bool) -> None:
        if not path.startswith(self._places[:3] if reads else self._places) or path in _DEVICES:
            return
        file, prefix = self._body
        frame: types.FrameType | None = sys._getframe(2)
        nearest, itself = "", ""
        while frame is not None and not itself:
            code = frame.f_code
            if not nearest and (
                code.co_filename.startswith((self._root, "<frozen importlib")) or _PYTEST in code.co_filename
            ):
                nearest = code.co_filename
            if code.co_filename == file and f"{code.co_qualname}.<locals>.".startswith(prefix):
                itself = " itself"
            frame = frame.f_back
        if nearest.startswith(self._root) or not nearest:  # otherwise, an import or pytest itself opened the file
            name = os.path.join(".", path.removeprefix(self._root))
            name = f"{name}{itself}{'' if reads else ' to write'}"
            if name not in self._noted:
                self._noted.add(name)
                self._emit("changed", name=name)

    def _before_collection(self, phase: str, collection: dict[str, int]) -> None:
        if phase == "start":
            # Suppress only these errors, which would become warnings here; tests at the end of their stack fail with
            # them anyway. An exception that ends a hanging test must not be swallowed.
            with contextlib.suppress(AttributeError, KeyError, TypeError, ValueError, RecursionError):
                for generation in range(collection["generation"] + 1):
                    self._noted.update(self._of_new_classes(gc.get_objects(generation)))

    def changes(self) -> tuple[list[str], list[str]]:
        """Return the changes in the test framework, and all others."""
        moved = self._class_versions.moved()
        found = {*self._changes_by_import(moved), *self._restored_classes(moved), *self._of_modules()}
        found.update(f"sys.{name}" for name, value in _system().items() if value != self._system[name])
        found = {name for name in found if not name.startswith(_NO_SAY)}
        framework = {name for name in found if name.startswith(_FRAMEWORK)}
        return sorted(framework)[:_MOST], sorted(found - framework)[:_MOST]

    def changes_by_import(self) -> list[str]:
        """Return all changes since the time before the repository's import, except those by pytest and its plugins."""
        found = set(self._changes_by_import(self._class_versions.moved()))
        # This is not done after every hot verdict, because a body that names ``sys.modules`` is never tested on the hot
        # route.
        found.update(
            f"sys.modules[{name!r}]" for name, module in self._imported.items() if sys.modules.get(name) is not module
        )
        return sorted(name for name in found if not name.startswith((*_NO_SAY, *_FRAMEWORK)))[:_MOST]

    def _changes_by_import(self, moved: Collection[int]) -> Iterator[str]:
        yield from self._of_classes(moved)
        yield from self._of_registers()
        yield from self._of_new_classes(gc.get_objects())
        yield from list(self._noted)

    def _of_classes(self, moved: Collection[int]) -> Iterator[str]:
        for at in moved:
            name, before, now = _name_of(self._classes[at]), self._attributes[at], _namespace(self._classes[at])
            for attribute in _different(before, now):
                private = attribute.startswith("_") and not attribute.startswith("__")
                if not private or _is_code(before.get(attribute)) or _is_code(now.get(attribute)):
                    yield f"{name}.{attribute}"
            if _ids(_own(self._classes[at], "__bases__")) != _ids(self._bases[at]):
                yield f"{name}.__bases__"

    def _restored_classes(self, moved: Collection[int]) -> Iterator[str]:
        """Return classes that were changed and changed back."""
        if _CLASS_VERSION is None:
            return
        changed = {id(self._classes[at]) for at in moved}
        for at in set(moved) - self._class_versions.unnumbered:
            cls = self._classes[at]
            same = _ids(_own(cls, "__bases__")) == _ids(self._bases[at])
            same = same and not any(_different(self._attributes[at], _namespace(cls)))
            # A class counts changes of its bases as its own.
            if same and changed.isdisjoint(_ids(_mro(cls)[1:])) and not _name_of(cls).startswith(_FRAMEWORK):
                yield f"{_name_of(cls)}, which it restored"

    def _of_modules(self) -> Iterator[str]:
        for at in self._module_versions.moved():
            before, now = self._globals[at], _globals(self._modules[at])
            name = str(now.get("__name__"))
            for attribute in _different(before, now):
                if not self._is_ordinary(name, before, attribute, now.get(attribute, _MISSING)):
                    yield f"{name}.{attribute}"

    def _is_ordinary(self, module: str, before: dict[str, object], attribute: str, new: object) -> bool:
        """Return whether modules make such a change by themselves, by filling caches or setting lazy attributes."""
        old = before.get(attribute, _MISSING)
        if module == "sys":
            return attribute in _OF_SYS
        if module == "builtins":
            return attribute == "_"
        if module == "warnings":
            return True  # pytest replaces their handlers for every test
        if isinstance(new, types.ModuleType) and sys.modules.get(f"{module}.{attribute}") is new:
            return True
        if old is _MISSING and "__getattr__" in before:
            return not hasattr(builtins, attribute)
        if attribute.startswith("__") or _is_code(old) or _is_code(new):
            return False
        if module.startswith(_FRAMEWORK) or attribute.startswith("_"):
            return True
        library = module.partition(".")[0] in sys.stdlib_module_names
        return library and (old in (_MISSING, id(None), id(False)) or type(new) is dict)

    def _of_registers(self) -> Iterator[str]:
        """Return classes that became virtual subclasses, except those of modules imported since."""
        if abc.get_cache_token() == self._token:
            return
        for cls, before in self._registered:
            for reference in _registry(cls) - before:
                added = reference()
                if added is not None and (id(added) in self._known or _module_of(added) in self._imported):
                    yield f"{_name_of(cls)}.register({_name_of(added)})"

    def _of_new_classes(self, things: Iterable[Any]) -> Iterator[str]:
        metaclasses = self._metaclasses
        for cls in [thing for thing in things if id(type(thing)) in metaclasses]:
            if id(cls) in self._known:
                continue
            for name, value in list(_namespace(cls).items()):
                if (
                    not isinstance(name, str)
                    or not (name.startswith("__") and name.endswith("__"))
                    or name in _ORDINARY
                ):
                    continue
                if _made_by(value, *self._body) or (name in ("__eq__", "__ne__") and not _is_method(value)):
                    yield f"{name} of the new class {_name_of(cls)}"


def _registry(cls: type) -> set[Any]:
    return set(getattr(abc, "_get_dump")(cls)[0])  # noqa: B009 - it is in no stub


def _all_classes() -> Iterator[type]:
    """Yield every class, including frozen classes, which :mod:`gc` omits."""
    found: set[int] = set()
    pending: list[type] = [object]
    while pending:
        below: list[type] = type.__subclasses__(pending.pop())
        for cls in below:
            if id(cls) not in found:
                found.add(id(cls))
                pending.append(cls)
                yield cls


def _own(cls: type, name: str) -> Any:
    return type.__dict__[name].__get__(cls)


def _namespace(cls: type) -> Any:
    return _own(cls, "__dict__")


def _mro(cls: type) -> tuple[type, ...]:
    found: tuple[type, ...] = _own(cls, "__mro__")
    return found


def _is_kind(cls: type, kind: type) -> bool:
    return any(base is kind for base in _mro(cls))


def _ids(things: Iterable[object]) -> list[int]:
    return [id(thing) for thing in things]


def _module_of(cls: type) -> str:
    return str(_namespace(cls).get("__module__"))


def _name_of(cls: type) -> str:
    return f"{_module_of(cls)}.{_own(cls, '__qualname__')}"


def _globals(module: types.ModuleType) -> dict[str, Any]:
    # Some modules import attributes on demand.
    found: dict[str, Any] = _namespace(types.ModuleType)["__dict__"].__get__(module)
    return found


class _Kinds(dict[int, tuple[type, bool]]):
    """A cache, by the type's id, of whether instances of a type run code when they are called or looked up."""

    def is_code(self, value: object) -> bool:
        kind = type(value)
        if id(kind) not in self:
            code = any("__call__" in _namespace(cls) or "__get__" in _namespace(cls) for cls in _mro(kind))
            self[id(kind)] = kind, code
        return self[id(kind)][1]


_is_code = _Kinds().is_code


def _tokens(names: Iterable[Any]) -> dict[str, object]:
    """Return the code objects under some names, and only the ids of other values, so that none is kept alive."""
    return {name: value if _is_code(value) else id(value) for name, value in dict(names).items()}


def _different(before: dict[str, object], now: Any) -> Iterator[str]:
    for name, value in list(now.items()):
        if not isinstance(name, str):
            continue
        old = before.get(name, _MISSING)
        if old is not value and (type(old) is not int or old != id(value)) and name not in _DESCRIBING:
            yield name
    for name in before:
        if isinstance(name, str) and name not in now and name not in _DESCRIBING:
            yield name


def _system() -> dict[str, object]:
    lists = {name: getattr(sys, name) for name in ("path", "meta_path", "path_hooks")}
    found: dict[str, object] = {
        name: [value if type(value) is str else id(value) for value in values] for name, values in lists.items()
    }
    found |= {"settrace": id(sys.gettrace()), "setprofile": id(sys.getprofile())}
    return found | {"setrecursionlimit": sys.getrecursionlimit()}


def _made_by(value: object, file: str, prefix: str) -> bool:
    """Return whether a method's code is in this file and in a function with this prefix of its qualified name."""
    for part in (value, getattr(value, "__func__", None), getattr(value, "fget", None), getattr(value, "func", None)):
        if isinstance(part, types.FunctionType):
            code = part.__code__
            if code.co_filename == file and code.co_qualname.startswith(prefix):
                return True
    return False


def _is_method(value: object) -> bool:
    """Return whether a value is an ordinary ``__eq__``: a method, a built-in, a mock's, or absent."""
    kinds = (types.FunctionType, types.WrapperDescriptorType, types.MethodDescriptorType)
    return value is None or isinstance(value, kinds) or type(value).__module__ == "unittest.mock"


def _place(read: Any, changes: Sequence[Any]) -> int | None:
    """Return the index of the version number in the object's memory, or None if the object has no version number."""
    seen = [read()]
    for change in changes:
        change()
        seen.append(read())
    moving = [at for at, numbers in enumerate(zip(*seen, strict=True)) if len(set(numbers)) == len(numbers)]
    return moving[0] if len(moving) == 1 else None


def _size(cls: type) -> int:
    return int(type.__dict__["__basicsize__"].__get__(cls))


def _place_in_classes() -> int | None:
    class Probe:
        value = 0

    words = ctypes.c_uint * (_size(type) // 4)

    def change() -> None:
        Probe.value += 1
        Probe.value  # noqa: B018 - the next number is given when an attribute is looked up

    place = _place(lambda: list(words.from_address(id(Probe))), [change] * 4)
    return None if place is None else place * 4


def _place_in_dicts() -> int | None:
    probe = {"value": 0}
    words = ctypes.c_uint64 * (_size(dict) // 8)
    place = _place(lambda: list(words.from_address(id(probe))), [lambda: probe.update(value=probe["value"] + 1)] * 4)
    return None if place is None else place * 8


_CLASS_VERSION, _DICT_VERSION = _place_in_classes(), _place_in_dicts()
