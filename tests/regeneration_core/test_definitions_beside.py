"""Whole programs in answers: what stands beside the function goes in with it, so that it does what the program does."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from workbench.regeneration.extraction import Extraction, Style, extract_body
from workbench.repository.functions import find_functions
from workbench.repository.splicing import splice

SOURCE = b'''"""Tiny."""
import os
STEP = 5


def other(v):
    return v + STEP


def inc(x):
    """Return x plus one."""
    raise NotImplementedError


def gen(n, *, step=1):
    yield n


async def co(a, b=2, *args, k=3, **kw):
    return 0


async def agen(n):
    yield n


class A:
    def area(self, width, height=2):
        return 0
'''
FUNCTIONS = {function.qualified_name: function for function in find_functions(SOURCE, "m.py")}


def read(answer: str, name: str = "inc", style: Style = "solution") -> tuple[Extraction, dict[str, Any]]:
    """Return what was extracted, and the module with it."""
    found = extract_body(answer, FUNCTIONS[name], SOURCE, style=style)
    assert found.valid, found
    space: dict[str, Any] = {"__name__": "m"}
    exec(splice(SOURCE, FUNCTIONS[name], found.body or ""), space)
    return found, space


PROGRAMS = {
    "a helper before it": "def _one(v):\n    return v + 1\n\n\ndef inc(x):\n    return _one(x)\n",
    "a helper after it": "def inc(x):\n    return _one(x)\n\n\ndef _one(v):\n    return v + 1\n",
    "a constant": "ONE = 1\n\n\ndef inc(x):\n    return x + ONE\n",
    "a class": "class Adder:\n    def add(self, v):\n        return v + 1\n\n\ndef inc(x):\n    return Adder().add(x)\n",
    "another parameter": "def inc(value):\n    return value + 1\n",
    "a star import": "from math import *\n\n\ndef inc(x: int) -> int:\n    return int(floor(x) + 1)\n",
    "two star imports": "from math import *\nfrom collections import *\ndef inc(x):\n    d = deque([floor(x)])\n    return d.pop() + 1\n",
    "a star import of annotations": "from typing import *\n\n\ndef inc(x: List[int]) -> Any:\n    return x + 1\n",
    "a lambda": "inc = lambda x: x + 1\n",
    "a lambda with other parameters": "ONE = 1\ninc = lambda value, by=ONE: value + by\n",
    "another function assigned": "def plus(x):\n    return x + 1\ninc = plus\n",
    "a partial": "import functools, operator\ninc = functools.partial(operator.add, 1)\n",
    "a constant named like one of the file": "STEP = 1\ndef inc(x):\n    return x + STEP\n",
    "a function named like one of the file": "def other(v):\n    return v + 1\ndef inc(x):\n    return other(x)\n",
    "a function of the file, elided": "def other(v):\n    ...\ndef inc(x):\n    return other(x) - 4\n",
    "state that a recursion shares": "memo = {}\ndef inc(x):\n    if x not in memo:\n        memo[x] = x + 1 if x <= 0 else inc(x - 1) + 1\n    return memo[x]\n",
    "a decorator": "import functools\n@functools.lru_cache(None)\ndef inc(x):\n    return x + 1 if x <= 0 else inc(x - 1) + 1\n",
    "a global that is set": "COUNT = 0\ndef _bump():\n    global COUNT\n    COUNT += 1\n    return COUNT\ndef inc(x):\n    return x + _bump()\n",
    "a global named like the parameter": "x = 1\ndef h(v):\n    return v + x\ndef inc(y):\n    return h(y)\n",
    "a global named like a local": "S = 1\ndef h(v):\n    return v + S\ndef inc(x):\n    S = 7\n    return h(x)\n",
    "a table that a loop fills": "T = {}\nfor i in range(-3, 4):\n    T[i] = i + 1\ndef inc(x):\n    return T[x]\n",
    "a table that is filled later": "def inc(x):\n    return T[x]\nT = []\nT.extend([1, 2, 0])\n",
    "an import that may fail": "try:\n    import nothing_of_the_kind as np\nexcept ImportError:\n    np = None\ndef inc(x):\n    return x + (1 if np is None else 2)\n",
    "only types imported": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from foo import Bar\ndef inc(x: 'Bar') -> 'Bar':\n    return x + 1\n",
    "a block for the command line": "def inc(x):\n    return x + 1\nif __name__ == '__main__':\n    raise SystemExit(inc(3))\n",
    "tests behind it": "def inc(x):\n    return x + 1\nassert inc(1) == 3\nprint(inc(2))\nraise ValueError\n",
    "an unfinished example": "def h(v):\n    return v + 1\ndef inc(x):\n    return h(x)\n\nprint(inc(\n",
    "any arguments": "def inc(*args):\n    return args[0] + 1\n",
    "one more parameter": "def inc(value, by=1):\n    return value + by\n",
    "a class around it": "class Solution:\n    def _one(self):\n        return 1\n    def inc(self, x):\n        return x + self._one()\n",
    "another name": "def _h(v, w):\n    return v + w\ndef solution(x):\n    return _h(x, 1)\nprint(solution(2))\n",
    "defined twice": "def inc(x):\n    return x - 1\n\ndef inc(x):\n    return x + 1\n",
    "annotations that are never evaluated": "from __future__ import annotations\ndef _h(v: Undefined) -> int:\n    return v + 1\ndef inc(x: Undefined):\n    return _h(x)\n",
    "a default that names a constant": "ONE = 1\ndef inc(x, by=ONE):\n    return x + by\n",
    "an attribute of the function": "def inc(x):\n    inc.calls += 1\n    return x + 1\ninc.calls = 0\n",
    "a class named like one of the file": "class Node:\n    def __init__(self, v):\n        self.v = v\ndef inc(x):\n    return Node(x).v + 1\n",
    "a class of the file, in part": "class A:\n    def area(self): ...\ndef inc(x):\n    return x + 1 + A().area(0)\n",
    "tabs": "def h(v):\n\treturn v + 1\ndef inc(x):\n\treturn h(x)\n",
    "text over several lines": 'S = """a\n  b\n"""\ndef inc(x):\n    assert len(S) == 6\n    return x + 1\n',
    "a registry": "HANDLERS = {}\ndef register(name):\n    def keep(f):\n        HANDLERS[name] = f\n        return f\n    return keep\n@register('one')\ndef _one(v):\n    return v + 1\ndef inc(x):\n    return HANDLERS['one'](x)\n",
    "overloads of a helper": "from functools import singledispatch\n@singledispatch\ndef h(v):\n    return 0\n@h.register\ndef _(v: int):\n    return v + 1\ndef inc(x):\n    return h(x)\n",
    "keywords alone": "def inc(**given):\n    return given['x'] + 1\n",
    "a function of the file over another constant": "STEP = 1\ndef other(v):\n    return v + STEP\ndef inc(x):\n    return other(x)\n",
    "the whole file": SOURCE.decode().replace("raise NotImplementedError", "return x + 1"),
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_the_function_does_what_it_does_in_its_program(program: str) -> None:
    found, space = read(program)
    assert (space["inc"](1), space["inc"](-1)) == (2, 0), found.body
    assert space["other"](1) == 6, "nothing else of the file changed"


def test_what_went_in_is_noted() -> None:
    found, _ = read(PROGRAMS["a helper before it"])
    assert any("_one" in note for note in found.repairs)


def test_definitions_in_another_block_and_behind_a_body_go_in_as_well() -> None:
    read(
        "A helper:\n```python\ndef _h(v):\n    return v + 1\n```\nThen:\n```python\ndef inc(x):\n    return _h(x)\n```",
        style="chat",
    )
    _, space = read("    return _h(x)\n\n\ndef _h(v):\n    return v + 1\n", style="completion")
    assert space["inc"](1) == 2


async def _all(items: Any) -> list[Any]:
    return [item async for item in items]


KINDS: dict[str, tuple[str, str, Callable[[dict[str, Any]], bool]]] = {
    "a generator": (
        "gen", "def gen(count, *, by=1):\n    for i in range(2):\n        yield count + i * by\n",
        lambda m: list(m["gen"](1, step=2)) == [1, 3] and inspect.isgeneratorfunction(m["gen"]),
    ),
    "a generator with another signature": (
        "gen", "def gen(count, step, more=0):\n    yield count\n    yield count + step\n", lambda m: list(m["gen"](1, step=2)) == [1, 3],
    ),
    "a coroutine": (
        "co", "import asyncio\nasync def co(x, y=2, *rest, z=3, **more):\n    await asyncio.sleep(0)\n    return x, y, rest, z, more\n",
        lambda m: asyncio.run(m["co"](1, 2, 3, k=4, j=5)) == (1, 2, (3,), 4, {"j": 5}),
    ),
    "a decorated coroutine": (
        "co", "def same(f):\n    return f\n@same\nasync def co(x, y=2, *rest, z=3, **more):\n    return x, y, rest, z, more\n",
        lambda m: asyncio.run(m["co"](1, 2, 3, k=4)) == (1, 2, (3,), 4, {}),
    ),
    "an asynchronous generator": (
        "agen", "async def agen(m, more=1):\n    yield m\n    yield m + more\n", lambda m: asyncio.run(_all(m["agen"](1))) == [1, 2],
    ),
    "a method": ("A.area", "class A:\n    def area(self, w, h=2):\n        return w * h\n", lambda m: m["A"]().area(3) == 6),
    "a method without its class and self": (
        "A.area", "def area(w, h):\n    return w * h\n", lambda m: m["A"]().area(3, height=4) == 12,
    ),
    "a method and what is beside it in the class": (
        "A.area",
        "class A:\n    K = 1\n    def _mul(self, a, b):\n        return self._zero() + a * b * self.K\n    @staticmethod\n"
        "    def _zero():\n        return 0\n    @property\n    def one(self): return 1\n    @classmethod\n"
        "    def make(cls, q=1):\n        return q\n    def area(self, w, h=2):\n        f = self._mul\n"
        "        return f(w, h) * self.one * self.make() * self.make(q=1) + A._zero()\n",
        lambda m: m["A"]().area(3, 4) == 12,
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_functions_of_all_kinds(kind: str) -> None:
    name, program, holds = KINDS[kind]
    found, space = read(program, name)
    assert holds(space), found.body
