"""The safe subset of Python: names that a body may use without being able to reach the process reporting on it.

The allowlist contains a name only if it is harmless to programs restricted to the list. Such a program cannot access
attributes by computed names, run or import computed code, or create a class. It cannot reach a frame, ``sys.modules``,
another process or its own exit either. Each of these leads to the reporter, or to an object that is equal to
everything. Opened files are observed at run time.
"""

from __future__ import annotations

import ast
import builtins
import collections
import contextlib
import csv
import datetime
import decimal
import enum
import fractions
import functools
import importlib
import io
import itertools
import logging
import pathlib
import re
import struct
import sys
import threading
import tokenize
import types
import urllib.parse
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from workbench.base import python_syntax
from workbench.sandbox.workbench_runner.patching import definitions, first_line
from workbench.sandbox.workbench_runner.reaching import FRAMEWORK, POWERS

_FUNCTIONS = (
    "abs aiter all anext any ascii bin bool bytearray bytes callable chr classmethod complex dict dir divmod "
    "enumerate filter float format frozenset hasattr hash hex id input int isinstance issubclass iter len list "
    "map max memoryview min next object oct ord pow print property range repr reversed round set slice sorted "
    "staticmethod str sum tuple zip NotImplemented Ellipsis exit quit"
)
#: Exceptions, and the built-in functions and types that access nothing but their arguments.
BUILTINS = frozenset(
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
) | frozenset(_FUNCTIONS.split())

