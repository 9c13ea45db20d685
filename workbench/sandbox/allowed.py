"""The safe subset: what code may use without coming near the process that reports on it.

A thing is in a list only if a program that uses nothing else can neither get an attribute by a name that it computes,
nor run a text, nor import by a computed name, nor make a class, nor reach a frame, a module table, another process or
its own end: each of these leads to the reporter or makes an object that every test takes for right. Which files it
opens is seen when it runs.
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
import types
import urllib.parse
import uuid
from collections.abc import Iterable

from workbench.sandbox.workbench_runner.reaching import FRAMEWORK

_FUNCTIONS = (
    "abs aiter all anext any ascii bin bool bytearray bytes callable chr classmethod complex dict dir divmod "
    "enumerate filter float format frozenset hasattr hash hex id input int isinstance issubclass iter len list "
    "map max memoryview min next object oct ord pow print property range repr reversed round set slice sorted "
    "staticmethod str sum tuple zip NotImplemented Ellipsis exit quit"
)
#: Exceptions, and functions and types that only work on what they are given.
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
#: Modules of which everything public is harmless, but for what :data:`_EXCEPT` names.
_WHOLE = frozenset(_MODULES.split())
_EXCEPT = {
    "dataclasses": {"make_dataclass"},  # makes a class
    # Annotations that are texts are evaluated.
    "functools": {"singledispatch", "singledispatchmethod"},
    "operator": {"attrgetter", "methodcaller"},  # attributes by computed names
    "string": {"Formatter"},  # the same, as get_field
    "typing": {"get_type_hints", "ForwardRef"},  # evaluates texts
}
#: What newer versions of Python have in them: code asks for it and does without where it is missing.
_NEWER = {
    "itertools": {"batched"},
    "math": {"fma", "sumprod"},
    "random": {"binomialvariate"},
    "statistics": {"kde", "kde_random"},
}
#: Modules of which only this is harmless.
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

#: A class of these runs nothing when it is raised or caught.
_RAISED = ("Error", "Exception", "Warning", "Expired")


@functools.cache
def public(module: str) -> frozenset[str] | None:
    """Return what may be used of a module of the standard library; None for one that is in no list."""
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


#: Attributes by which one comes from a function, a coroutine or an error to frames, and from there anywhere.
INSIDES = frozenset(
    _attributes(
        (types.FrameType, types.CodeType, types.TracebackType, types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
    )
    - {"send", "throw", "close", "replace", "clear"}
) | {"mro", "with_traceback", "get_stack", "get_coro", "get_field", "func_globals", "hardlink_to", "symlink_to", "link_to"}  # fmt: skip

#: Attributes that open a file of any name; where they stand uncalled, others would call them.
OPENS = frozenset({"open", "write_text", "write_bytes", "read_text", "read_bytes"})

#: Attributes of what programs hold in their hands.
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

#: Attributes with a meaning of their own, whatever a file says.
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

#: Special attributes that only tell a name, and those by which operators are called.
TOLD = frozenset(
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
#: These are called as themselves, so that calling them by name adds nothing.
OPERATORS |= {"__init__", "__call__"}
#: Only a class's own, through ``super()`` or its name.
MAKERS = frozenset({"__new__"})
#: What a named tuple calls with an underscore so that fields may have any name.
OF_TUPLES = frozenset({"_asdict", "_fields", "_make", "_replace", "_field_defaults"})
