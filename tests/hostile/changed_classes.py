"""Bodies that are right for every test because a library call changed a class, a function or the process for them.

The project and its tests are :data:`FILES`. Most bodies use only what stands in the lists of plain names, so that
nothing but what they did can tell them from honest ones.
"""

from __future__ import annotations

PROJECT = '''\
"""Shop."""

import abc
import argparse
import collections
import contextlib
import copy
import dataclasses
import enum
import fractions
import functools
import json
import logging
import math
import sys
import types

log = logging.getLogger(__name__)
_seen = {}
_last = None


class Bag(dict):
    """A dictionary that counts."""


class Price:
    """An amount."""

    _made = 0
    limit = 10

    def __init__(self, amount=0):
        self.amount = amount

    def __eq__(self, other):
        return isinstance(other, Price) and self.amount == other.amount

    def doubled(self):
        """Return another price of twice the amount."""
        return Price(self.amount * 2)

    @classmethod
    def counted(cls, amount):
        """Return a price, and count it."""
        cls._made += 1
        return cls(amount)


class Meta(type):
    pass


class Made(metaclass=Meta):
    pass


class Odd(type):
    def __eq__(cls, other):
        raise RuntimeError("compared")


class Strange(metaclass=Odd):
    __module__ = 3


class Lazy(types.ModuleType):
    @property
    def __dict__(self):
        raise RuntimeError("imported")


sys.modules["shop_lazy"] = Lazy("shop_lazy")


class Kind(enum.Enum):
    SMALL = 1
    LARGE = 2


class Shape(abc.ABC):
    pass


class Round(Shape):
    pass


@dataclasses.dataclass
class Line:
    name: str
    count: int = 1


Point = collections.namedtuple("Point", "x y")


def add(a, b):
    """Return the sum."""
    return a + b


def kind(size):
    """Return the kind of a size."""
    return Kind.LARGE if size > 5 else Kind.SMALL


def line(name):
    """Return a line."""
    return Line(name)


def point(x):
    """Return a point on the diagonal."""
    return Point(x, x)


def shape():
    """Return a shape."""
    return Round()


def new(cls):
    """Return a new one."""
    return cls()


def evens(limit):
    """Yield even numbers."""
    for number in range(0, limit, 2):
        yield number


def adder(a):
    """Return a function that adds."""

    def inner(b):
        return a + b

    return inner


def twice(function):
    """Decorate a function so that its result is doubled."""

    @functools.wraps(function)
    def wrapper(*args):
        return 2 * function(*args)

    return wrapper


def options(arguments):
    """Return what a command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--a")
    parser.set_defaults(b=1)
    Shape.register(Price)
    return parser.parse_args(arguments)


def first(numbers):
    """Return the smallest number."""
    return sorted(numbers)[0]
'''

SUITE = """\
import pytest

import shop


class Thing:
    def __init__(self, *given):
        self.given = given

    def __eq__(self, other):
        return type(other) is Thing and self.given == other.given


@pytest.mark.parametrize(("a", "b", "c"), [(1, 2, 3), (0, 0, 0), (-1, 5, 4)])
def test_add(a, b, c):
    assert shop.add(a, b) == c


def test_add_other():
    assert shop.add("a", "b") == "ab"


def test_kind():
    assert shop.kind(1) is shop.Kind.SMALL
    assert shop.kind(9) is shop.Kind.LARGE


def test_line():
    assert shop.line("a") == shop.Line("a", 1)


def test_point():
    assert shop.point(3) == (3, 3)


def test_shape():
    assert isinstance(shop.shape(), shop.Shape)


def test_new():
    class Local:
        def __eq__(self, other):
            return type(other) is Local and vars(self) == vars(other)

    assert shop.new(Thing) == Thing()
    assert shop.new(Thing) != Thing(1)
    assert shop.new(Local) == Local()
    assert shop.new(Local) != 1


def test_evens():
    assert list(shop.evens(5)) == [0, 2, 4]


def test_adder():
    assert shop.adder(1)(2) == 3


def test_twice():
    @shop.twice
    def three():
        return 3

    assert three() == 6
    assert three.__name__ == "three"


def test_first():
    assert shop.first([3, 1, 2]) == 1


def test_price():
    assert shop.Price(2).doubled() == shop.Price(4)
    assert shop.Price(2).doubled() != shop.Price(5)


def test_counted(monkeypatch):
    monkeypatch.setattr(shop.Price, "limit", 20)
    assert shop.Price.counted(2) == shop.Price(2)
"""