_MODULES = (
    "ast base64 binascii bisect calendar cmath collections collections.abc colorsys contextlib configparser "
    "contextvars copy csv dataclasses datetime decimal difflib email.utils errno fnmatch fractions functools "
    "getopt glob graphlib hashlib heapq hmac html html.entities html.parser ipaddress itertools json keyword "
    "math numbers operator os.path pprint queue random re reprlib secrets shlex stat statistics string struct "
    "textwrap time tokenize typing unicodedata urllib.parse uuid zlib zoneinfo"
)
#: Modules with only safe public names, except those in :data:`_EXCEPT`.
_WHOLE = frozenset(_MODULES.split())
_EXCEPT = {
    "dataclasses": {"make_dataclass"},  # creates a class
    # String annotations are evaluated.
    "functools": {"singledispatch", "singledispatchmethod"},
    "operator": {"attrgetter", "methodcaller"},  # accesses attributes by computed names
    "string": {"Formatter"},  # accesses attributes by computed names, through get_field
    "typing": {"get_type_hints", "ForwardRef"},  # evaluates strings
}
#: Names from newer Python versions, which code may try to import.
_NEWER = {
    "itertools": {"batched"},
    "math": {"fma", "sumprod"},
    "random": {"binomialvariate"},
    "statistics": {"kde", "kde_random"},
}
#: Modules with only some allowed names.
_PART = {
    "abc": "ABC abstractmethod abstractproperty",
    "argparse": "Action ArgumentDefaultsHelpFormatter ArgumentError ArgumentParser ArgumentTypeError BooleanOptionalAction "
    "HelpFormatter Namespace ONE_OR_MORE OPTIONAL REMAINDER RawDescriptionHelpFormatter RawTextHelpFormatter SUPPRESS ZERO_OR_MORE",
    "array": "array typecodes",
    "asyncio": "CancelledError Condition Event Future InvalidStateError Lock PriorityQueue Queue QueueEmpty QueueFull Semaphore "
    "TimeoutError create_task ensure_future gather get_event_loop get_running_loop iscoroutine iscoroutinefunction isfuture "
    "run shield sleep wait wait_for",
    "codecs": "BOM_UTF8 BOM_UTF16 BOM_UTF16_BE BOM_UTF16_LE BOM_UTF32 BOM_UTF32_BE BOM_UTF32_LE decode encode "
    "getincrementaldecoder getincrementalencoder",
    "enum": "auto",
    "gettext": "GNUTranslations NullTranslations gettext ngettext translation",
    "http": "HTTPStatus",
    "importlib.metadata": "PackageNotFoundError version",
    "inspect": "Parameter cleandoc getdoc isawaitable isclass iscoroutine iscoroutinefunction isfunction isgenerator "
    "isgeneratorfunction ismethod ismodule isroutine signature",
    "io": "BytesIO RawIOBase BufferedIOBase IOBase SEEK_CUR SEEK_END SEEK_SET StringIO TextIOBase TextIOWrapper UnsupportedOperation",
    "logging": "CRITICAL DEBUG ERROR FATAL Formatter INFO LogRecord Logger NOTSET NullHandler WARN WARNING critical debug error "
    "exception getLevelName getLogger info log warning",
    "mimetypes": "guess_extension guess_type",
    "netrc": "NetrcParseError netrc",
    "os": "F_OK R_OK SEEK_CUR SEEK_END SEEK_SET W_OK X_OK PathLike access altsep close cpu_count curdir environ extsep fdopen fsdecode fsencode fspath fstat fsync "
    "get_terminal_size getcwd getenv getpid isatty linesep listdir lstat makedirs mkdir name pardir pathsep remove rename replace rmdir scandir "
    "sep stat strerror unlink urandom walk",
    "pathlib": "Path PosixPath PurePath PurePosixPath PureWindowsPath",
    "platform": "machine node python_implementation python_version python_version_tuple release system",
    "shutil": "disk_usage get_terminal_size move rmtree which",
    "socket": "AF_INET AF_INET6 error gaierror herror htonl htons inet_aton inet_ntoa inet_ntop inet_pton ntohl ntohs timeout",
    "sys": "argv byteorder exit float_info getdefaultencoding getfilesystemencoding getrecursionlimit getsizeof hexversion "
    "implementation int_info intern maxsize maxunicode platform stderr stdin stdout version version_info",
    "tempfile": "NamedTemporaryFile SpooledTemporaryFile TemporaryDirectory TemporaryFile gettempdir mkdtemp mkstemp",
    "threading": "BoundedSemaphore Condition Event Lock RLock Semaphore get_ident local",
    "traceback": "format_exc format_exception format_exception_only print_exc",
    "types": "MappingProxyType MethodType SimpleNamespace",
    "warnings": "catch_warnings filterwarnings simplefilter warn",
    "weakref": "WeakKeyDictionary WeakMethod WeakSet WeakValueDictionary ref",
    "zipfile": "BadZipFile is_zipfile",
    "xml.etree.ElementTree": "Comment Element ParseError QName SubElement fromstring indent tostring",
}
_PARTS = {name: frozenset(words.split()) for name, words in _PART.items()}

#: Suffixes of exception names; such classes run no code when raised or caught.
_RAISED = ("Error", "Exception", "Warning", "Expired")


@functools.cache
def public(module: str) -> frozenset[str] | None:
    """Return the allowed names of a standard library module, or None for a module that is not on any list."""
    part = _PARTS.get(module)
    if part is not None or module not in _WHOLE:
        return part
    live = importlib.import_module(module)
    names = getattr(live, "__all__", None) or [
        name
        for name, value in vars(live).items()
        if getattr(value, "__module__", None) in (None, module, f"_{module}", "builtins")
    ]
    kept = {
        name for name in names if not name.startswith("_") and type(getattr(live, name, None)) is not types.ModuleType
    }
    return frozenset(kept - _EXCEPT.get(module, set()) | _NEWER.get(module, set()))


