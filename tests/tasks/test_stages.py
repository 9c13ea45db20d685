"""What becomes a task and what is dropped: slow, unstable and untold functions, odd test ids, code that runs at import."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tasks.conftest import RULES
from tasks.made_up import dropped

from workbench.base.typed_json import convert, encode
from workbench.regeneration.tasks import Progress, TaskSet

pytestmark = pytest.mark.sandbox

SOURCE = '''"""Functions of every fate."""

REGISTRY = {}


def register(name):
    """Runs at import, because it decorates."""

    def keep(function):
        REGISTRY[name] = function
        return function

    return keep


@register("double")
def double(number):
    """Registered at import, called by a test."""
    return number * 2


def slow(number):
    """Its tests take long."""
    return number + 1


def careless(number):
    """Nobody looks at what it returns."""
    return number - 1


def unused():
    """No test executes it."""
    return 42


def empty():
    """Is a stub already."""


def only_unstable(number):
    """Only a test that depends on others executes it."""
    return number * 3


def both(number):
    """A stable and an unstable test execute it."""
    return number * 5


def path_of(name):
    """Parametrised with odd ids."""
    return "/" + name
'''

SUITE = """import threading

import pytest

import fates

seen = []


@pytest.fixture(autouse=True)
def count(request):
    seen.append(request.node.nodeid)


def test_double():
    assert fates.REGISTRY["double"](2) == 4


def test_slow():
    threading.Event().wait(0.4)
    assert fates.slow(1) == 2


def test_careless():
    fates.careless(1)


def test_empty():
    assert fates.empty() is None


def test_both():
    assert fates.both(1) == 5


@pytest.mark.parametrize("name", ["a/b", "c[d]", "e::f", "ä ö", "g-h", ""], ids=["a/b", "c[d]", "e::f", "ä ö", "", "g.py::h"])
def test_path(name):
    assert fates.path_of(name) == "/" + name


# Three of them pass at their own place only: no other order will do.
def test_order_1():
    assert fates.both(1) == 5


def test_order_2():
    assert len(seen) == 13
    assert fates.only_unstable(1) == 3


def test_order_3():
    assert len(seen) == 14
    assert fates.only_unstable(2) == 6


def test_order_4():
    assert len(seen) == 15
    assert fates.both(2) == 10
"""


async def test_every_function_is_a_task_or_says_why_not(make, build) -> None:
    steps: list[Progress] = []
    rules = replace(RULES, slowest_tests=0.2)
    root = make({"fates.py": SOURCE, "tests/test_fates.py": SUITE})
    built = await build(root, rules=rules, on_progress=steps.append)
    tasks = {task.qualified_name: task for task in built.tasks}
    assert sorted(tasks) == ["both", "double", "path_of"]

    slow = dropped(built, "slow")
    assert slow.stage == "time"
    assert slow.reason.startswith("Its tests take 0.")
    assert slow.reason.endswith("more than 0.2 s.")
    assert dropped(built, "careless").stage == "stub"
    assert dropped(built, "unused").stage == "trace"
    assert dropped(built, "empty").stage == "body"
    for name in ("register", "register.<locals>.keep"):
        assert dropped(built, name).reason == "It runs only while modules are imported, so that it belongs to no test."

    unstable = [f"tests/test_fates.py::test_order_{number}" for number in (2, 3, 4)]
    assert sorted(built.unstable) == unstable
    assert all(outcomes[0] == outcomes[2] == "passed" != outcomes[1] for outcomes in built.unstable.values())
    only = dropped(built, "only_unstable")
    assert (only.stage, only.reason) == ("trace", "No stable test executes it; 2 unstable ones do.")
    assert tasks["both"].tests == ("tests/test_fates.py::test_both", "tests/test_fates.py::test_order_1")
    assert tasks["both"].unstable == ("tests/test_fates.py::test_order_4",)

    assert tasks["double"].tests == ("tests/test_fates.py::test_double",)
    assert not tasks["double"].import_time  # defined at import, but only the test calls it
    assert tasks["path_of"].tests[:3] == tuple(
        f"tests/test_fates.py::test_path[{name}]" for name in ("a/b", "c[d]", "e::f")
    )
    assert len(tasks["path_of"].tests) == 6

    counts = built.counts
    assert (counts["n_candidates"], counts["n_with_body"], counts["n_traced"]) == (10, 9, 5)
    assert (counts["n_in_time"], counts["n_reference"], counts["n_tasks"], counts["n_documented"]) == (4, 4, 3, 3)
    assert (counts["n_stable"], counts["n_unstable"]) == (12, 3)
    assert built.quarantined == "3 unstable"
    assert convert(TaskSet, encode(built)) == built
    assert "running the suite traced" in [step.text for step in steps]


async def test_what_runs_only_at_import_has_no_tests_and_what_a_test_calls_too_is_marked(make, build) -> None:
    source = "def table(size):\n    return list(range(size))\n\n\ndef once():\n    return 1\n\n\nTABLE = table(3)\nONE = once()\n"
    suite = "import early\n\n\ndef test_table():\n    assert early.table(2) == [0, 1]\n    assert early.TABLE == [0, 1, 2]\n"
    built = await build(make({"early.py": source, "test_early.py": suite}))
    assert [task.qualified_name for task in built.tasks] == ["table"]
    assert built.tasks[0].import_time
    assert dropped(built, "once").stage == "trace"


async def test_generators_coroutines_properties_and_overloads_are_found(make, build) -> None:
    source = """from typing import overload


class Box:
    def __init__(self, items):
        self._items = list(items)

    @property
    def size(self):
        return len(self._items)

    @size.setter
    def size(self, value):
        del self._items[value:]

    def __iter__(self):
        for item in self._items:
            yield item

    async def first(self):
        return self._items[0]


@overload
def pick(value: int) -> int: ...
@overload
def pick(value: str) -> str: ...
def pick(value):
    return value
"""
    suite = """import asyncio

from box import Box, pick


def test_box():
    box = Box([1, 2, 3])
    assert box.size == 3
    box.size = 1
    assert list(box) == [1]
    assert asyncio.run(box.first()) == 1


def test_pick():
    assert pick(3) == 3
"""
    built = await build(make({"box.py": source, "test_box.py": suite}))
    assert [task.id for task in built.tasks] == [
        "box.py::Box.__init__",
        "box.py::Box.size",
        "box.py::Box.size#2",
        "box.py::Box.__iter__",
        "box.py::Box.first",
        "box.py::pick#3",
    ]
    assert {dropped(built, name).stage for name in ("pick", "pick#2")} == {"body"}
