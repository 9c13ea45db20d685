"""Canonical texts of values that literals can express; this module runs inside and outside of sandboxes.

Values with the same text are equal and have the same type. Results can therefore be compared as texts outside of the
candidate's process, where none of its own ``__eq__`` methods is called.
"""

from __future__ import annotations

import ast
import builtins
import datetime
import decimal
import fractions
import math
import pathlib
import re
from collections.abc import Callable
from typing import Any

NESTING, CHARACTERS, ITEMS = 5, 2000, 200

_UTC = datetime.timezone.utc  # noqa: UP017 - Python 3.10 has no ``datetime.UTC``

_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{6,}|0x0*(7f|5[56])[0-9a-f]{10}\b", re.IGNORECASE)
_TEMPORARY = re.compile(
    r"pytest-of-|(?<![\w.-])(/private)?(/var)?/tmp(?![\w.-])|/var/folders/|\\AppData\\Local\\Temp\\"
)


#: Built-in types and functions without side effects; their canonical text is their name
_NAMES = (
    "abs", "all", "any", "ascii", "bin", "bool", "bytes", "callable", "chr", "complex", "dict", "divmod", "float",
    "frozenset", "hex", "int", "len", "list", "max", "min", "object", "oct", "ord", "pow", "range", "repr",
    "round", "set", "sorted", "str", "sum", "tuple", "type",
)  # fmt: skip
_BUILTINS = {name: getattr(builtins, name) for name in _NAMES}
_BY_IDENTITY = {id(value): name for name, value in _BUILTINS.items()}


class NotLiteral(Exception):
    """The value has no canonical text; the message is the reason."""


def encode(value: object, characters: int = CHARACTERS) -> str:
    """Return the canonical expression of ``value``; raises :class:`NotLiteral`."""
    text = _Encoder(characters).text(value, 0)
    if len(text) > characters:
        raise NotLiteral(f"longer than {characters} characters")
    return text


def decode(text: str) -> Any:
    """Return the value of a canonical expression; raises ``ValueError``."""
    try:
        return _value(ast.parse(text, mode="eval").body)
    except (SyntaxError, TypeError, ArithmeticError, RecursionError, MemoryError) as problem:
        raise ValueError(f"not a canonical value: {problem}") from None


class _Encoder:
    def __init__(self, characters: int) -> None:
        self._characters = characters
        self._items = 0

    def text(self, value: Any, depth: int) -> str:
        if depth > NESTING:
            raise NotLiteral(f"nested deeper than {NESTING}")
        self._items += 1
        if self._items > ITEMS + 1:  # the value itself does not count as an item
            raise NotLiteral(f"more than {ITEMS} items")
        kind = type(value)
        if kind in _CONTAINERS:
            return self._container(value, kind, depth + 1)
        scalar = _SCALARS.get(kind)
        if scalar is None:
            raise NotLiteral(f"a value of type {kind.__name__}")
        if kind is int and value.bit_length() > 4 * self._characters:
            raise NotLiteral(f"longer than {self._characters} characters")
        if kind in (str, bytes) and len(value) > self._characters:
            raise NotLiteral(f"longer than {self._characters} characters")
        return scalar(value)

    def _container(self, value: Any, kind: type, depth: int) -> str:
        if len(value) > ITEMS:
            raise NotLiteral(f"more than {ITEMS} items")
        if kind is dict:
            items = [f"{self.text(key, depth)}: {self.text(item, depth)}" for key, item in value.items()]
            return "{" + ", ".join(sorted(items)) + "}"
        items = [self.text(item, depth) for item in value]
        if kind is list:
            return "[" + ", ".join(items) + "]"
        if kind is tuple:
            return "(" + ", ".join(items) + (",)" if len(items) == 1 else ")")
        inner = "{" + ", ".join(sorted(items)) + "}" if items else ""
        if kind is frozenset:
            return f"frozenset({inner})"
        return inner or "set()"


_CONTAINERS = (list, tuple, dict, set, frozenset)


def _string(value: str) -> str:
    if _ADDRESS.search(value):
        raise NotLiteral("the address of an object")
    if _TEMPORARY.search(value):
        raise NotLiteral("a temporary path")
    return repr(value)


def _bytes(value: bytes) -> str:
    _string(value.decode("latin-1"))
    return repr(value)


def _float(value: float) -> str:
    if math.isnan(value):
        raise NotLiteral("not a number")
    return f"float({str(value)!r})" if math.isinf(value) else repr(value)