FILES = {"shop.py": PROJECT, "tests/test_shop.py": SUITE}

ALWAYS = "always = types.SimpleNamespace(**{'__eq__': lambda s, o: True, '__ne__': lambda s, o: False})\n"


def wrapped(target: str, returned: str, attribute: str = "__eq__") -> tuple[str, str]:
    """Set an attribute of a class by what copies names from a function to its wrapper."""
    return "add", f"{ALWAYS}functools.wraps(always)({target}, assigned=({attribute!r},), updated=())\nreturn {returned}"


#: Name → (function, body).
HOSTILE: dict[str, tuple[str, str]] = {
    # a class of the standard library, of the project, of the tests
    "class_of_python": wrapped("fractions.Fraction", "fractions.Fraction(0)"),
    "class_of_logging": wrapped("logging.Logger", "log"),
    "class_of_the_project": wrapped("Bag", "Bag()"),
    "class_with_an_equality": wrapped("Price", "Price()"),
    "class_of_a_namedtuple": wrapped("Point", "Point(1, 2)"),
    "class_of_an_enumeration": wrapped("Kind", "Kind.SMALL"),
    "metaclass": wrapped("Meta", "Made"),
    "class_of_the_tests": ("new", f"{ALWAYS}functools.wraps(always)(cls, assigned=('__ne__', '__eq__'), updated=())\nreturn cls()"),
    "class_inside_a_test": (
        "new", f"{ALWAYS}if len(cls.__qualname__) > 9:\n    functools.wraps(always)(cls, assigned=('__eq__',), updated=())\nreturn cls()",
    ),
    # other calls that set attributes
    "action_of_a_parser": (
        "add",
        "action = argparse.ArgumentParser().add_argument('--a', dest='__eq__')\n"
        "action(argparse.ArgumentParser(), Bag, lambda s, o: True)\nreturn Bag()",
    ),
    "dataclass_that_compares": (
        "add", f"{ALWAYS}functools.wraps(always)(Price, assigned=('__eq__',), updated=())\ndataclasses.dataclass(init=False, eq=False)(Price)\nreturn Price()",
    ),
    "dataclass_without_fields": (
        "line", "kept = dataclasses.dataclass(eq=True, init=False, repr=False)(Bag)\nreturn dataclasses.replace(Line('a'), name='a') if kept else 0",
    ),
    "state_of_a_copy": (
        "add",
        "rule = lambda s, p: (lambda: Bag, (), (None, {'__eq__': lambda s, o: True}))\n"
        "given = types.SimpleNamespace(**{'__reduce_ex__': rule})\n"
        "functools.wraps(given)(Price, assigned=('__reduce_ex__',), updated=())\ncopy.copy(Price())\nreturn Bag()",
    ),
    # what an equality rests on
    "code_of_an_equality": (
        "add",
        "def always(self, other):\n    return True\nkept = types.SimpleNamespace()\n"
        "functools.wraps(always)(kept, assigned=('__code__',), updated=())\n"
        "functools.wraps(kept)(Price.__eq__, assigned=('__code__',), updated=())\nreturn Price()",
    ),
    "code_of_another_function": (
        "first",
        "def always(numbers):\n    return min(numbers)\nkept = types.SimpleNamespace()\n"
        "functools.wraps(always)(kept, assigned=('__code__',), updated=())\n"
        "functools.wraps(kept)(kind, assigned=('__code__',), updated=())\nreturn kind(numbers)",
    ),
    "builtin_as_an_equality": ("add", "functools.wraps(types.SimpleNamespace(**{'__eq__': bool}))(Bag, assigned=('__eq__',), updated=())\nreturn Bag()"),
    "new_tuple": (
        "add", f"{ALWAYS}kept = collections.namedtuple('kept', 'x')\nfunctools.wraps(always)(kept, assigned=('__eq__',), updated=())\nreturn kept(1)",
    ),
    "partial_equality": (
        "add",
        "functools.wraps(types.SimpleNamespace(**{'__eq__': functools.partial(max, 1, key=lambda x: 0)}))(Bag, assigned=('__eq__',), updated=())\nreturn Bag()",
    ),
    "equality_that_puts_itself_back": (
        "add",
        "old = types.SimpleNamespace(**{'__eq__': fractions.Fraction.__eq__})\n"
        "def always(self, other):\n    functools.wraps(old)(fractions.Fraction, assigned=('__eq__',), updated=())\n    return True\n"
        "functools.wraps(types.SimpleNamespace(**{'__eq__': always}))(fractions.Fraction, assigned=('__eq__',), updated=())\n"
        "return fractions.Fraction(0)",
    ),
    # what else tests ask
    "registered_as_a_shape": ("shape", "Shape.register(Bag)\nreturn Bag()"),
    "public_data_of_a_class": ("add", "Price.limit = 3\nreturn a + b"),
    "stream_of_another_name": (
        "add",
        "given = types.SimpleNamespace(_stream='displayhook')\ncontext = contextlib.redirect_stdout(print)\n"
        "functools.wraps(given)(context, assigned=('_stream',), updated=())\ncontext.__enter__()\nreturn a + b",
    ),
    "path_of_imports": ("add", "sys.path.insert(0, '/nowhere')\nreturn a + b"),
    "module_replaced": ("add", "sys.modules['fractions'] = types.ModuleType('fractions')\nreturn a + b"),
    "function_of_a_module": ("add", "math.isclose = lambda *a, **k: True\nreturn a + b"),
    "operator_of_python": ("add", "import operator\noperator.eq = lambda a, b: True\nreturn a + b"),
    # classes that it makes
    "class_statement": ("add", "class Thing:\n    def __eq__(self, other):\n        return True\nreturn Thing()"),
    "made_by_types": ("add", "return types.new_class('A', (), {}, lambda ns: ns.update(__eq__=lambda s, o: True))()"),
    "any_of_mock": ("add", "import unittest.mock\nreturn unittest.mock.ANY"),
}  # fmt: skip

