"""When patching in memory may replace importing the file, and when not: verdicts agree with the cold route."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sweeps import spread

from workbench.repository.functions import find_functions
from workbench.repository.splicing import splice
from workbench.sandbox import Job, Pool, Route, Verdict, Workspace, pool

from .conftest import LIMITS, SOURCE

pytestmark = pytest.mark.sandbox


MODULE = '''"""Shapes."""

import functools
import inspect
import subprocess
import sys


def shout(function):
    """Decorate."""

    @functools.wraps(function)
    def wrapper(*args):
        return function(*args).upper()

    return wrapper


@shout
def name(number):
    """Name a number."""
    return "one" if number == 1 else "many"


def outer(number):
    """Add twice."""

    def inner(value):
        return value + number

    return inner(inner(0))


class Base:
    """Base."""

    def size(self):
        """Size."""
        return 1


class Child(Base):
    """Child."""

    __secret = 5

    def size(self):
        """Size of the child."""
        return super().size() + self.__secret

    @property
    def area(self):
        """Area."""
        return 4

    @area.setter
    def area(self, value):
        self.set = value

    @staticmethod
    def plain():
        """Plain."""
        return 7

    @classmethod
    def make(cls):
        """Make."""
        return cls()


alias = outer


def numbers(limit):
    """Yield."""
    for number in range(limit):
        yield number


def source():
    """Return own source."""
    return inspect.getsource(source)


def elsewhere():
    """What a subprocess says."""
    return 3


if len(sys.argv) > 99:

    def twice(x):
        """First."""
        return -1

else:

    def twice(x):
        """Second."""
        return 2 * x
'''

SUITE = """import subprocess
import sys

import shapes
from shapes import Child, alias, name, numbers, outer, source, twice


def test_name():
    assert (name(1), name(2)) == ("ONE", "MANY")


def test_outer():
    assert outer(2) == 4


def test_alias():
    assert alias(2) == 4


def test_child():
    assert Child().size() == 6


def test_area():
    child = Child()
    child.area = 9
    assert (child.area, child.set) == (4, 9)


def test_static():
    assert Child.plain() == 7


def test_class():
    assert isinstance(Child.make(), Child)


def test_numbers():
    assert list(numbers(3)) == [0, 1, 2]


def test_source():
    assert "inspect.getsource" in source()


def test_elsewhere():
    assert subprocess.check_output([sys.executable, "-c", "import shapes; print(shapes.elsewhere())"]) == b"3\\n"


def test_twice():
    assert twice(4) == 8
