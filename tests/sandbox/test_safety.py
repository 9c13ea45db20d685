"""Plain is what uses nothing but what stands in a list; what reading cannot tell is left to a run with checks."""

from __future__ import annotations

from pathlib import Path

import pytest
from hostile.built_names import BUILT_NAMES
from hostile.candidates import FORGERIES, RIGHT

from workbench.sandbox.safety import SafetyCheck, project_names

FILE = '''\
"""Shop."""

import enum
import functools
import json
import os
import re
import sys
from collections import Counter
from dataclasses import dataclass

import numbers_of_others as others
from numbers_of_others import Price, tools

PATTERN = re.compile("[0-9]+")
run = exec


class Meta(type):
    pass


class Kind(enum.Enum):
    pass


class Shop:
    """A shop."""

    def __init__(self, name, prices):
        self.name, self._prices, self.template = name, prices, "{}"
        self.tax = others.tax(name)

    def total(self, numbers, given):
        """Return a sum."""
        return len(numbers)

    def deep(self, path):
        return functools.reduce(getattr, path.split("."), self)

    def load(self, path, given):
        """Read a file."""
        with open(path, encoding="utf-8") as file:
            return file.read()


def reach(thing, name):
    return getattr(thing, name)


def outer(numbers):
    count = 0

    def inner(given):
        return count

    return inner
'''
CHECK = SafetyCheck(FILE.encode())


def judged(body: str, function: tuple[str, int] = ("Shop.total", 1)):
    indent = " " * (4 * function[0].count(".") + 4 if "<locals>" not in function[0] else 8)
    old = {"Shop.total": "        return len(numbers)\n", "outer.<locals>.inner": "        return count\n"}
    old["Shop.load"] = '        with open(path, encoding="utf-8") as file:\n            return file.read()\n'
    new = "".join(indent + line + "\n" for line in body.splitlines())
    assert FILE.count(old[function[0]]) == 1
    content = FILE.replace(old[function[0]], new)
    compile(content, "shop.py", "exec")
    return CHECK.judge(content.encode(), function)


PLAIN = [
    "return sum(numbers)",
    "import math\nreturn math.fsum(x for x in numbers)",
    "from itertools import chain\nreturn list(chain.from_iterable(numbers))",
    "try:\n    from math import sumprod\nexcept ImportError:\n    sumprod = None\nreturn numbers",
    "return os.path.join(self.name, 'x') + os.environ.get('HOME', '') + sys.platform",
    "self._prices[numbers] = json.dumps({'a': [n.strip() for n in given]}, indent=2)\nreturn self._prices",
    "return f'{type(given).__name__}: {self.__class__.__name__} {given!r:>{numbers}}'",
    "if type(given) is not int or not isinstance(given, (str, others.Thing)):\n    raise TypeError(f'{type(given)}')",
    "return getattr(self, 'name', None) or hasattr(given, numbers)", "'{} {0[x]} {name}'.format(1, name=2)",
    "given.replace(numbers)", "os.rename(given, numbers)", "given.rename(numbers)", "given.__doc__ = self.__doc__",
    "import inspect\nreturn inspect.signature(given).parameters",
    "try:\n    return Counter(numbers).most_common(1)[0]\nexcept (KeyError, others.Problem) as error:\n"
    "    raise ValueError(str(error)) from error\nfinally:\n    self.tax = 0",
    "@functools.wraps(given)\ndef inner(*args, **kwargs):\n    return given(*args, **kwargs)\nreturn inner",
    "def key(item: 'list[str]' = None) -> int:\n    return -item\nreturn sorted(numbers, key=key, reverse=True)",
    "match given:\n    case Shop(name=name) if name:\n        return name\n    case {'a': [first, *_]}:\n        return first",
    "return Price(given) + others.tax(given)",
    "json = given.strip()\nreturn json.upper()",
    "super().__init__()\nreturn self.__dict__",
    "return PATTERN.sub(lambda found: found.group(0) * 2, given)",
    "global PATTERN\nPATTERN = re.compile(given)",
    "return undefined_name + 1",
    "return given is sys.modules or given in (os.fork, type) or others.odd == given",
    "self.anything_new = 3\nreturn self.anything_new",
]  # fmt: skip