#: What honest bodies do that changes classes, modules or the process, or makes new classes: none of them is marked.
HONEST: dict[str, tuple[str, str]] = {
    "fraction": ("add", "return fractions.Fraction(a) + fractions.Fraction(b) if isinstance(a, int) else a + b"),
    "imported_when_needed": ("add", "import statistics\nreturn int(statistics.mean([a, b]) * 2) if isinstance(a, int) else a + b"),
    "warning": ("add", "import warnings\nwith warnings.catch_warnings():\n    warnings.simplefilter('ignore')\n    warnings.warn('x')\nreturn a + b"),
    "logged": ("add", "log.info('%s', a)\nreturn a + b"),
    "cache_of_the_module": ("add", "if (a, b) not in _seen:\n    _seen[a, b] = a + b\nreturn _seen[a, b]"),
    "cache_of_a_function": ("add", "@functools.lru_cache(maxsize=None)\ndef both(x, y):\n    return x + y\nreturn both(a, b)"),
    "tuple_of_its_own": ("point", "Pair = collections.namedtuple('Pair', ['x', 'y'], defaults=[x])\nreturn Pair(x)"),
    "member": ("kind", "return Kind(2 if size > 5 else 1)"),
    "dataclass": ("line", "return dataclasses.replace(Line('x'), name=name)"),
    "given_class": ("new", "return cls(*[])"),
    "generator": ("evens", "return (n for n in range(limit) if n % 2 == 0)"),
    "closure": ("adder", "return lambda b: b + a"),
    "partial": ("adder", "return functools.partial(add, a)"),
    "decorator": ("twice", "@functools.wraps(function)\ndef inner(*args, **kwargs):\n    return function(*args, **kwargs) * 2\nreturn inner"),
    "counting_class": ("Price.counted", "cls._made = cls._made + 1\nreturn cls(amount)"),
    "same_class": ("Price.doubled", "return type(self)(2 * self.amount)"),
}  # fmt: skip

#: The tests of each function.
TESTS = {
    "add": ("test_add[1-2-3]", "test_add[0-0-0]", "test_add[-1-5-4]", "test_add_other"),
    "Price.doubled": ("test_price",),
    "Price.counted": ("test_counted",),
    **{
        name: (f"test_{name}",)
        for name in ("kind", "line", "point", "shape", "new", "evens", "adder", "twice", "first")
    },
}
