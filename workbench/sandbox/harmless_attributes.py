"""Allowed attribute names; the principle is that of :mod:`workbench.sandbox.harmless_modules`."""

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
import io
import itertools
import logging
import pathlib
import re
import struct
import threading
import types
import urllib.parse
import uuid
from collections.abc import Iterable


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