@pytest.mark.parametrize("body", PLAIN)
def test_ordinary_code_is_plain(body: str) -> None:
    assert judged(body).reason == ""


NOT_PLAIN = [
    # names that are computed
    "getattr(*given)",
    "return list(map(getattr, given, numbers))",
    "read = getattr\nreturn read(self, given)", "[getattr for getattr in ()]\nreturn getattr(self, given)",
    "return vars()", "return run(given)",
    "import operator\nreturn operator.attrgetter(given)(self)", "from operator import methodcaller\nreturn methodcaller(given)",
    "import string\nreturn string.Formatter().get_field(given, (), {})", "return given.get_field(numbers, (), {})",
    "return '{0.__class__}'.format(self)",
    "return '{0._secret}'.format(self)", "return '{:{0.__class__}}'.format(self)",
    "show = '{0.name}'.format\nreturn show(self)",
    "@functools.wraps(given, assigned=[numbers])\ndef inner():\n    pass", "copy = functools.wraps\nreturn copy(given)",
    "functools.update_wrapper(self, given, [numbers])",
    # special names
    "return given.__globals__", "return total.__code__", "self.__class__ = given",
    "return given.__subclasses__()", "return __builtins__", "return __loader__", "return __class__",
    "return given.__reduce__()", "return sys._getframe()", "return given.mro()", "del given.__eq__",
    "match given:\n    case object(__class__=kind):\n        return kind", "match given:\n    case object(gi_frame=frame):\n        return frame",
    "return '{.__class__.__name__}'.format(given).__class__",
    # frames
    "return (x for x in numbers).gi_frame", "return given.f_back", "return given.tb_frame", "return given.cr_frame.f_globals",
    "try:\n    pass\nexcept OSError as error:\n    return error.__traceback__", "return sys.exc_info()", "return given.get_stack()",
    "return error.with_traceback(None)",
    # text that is run
    "exec(given)", "[exec for exec in ()]\nexec(given)", "return eval(given)", "return compile(given, '', 'exec')", "return globals()",
    "return __import__(given)", "import importlib\nreturn importlib.import_module(given)", "import typing\nreturn typing.get_type_hints(given)",
    "from typing import get_type_hints as hints\nreturn hints(given)", "def inner(x: '__import__(\"os\")'):\n    pass",
    "def inner(x: given(1)):\n    pass", "import pickle\nreturn pickle.loads(given)", "import timeit\nreturn timeit.timeit(given)",
    "return functools.singledispatch(given)",
    # modules
    "return sys.modules", "return os.system(given)", "return os._exit(0)", "return os.write(1, b'')", "import gc", "import pytest",
    "import unittest.mock", "from unittest.mock import ANY\nreturn ANY", "import ctypes", "import inspect\nreturn inspect.currentframe()",
    "from sys import modules\nreturn modules", "import threading\nthreading.Thread(target=given).start()", "import atexit", "import signal",
    "import subprocess", "import weakref\nweakref.finalize(self, given)", "module = sys\nreturn module.modules", "return [sys][0]",
    "return re.enum.sys.modules", "return json.codecs.builtins",
    "import math as sys\nreturn sys.modules", "from . import os", "from numbers_of_others import os", "import numbers_of_others.sys",
    "return os.path.os.system", "from os.path import os\nreturn os", "import collections\nreturn collections.abc.sys",
    "def inner(sys):\n    pass\nreturn sys.modules", "sys.stdout = given", "others.tax = given", "import pkgutil", "return re.sys", "from json import JSONDecoder, codecs",
    # classes, which may be equal to everything
    "class Any:\n    pass", "return type('A', (), {})", "make = type\nreturn make(given)",
    "import dataclasses\nreturn dataclasses.make_dataclass('A', [])", "import types\nreturn types.new_class('A')",
    "return enum.Enum('A', given)", "return Meta('A', (), given)", "return Kind('A', given)",
    "def __eq__(self, other):\n    return True\nself.__eq__ = __eq__", "Shop.__eq__ = given",
    # files
    "return open(*given)",
    "import shutil\nshutil.copy(given, numbers)", "import io\nreturn io.open(given, 'w')",
    "import io\nreturn io.FileIO(given, 'w')", "import zipfile\nzipfile.ZipFile(given, 'w')", "import logging\nlogging.FileHandler(given)",
    "import argparse\nreturn argparse.FileType('w')", "import argparse\nargparse.ArgumentParser().parse_args(numbers, given)",
    "import codecs\nreturn codecs.open(given, 'w')", "import mmap", "import fcntl", "import sqlite3",
]  # fmt: skip