"""

# qualified name, occurrence, body, test, expected verdict, expected route
CASES = [
    ("name", 1, 'return {1: "one"}.get(number, "many")', "test_name", Verdict.PASSED, Route.HOT),
    ("name", 1, "pass", "test_name", Verdict.FAILED, Route.HOT),
    ("outer", 1, "return 2 * number", "test_alias", Verdict.PASSED, Route.HOT),
    ("outer", 1, "return number", "test_alias", Verdict.FAILED, Route.HOT),
    ("outer.<locals>.inner", 1, "return number + value", "test_outer", Verdict.PASSED, Route.HOT),
    ("outer.<locals>.inner", 1, "return value", "test_outer", Verdict.FAILED, Route.HOT),
    ("Child.size", 1, "return self._Child__secret + super().size()", "test_child", Verdict.PASSED, Route.HOT),
    ("Child.size", 1, "return self.__secret + super().size()", "test_child", Verdict.PASSED, Route.HOT),
    ("Child.size", 1, "return 6", "test_child", Verdict.PASSED, Route.HOT),
    ("Child.size", 1, "return self.__secret", "test_child", Verdict.FAILED, Route.HOT),
    ("Child.area", 1, "return super().__sizeof__() * 0 + 4", "test_area", Verdict.PASSED, Route.WARM),
    ("Child.area", 1, "return 2 + 2", "test_area", Verdict.PASSED, Route.HOT),
    ("Child.area", 2, "self.set = value", "test_area", Verdict.PASSED, Route.HOT),
    ("Child.area", 2, "pass", "test_area", Verdict.FAILED, Route.HOT),
    ("Child.plain", 1, "return 3 + 4", "test_static", Verdict.PASSED, Route.HOT),
    ("Child.plain", 1, "return 8", "test_static", Verdict.FAILED, Route.HOT),
    ("Child.make", 1, "return Child()", "test_class", Verdict.PASSED, Route.HOT),
    ("numbers", 1, "yield from range(limit)", "test_numbers", Verdict.PASSED, Route.HOT),
    ("numbers", 1, "return range(limit)", "test_numbers", Verdict.PASSED, Route.WARM),
    ("source", 1, "return 'gone'", "test_source", Verdict.FAILED, Route.HOT),
    ("source", 1, "x = inspect\nreturn x.getsource(source)", "test_source", Verdict.FAILED, Route.HOT),
    ("elsewhere", 1, "return 1 + 2", "test_elsewhere", Verdict.PASSED, Route.HOT),
    ("elsewhere", 1, "return 4", "test_elsewhere", Verdict.FAILED, Route.HOT),
    ("twice", 2, "return x + x", "test_twice", Verdict.PASSED, Route.HOT),
    ("twice", 2, "return x", "test_twice", Verdict.FAILED, Route.HOT),
    ("twice", 1, "return 0", "test_twice", Verdict.PASSED, Route.WARM),
    ("shout.<locals>.wrapper", 1, "return function(*args)", "test_name", Verdict.FAILED, Route.WARM),
    ("shout", 1, "return function", "test_name", Verdict.FAILED, Route.WARM),
    ("outer", 1, "return 2 * number\n\ndef helper():\n    return 1", "test_outer", Verdict.PASSED, Route.HOT),
    ("outer", 1, "return (", "test_outer", Verdict.INVALID, Route.WARM),
    ("outer", 1, "global total\ntotal = 1\nreturn 4", "test_outer", Verdict.PASSED, Route.HOT),
    ("outer", 1, "import os\nos.environ['LEFT'] = '1'\nreturn 4", "test_outer", Verdict.PASSED, Route.HOT),
]


@pytest.fixture
async def shapes(bubblewrap, tiny_workspace, tmp_path: Path):
    workspace: Workspace = tiny_workspace(tmp_path / "repository")
    (workspace.root / "shapes.py").write_text(MODULE)
    (workspace.root / "tests" / "test_shapes.py").write_text(SUITE)
    async with pool(bubblewrap, replace(workspace, own_modules=("sums", "shapes")), workers=1, limits=LIMITS) as opened:
        yield opened


@pytest.mark.slow
async def test_hot_verdicts_are_the_cold_ones_and_doubtful_cases_go_the_slower_way(shapes: Pool) -> None:
    found = {
        (function.qualified_name, function.occurrence): function
        for function in find_functions(MODULE.encode(), "shapes.py")
    }
    compared = spread(CASES, 10)
    for case in CASES:
        qualified_name, occurrence, body, test, verdict, route = case
        content = splice(MODULE.encode(), found[qualified_name, occurrence], body)
        tests = (f"tests/test_shapes.py::{test}",)
        job = Job("x", tests, "shapes.py", content, LIMITS, Route.AUTO, (qualified_name, occurrence))
        fast = await shapes.run(job)
        what = (qualified_name, occurrence, body, fast.slower, fast.detail)
        assert (fast.verdict, fast.route) == (verdict, route), what
        assert (fast.slower == "") == (fast.route is Route.HOT), what
        if case in compared:
            cold = await shapes.run(replace(job, route=Route.COLD))
            assert cold.verdict is verdict, what
            assert [test.outcome for test in fast.tests] == [test.outcome for test in cold.tests], what
    assert shapes.workers[0].starts == 1


async def test_anything_but_the_function_changed_goes_the_slower_way(shapes: Pool) -> None:
    content = MODULE.replace("return 4", "return 2 + 2").replace("__secret = 5", "__secret = 6").encode()
    job = Job("x", ("tests/test_shapes.py::test_child",), "shapes.py", content, LIMITS, Route.AUTO, ("Child.area", 1))
    report = await shapes.run(job)
    assert (report.verdict, report.route, report.slower) == (
        Verdict.FAILED,
        Route.WARM,
        "more than one function changed",
    )


@pytest.mark.parametrize(
    ("conftest", "reason"),
    [
        ("open('/tmp/left', 'w').write('x')\n", "collecting the tests writes files"),
        (
            "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n",
            "a thread runs after collection",
        ),
    ],
)
async def test_collection_that_leaves_files_or_threads_rules_the_hot_path_out(bubblewrap, workspace, conftest, reason):
    (workspace.root / "conftest.py").write_text(conftest)
    job = Job("x", ("tests/test_sums.py::test_large",), "sums.py", SOURCE.encode(), LIMITS, Route.AUTO, ("total", 1))
    async with pool(bubblewrap, workspace, workers=1, limits=LIMITS) as opened:
        report = await opened.run(job)
    assert (report.verdict, report.slower) == (Verdict.PASSED, reason)