def of_standard_library(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


def usable(module: str, name: str) -> bool:
    known = public(module)
    if known is not None and name in known:
        return True
    return name.endswith(_RAISED) and name.isidentifier() and module.partition(".")[0] not in FRAMEWORK


# -- attributes


def _attributes(kinds: Iterable[object]) -> set[str]:
    return {name for kind in kinds for name in dir(kind) if not name.startswith("_")}


#: Attributes that lead from a function, a coroutine or an exception to frames.
INSIDES = frozenset(
    _attributes(
        (types.FrameType, types.CodeType, types.TracebackType, types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
    )
    - {"send", "throw", "close", "replace", "clear"}
) | {"mro", "with_traceback", "get_stack", "get_coro", "get_field", "func_globals", "hardlink_to", "symlink_to", "link_to"}  # fmt: skip

#: Attributes that open files. A body must call them, because it could pass the bare function to other code.
OPENS = frozenset({"open", "write_text", "write_bytes", "read_text", "read_bytes"})

#: Attributes of common built-in and library types.
ATTRIBUTES = (
    frozenset(
        _attributes(
            (
                str, bytes, bytearray, int, float, complex, list, tuple, dict, set, frozenset, range, slice, memoryview, property,
                re.Pattern, re.Match, datetime.datetime, datetime.timedelta, datetime.tzinfo, decimal.Decimal, fractions.Fraction,
                collections.Counter, collections.defaultdict, collections.OrderedDict, collections.deque, collections.ChainMap,
                pathlib.Path, io.StringIO, io.BytesIO, io.TextIOWrapper, io.BufferedReader, csv.DictWriter, csv.DictReader,
                struct.Struct, functools.partial, uuid.UUID, urllib.parse.ParseResult, threading.Event, type(threading.Lock()),
                OSError, UnicodeDecodeError, SyntaxError, StopIteration, SystemExit, ImportError, KeyError, ExceptionGroup,
                contextlib.ExitStack, itertools.chain, types.SimpleNamespace, enum.Enum,
            )
        )
    )
    | {name for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.AST) for name in kind._fields}
    | {name for name in dir(logging.Logger) if name in ("debug", "info", "warning", "error", "exception", "critical", "log",
                                                         "isEnabledFor", "getChild", "level", "setLevel")}
    | {"name", "value", "writer", "writerow", "writerows", "hexdigest", "digest", "update", "send", "throw", "close", "default",
       "type", "metadata", "cache_clear", "cache_info", "kind", "annotation", "parameters", "args", "kwargs"}
) - INSIDES - {"format", "format_map"}  # fmt: skip

#: Attributes with a fixed meaning, even if a file defines them itself.
SPECIAL = frozenset(
    name
    for kind in [*vars(builtins).values(), *vars(types).values()]
    if isinstance(kind, type)
    for name in dir(kind)
    if name.startswith("__")
) | {
    "__slots__",
    "__getattr__",
    "__path__",
    "__all__",
    "__annotations__",
    "__wrapped__",
    "__match_args__",
    "__mro_entries__",
}

#: Special attributes that merely describe an object.
DESCRIPTIVE = frozenset(
    {"__name__", "__qualname__", "__doc__", "__module__", "__version__", "__members__", "__cause__", "__file__"}
)
_SYMBOLS = (
    "abs add aenter aexit aiter and anext bool bytes ceil complex contains copy deepcopy delitem divmod enter "
    "eq exit float floor floordiv format ge getitem gt hash iadd iand ilshift imatmul imod imul index int "
    "invert ior irshift isub iter itruediv ixor le len length_hint lshift lt matmul missing mod mul ne neg next "
    "or pos post_init pow radd rand repr reversed rfloordiv rlshift rmod rmul ror round rpow rrshift rshift "
    "rsub rtruediv rxor setitem str sub truediv trunc xor"
)
OPERATORS = frozenset(f"__{name}__" for name in _SYMBOLS.split())
#: Ordinary calls run these methods anyway, so naming them adds no power.
OPERATORS |= {"__init__", "__call__"}
#: Allowed only through ``super()`` or the name of the class.
MAKERS = frozenset({"__new__"})
#: The public methods of named tuples, which begin with an underscore.
OF_TUPLES = frozenset({"_asdict", "_fields", "_make", "_replace", "_field_defaults"})


Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

#: Calls that give a function, and therefore its callers, dynamic access.
_BUILTIN_RUNS = frozenset({"exec", "eval", "compile", "__import__", "globals"})
_BY_NAME = frozenset({"getattr", "setattr", "delattr"})
FORMATS = ("format", "format_map")
_PUBLIC_PREFIX = 4


class FunctionPlace(NamedTuple):
    """A function in a file: its lines (including decorators), and its enclosing functions, outermost first."""

    node: Function
    first: int
    last: int
    around: tuple[Function, ...]
    method: bool


@dataclass(slots=True)
class FileContext:
    """The names in a file, collected once from the pristine text."""

    lines: list[bytes]  # lines with their line endings
    encoding: str
    places: dict[tuple[str, int], FunctionPlace] = field(
        default_factory=dict
    )  # functions by qualified name and occurrence
    modules: dict[str, set[str]] = field(default_factory=dict)  # name → modules that it may refer to
    # imported names: (module, name in that module, own or foreign)
    imported: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    values: dict[str, list[ast.expr]] = field(default_factory=dict)  # name → expressions assigned to it at module level
    defined: set[str] = field(default_factory=set)  # functions, classes and names with an unknown value
    makers: set[str] = field(default_factory=set)  # classes that create classes
    gadgets: set[str] = field(default_factory=set)  # functions that give dynamic access
    strong: set[str] = field(default_factory=set)  # gadgets that can reach more than attributes
    attributes: set[str] = field(default_factory=set)  # public attributes that appear in the file
    stored: set[str] = field(default_factory=set)  # public attributes that the file sets or defines
    private: set[str] = field(default_factory=set)  # attributes with a leading underscore
    chains: set[str] = field(default_factory=set)  # dotted names as written, and single names
    imports: set[tuple[int, str, str]] = field(default_factory=set)  # imports as (level, module, name)
    stars: set[str] = field(default_factory=set)  # modules from which the file imports ``*``

    def binds(self, name: str) -> bool:
        return name in self.modules or name in self.imported or name in self.values or name in self.defined


def read_context(pristine: bytes) -> FileContext | None:
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(pristine).readline)[0]
        tree = python_syntax.parse(pristine)
    except python_syntax.UNREADABLE:
        return None
    found = FileContext(pristine.splitlines(keepends=True), encoding)
    for one, name, occurrence, around in definitions(tree):
        if isinstance(one, ast.ClassDef):
            _class(found, one)
            continue
        functions = tuple(outer for outer in around if not isinstance(outer, ast.ClassDef))
        method = bool(around) and isinstance(around[-1], ast.ClassDef)
        first = first_line(one)
        found.places[name, occurrence] = FunctionPlace(one, first, one.end_lineno or first, functions, method)
        _record_powers(found, one.name, one)
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            found.defined.add(node.name)
        elif not isinstance(node, ast.Lambda):
            _bind(found, node)
            waiting += reversed(list(ast.iter_child_nodes(node)))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            add_import(found, node)
        elif isinstance(node, ast.Global):
            found.defined.update(node.names)
    _names(found, tree)
    return found