@pytest.mark.parametrize("body", NOT_PLAIN)
def test_what_stands_in_no_list_is_not_plain(body: str) -> None:
    found = judged(body)
    assert not found.plain
    assert found.reason
    assert found.checked is None


#: Reading cannot tell what a computed name, an unknown attribute or a found class is.
LEFT_TO_THE_RUN = [
    "return reach(given, numbers)",
    "return getattr(self, given)",
    "setattr(self, given, 1)",
    "return getattr(given, '__class__')",
    "return getattr(given, f'__{numbers}')",
    "return getattr(given, f'{numbers}name')",
    "return vars(given)",
    "return self.deep('__class__')",
    "text = given + numbers\nreturn text.format(self)",
    "return str.format(given, self)",
    "given = given[0]\nreturn given.format_map(numbers)",
    "return given.__class__",
    "return self.__class__",
    "return given.__dict__",
    "return given._secret",
    "return others.os",
    "return tools.os",
    "return type(type(given))('A', (), {})",
    "return type(self)('A', (), {})",
    "return type(self)(*given)",
    "return list(map(type(int), ['A'], [()], [{}]))",
    "kind = self.__class__\nreturn kind('A', (), {})",
    "return given.unknown",
    "given.unknown = 1",
    "from numbers_of_others import Price\nreturn Price.rebate",
]  # fmt: skip


@pytest.mark.parametrize("body", LEFT_TO_THE_RUN)
def test_what_reading_cannot_tell_is_left_to_a_run_with_checks(body: str) -> None:
    found = judged(body)
    assert not found.plain
    assert found.reason
    assert found.checked is not None
    content = found.checked().decode()
    compile(content, "shop.py", "exec")
    assert "workbench_runner.reaching" in content
    assert "def total(self, numbers, given):" in content


@pytest.mark.parametrize("body", ["return open(given).read()", "given.write_text(numbers)", "given.open('r+b')"])
def test_which_files_it_opens_is_left_to_the_run(body: str) -> None:
    found = judged(body)
    assert (found.plain or found.checked is not None, found.opens) == (True, True)
    for late in ("return map(open, given)", "return map(given.open, numbers)", "return map(given.read_text, numbers)"):
        assert not judged(late).plain


def test_what_an_outer_function_binds_is_known_inside() -> None:
    inner = ("outer.<locals>.inner", 1)
    assert judged("return count + len(numbers)", inner).plain
    assert not judged("return sys", inner).plain


def test_nothing_but_the_body_may_change() -> None:
    body = "        return len(numbers)\n"
    changed = {
        "more": FILE.replace(body, body + "\n    def more(self):\n        pass\n"),
        "header": FILE.replace("def total(self, numbers, given)", "def total(self, numbers, given=exec)"),
        "decorator": FILE.replace("    def total(", "    @functools.cache\n    def total("),
        "elsewhere": FILE.replace('"[0-9]+"', '"[0-9]*"'),
        "broken": FILE.replace(body, "        return (\n"),
    }
    for name, content in changed.items():
        assert content != FILE
        assert not CHECK.judge(content.encode(), ("Shop.total", 1)).plain, name
    assert not CHECK.judge(FILE.encode(), ("Shop.nowhere", 1)).plain
    assert not SafetyCheck(b"def f(:\n").judge(b"def f(): pass\n", ("f", 1)).plain
    assert not SafetyCheck(b"").judge(b"def f(): pass\n", ("f", 1)).plain