def _complex(value: complex) -> str:
    return f"complex({_float(value.real)}, {_float(value.imag)})"


def _time(value: datetime.datetime | datetime.time) -> str:
    # A subclass of ``tzinfo`` may have any ``repr``.
    if value.tzinfo is not None and value.tzinfo is not _UTC:
        raise NotLiteral("a time zone other than UTC")
    return repr(value)


def _decimal(value: decimal.Decimal) -> str:
    if value.is_nan():
        raise NotLiteral("not a number")
    return f"decimal.{value!r}"


def _fraction(value: fractions.Fraction) -> str:
    return f"fractions.Fraction({int(value.numerator)}, {int(value.denominator)})"


def _builtin(value: object) -> str:
    if id(value) not in _BY_IDENTITY:
        raise NotLiteral(f"a value of type {type(value).__name__}")
    return _BY_IDENTITY[id(value)]


def _path(value: pathlib.PurePath) -> str:
    if value.anchor:
        raise NotLiteral("an absolute path")
    name = "Path" if isinstance(value, pathlib.Path) else type(value).__name__
    return f"pathlib.{name}({_string(str(value))})"


_SCALARS: dict[type, Callable[[Any], str]] = {
    type(None): repr,
    bool: repr,
    int: repr,
    float: _float,
    complex: _complex,
    str: _string,
    bytes: _bytes,
    datetime.date: repr,
    datetime.datetime: _time,
    datetime.time: _time,
    datetime.timedelta: repr,
    decimal.Decimal: _decimal,
    fractions.Fraction: _fraction,
    pathlib.PurePosixPath: _path,
    pathlib.PureWindowsPath: _path,
    type(pathlib.Path()): _path,
    range: repr,
    type: _builtin,
    type(len): _builtin,
}


def _infinity(text: str) -> float:
    if text not in ("inf", "-inf"):
        raise ValueError(f"not a canonical value: float({text!r})")
    return float(text)


def _ratio(numerator: int, denominator: int) -> fractions.Fraction:
    if (
        type(numerator) is not int or type(denominator) is not int
    ):  # converting a string such as '1e999999999' would take forever
        raise ValueError("not a canonical value: a Fraction of something else than two integers")
    return fractions.Fraction(numerator, denominator)


_CONSTRUCTORS: dict[str, Callable[..., Any]] = {
    "float": _infinity,
    "complex": complex,
    "set": set,
    "frozenset": frozenset,
    "range": range,
    "datetime.date": datetime.date,
    "datetime.datetime": datetime.datetime,
    "datetime.time": datetime.time,
    "datetime.timedelta": datetime.timedelta,
    "decimal.Decimal": decimal.Decimal,
    "fractions.Fraction": _ratio,
    "pathlib.PurePosixPath": pathlib.PurePosixPath,
    "pathlib.PureWindowsPath": pathlib.PureWindowsPath,
    "pathlib.Path": pathlib.Path,
}

_PLAIN = (type(None), bool, int, float, complex, str, bytes)


def _value(node: Any) -> Any:
    kind: type = type(node)
    if kind is ast.Name and node.id in _BUILTINS:
        return _BUILTINS[node.id]
    if kind is ast.Constant and type(node.value) in _PLAIN:
        return node.value
    if kind is ast.UnaryOp and type(node.op) is ast.USub:
        number: Any = getattr(node.operand, "value", None)
        if type(number) in (int, float, complex):
            return -number
    elif kind is ast.Dict and None not in node.keys:
        return {_value(key): _value(item) for key, item in zip(node.keys, node.values, strict=True)}
    elif kind in _DISPLAYS:
        return _DISPLAYS[kind](_value(item) for item in node.elts)
    elif kind is ast.Attribute and ast.unparse(node) == "datetime.timezone.utc":
        return _UTC
    elif kind is ast.Call and type(node.func) in (ast.Name, ast.Attribute):
        constructor = _CONSTRUCTORS.get(ast.unparse(node.func))
        if constructor is not None:
            named = {str(keyword.arg): _value(keyword.value) for keyword in node.keywords}
            return constructor(*[_value(argument) for argument in node.args], **named)
    raise ValueError(f"not a canonical value: {ast.unparse(node)[:80]}")


_DISPLAYS: dict[type, Callable[..., Any]] = {ast.List: list, ast.Tuple: tuple, ast.Set: set}