def _class(found: FileContext, node: ast.ClassDef) -> None:
    bases = {chain(base).rpartition(".")[2] for base in node.bases}
    # Calling an enumeration without members creates a class.
    empty = not any(isinstance(child, (ast.Assign, ast.AnnAssign)) for child in node.body)
    if bases & {"type", "ABCMeta", "EnumMeta", "EnumType"} or (
        empty and bases & {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}
    ):
        found.makers.add(node.name)
    for child in node.body:
        if isinstance(child, ast.FunctionDef) and child.name in ("__init__", "__new__"):
            _record_powers(found, node.name, child)
    for child in node.body:
        targets = (
            child.targets
            if isinstance(child, ast.Assign)
            else [child.target]
            if isinstance(child, ast.AnnAssign)
            else []
        )
        names = [child.name] if isinstance(child, (*FUNCTIONS, ast.ClassDef)) else []
        names += [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        if targets and names == ["__slots__"] and isinstance(child, ast.Assign):
            texts = [part.value for part in ast.walk(child.value) if isinstance(part, ast.Constant)]
            names += [text for text in texts if isinstance(text, str)]
        for name in names:
            if name not in SPECIAL:
                (found.private if name.startswith("_") else found.stored).add(name)


def _bind(found: FileContext, node: ast.AST) -> None:
    pairs: list[tuple[ast.expr, ast.expr]]
    if isinstance(node, ast.Assign):
        pairs = [(target, node.value) for target in node.targets]
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
        pairs = [(node.target, node.value)]
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        pairs = [(node.target, node.iter)]
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        pairs = [(node.optional_vars, node.context_expr)]
    else:
        return
    for target, value in pairs:
        for part in ast.walk(target):
            if isinstance(part, ast.Name):
                found.values.setdefault(part.id, []).append(value)


def add_import(found: FileContext, node: ast.Import | ast.ImportFrom) -> None:
    for alias in node.names:
        if isinstance(node, ast.Import):
            name = alias.asname or alias.name.partition(".")[0]
            found.modules.setdefault(name, set()).add(alias.name if alias.asname else name)
            found.imports.add((0, alias.name, ""))
            continue
        module = "." * node.level + (node.module or "")
        found.imports.add((node.level, node.module or "", alias.name))
        if alias.name == "*":
            found.stars.add(module)
        elif not node.level and public(f"{module}.{alias.name}") is not None:
            found.modules.setdefault(alias.asname or alias.name, set()).add(f"{module}.{alias.name}")
        else:
            found.imported.setdefault(alias.asname or alias.name, set()).add((module, alias.name))


def _names(found: FileContext, tree: ast.AST) -> None:
    """Collect attributes and dotted names; parts of a longer dotted name do not count separately."""
    inner = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            inner.add(id(node.value))
            name = node.attr
            if not name.startswith("_"):
                found.attributes.add(name)
                if not isinstance(node.ctx, ast.Load):
                    found.stored.add(name)
            elif name not in SPECIAL:
                found.private.add(name)
            if id(node) not in inner:
                text = chain(node)
                if text:
                    found.chains.add(text)
        elif isinstance(node, ast.Name) and id(node) not in inner:
            found.chains.add(node.id)
        elif isinstance(node, ast.Call):
            found.attributes.update(word.arg for word in node.keywords if word.arg)
    found.attributes |= found.stored


def chain(node: ast.AST) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _record_powers(found: FileContext, name: str, function: Function) -> None:
    """Record a function that gives dynamic access to attributes, modules or programs by name."""
    nodes, given = list(ast.walk(function)), parameters(function.args)
    called_names = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        if isinstance(node, ast.Name) and id(node) not in called_names and node.id in _BY_NAME | _BUILTIN_RUNS:
            found.strong.add(name)
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        last = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
        if last in FORMATS and isinstance(called, ast.Attribute) and chain(called.value) in given:
            found.gadgets.add(name)
        if last in _BY_NAME:
            if isinstance(called, ast.Name) and not named_at(node):
                found.gadgets.add(name)
        elif last in POWERS and (last not in _BUILTIN_RUNS or isinstance(called, ast.Name)):
            found.strong.add(name)
    found.gadgets |= found.strong


def parameters(header: ast.arguments) -> set[str]:
    return {one.arg for one in python_syntax.arguments_of(header)}


def named_at(call: ast.Call) -> bool:
    """Return whether ``getattr`` or a similar call uses a literal name, or one with a literal public prefix."""
    if len(call.args) < 2 or any(isinstance(part, ast.Starred) for part in call.args):
        return False
    name = call.args[1]
    if isinstance(name, ast.JoinedStr) and name.values:
        name = name.values[0]
    elif isinstance(name, ast.BinOp) and isinstance(name.op, ast.Add):
        name = name.left
    elif isinstance(name, ast.Constant):
        return isinstance(name.value, str)
    if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
        return False
    return len(name.value) >= _PUBLIC_PREFIX and not name.value.startswith("_") and name.value.isidentifier()


def is_foreign(module: str) -> bool:
    """Return whether a module belongs to neither the standard library nor the test framework."""
    return not of_standard_library(module) and module.partition(".")[0] not in FRAMEWORK