@pytest.mark.parametrize("name", [*BUILT_NAMES, *FORGERIES])
def test_no_hostile_body_is_plain_unless_it_only_adds(name: str) -> None:
    body = BUILT_NAMES.get(name) or FORGERIES[name].body
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    file = 'def total(numbers):\n    """Sum."""\n'
    check = SafetyCheck(f"{file}    {RIGHT}\n".encode())
    found = check.judge(f"{file}{lines}".encode(), ("total", 1))
    # What is printed reaches nobody; which files are opened is seen.
    assert not found.plain or name == "printed_passed" or found.opens


def test_other_encodings_and_depths_are_survived() -> None:
    latin = '# -*- coding: latin-1 -*-\ndef f(x):\n    return "é"\n'.encode("latin-1")
    assert SafetyCheck(latin).judge(latin.replace(b"return", b"return x +"), ("f", 1)).plain
    deep = "def f(x):\n    return " + "-" * 20_000 + "x\n"
    assert not SafetyCheck(b"def f(x):\n    return x\n").judge(deep.encode(), ("f", 1)).plain


SHOP = {
    "shop/prices.py": "class Price:\n    def __init__(self):\n        self.amount = 1\n        self._rounded = 2\n",
    "shop/deep.py": "import operator\n\nclass Deep:\n    def reached(self, path):\n"
    "        return operator.attrgetter(path)(self)\n\n    def frame(self):\n        return self.gi_frame.f_globals\n",
    "tests/test_shop.py": "def test_it(request):\n    assert request.of_the_tests\n",
    "shop/basket.py": "def total(prices):\n    return 0\n",
    "shop/broken.py": "def total(:\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, content in SHOP.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    return tmp_path


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return sum(price.amount + price._rounded for price in prices)", ""),
        ("prices.amount = 3", ""),
        ("return prices.reached('__class__')", "it uses the attribute reached, which the file does not mention"),
        ("return prices.gi_frame", "it uses the attribute gi_frame"),
        ("return prices.f_globals", "it uses the attribute f_globals"),
        ("return prices.of_the_tests", "it uses the attribute of_the_tests, which the file does not mention"),
        ("return prices.__globals__", "it uses the attribute __globals__"),
    ],
)
def test_a_body_may_use_attributes_of_the_projects_own_objects(root: Path, body: str, reason: str) -> None:
    pristine = (root / "shop" / "basket.py").read_bytes()
    content = pristine.replace(b"return 0", body.encode())
    assert SafetyCheck(pristine, lambda: project_names(root)).judge(content, ("total", 1)).reason == reason


def test_the_order_of_the_bodies_changes_no_answer(root: Path) -> None:
    pristine = (root / "shop" / "basket.py").read_bytes()
    bodies = [b"return prices.amount", b"return len(prices)", b"return prices.nothing", b"return prices._rounded"]

    def answers(order: list[bytes]) -> dict[bytes, bool]:
        check = SafetyCheck(pristine, lambda: project_names(root))
        return {body: check.judge(pristine.replace(b"return 0", body), ("total", 1)).plain for body in order}

    assert answers(bodies) == answers(bodies[::-1])


def test_the_files_are_read_only_where_the_own_file_does_not_suffice(root: Path) -> None:
    pristine = (root / "shop" / "basket.py").read_bytes()
    check = SafetyCheck(pristine, lambda: pytest.fail("read"))
    assert check.judge(pristine.replace(b"return 0", b"return len(prices)"), ("total", 1)).plain
