"""What becomes a task and what is dropped, and the statements and branches that a task's tests execute, in one repository."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import pytest_asyncio
from tasks.conftest import RULES
from tasks.made_up import dropped, environment_of, write

from workbench.base.typed_json import convert, encode
from workbench.regeneration.building import build_tasks
from workbench.regeneration.tasks import BuildProgress, Task, TaskSet
from workbench.sandbox import Backend, Limits

pytestmark = [pytest.mark.sandbox, pytest.mark.asyncio(loop_scope="module")]

FATES = '''"""Functions of every fate."""

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

TEST_FATES = """import threading

import pytest

import fates

seen = []


@pytest.fixture(autouse=True)
def count(request):
    seen.append(request.node.nodeid)


def test_double():
    assert fates.REGISTRY["double"](2) == 4


def test_slow():
    threading.Event().wait(0.9)
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


SMALL = '''"""Small functions with known branches."""


def sign(number):
    """Two ifs: four branches."""
    if number > 0:
        return 1
    if number < 0:
        return -1
    return 0


def total(numbers):
    """One loop: into its body and out of it."""
    result = 0
    for number in numbers:
        result += number
    return result


def straight(text):
    """No branch."""
    text = text.strip()
    return text.upper()


def outer(number):
    """The branches of what is inside count here, too."""

    def inner(value):
        if value > 10:
            return 10
        return value

    return inner(number) + 1


def unmarked(number):  # pragma: no cover
    """A remark for other tools changes nothing."""
    if number:
        return "yes"
    return "no"


def oneline(flag): return "a" if flag else "b"


def forever(limit):
    """Nothing leaves ``while True`` but the return."""
    count = 0
    while True:
        count += 1
        if count >= limit:
            return count
'''

TEST_SMALL = """import pytest

import small


@pytest.mark.parametrize("number", [5, 0], ids=["more", "none"])
def test_sign(number):
    assert small.sign(number) == (number > 0)


def test_total():
    assert small.total([]) == 0


def test_straight():
    assert small.straight(" a ") == "A"


def test_outer():
    assert small.outer(1) == 2


def test_unmarked():
    assert small.unmarked(1) == "yes"


def test_oneline():
    assert small.oneline(True) == "a"


def test_forever():
    assert small.forever(3) == 3
"""


#: One runs only at import, the other is called by a test as well.
EARLY = "def table(size):\n    return list(range(size))\n\n\ndef once():\n    return 1\n\n\nTABLE = table(3)\nONE = once()\n"
TEST_EARLY = (
    "import early\n\n\ndef test_table():\n    assert early.table(2) == [0, 1]\n    assert early.TABLE == [0, 1, 2]\n"
)

BOX = """from typing import overload


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

TEST_BOX = """import asyncio

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


@dataclass
class Built:
    """The tasks of the repository and the steps that were reported."""

    tasks: TaskSet
    steps: list[BuildProgress]

    def of(self, module: str) -> dict[str, Task]:
        return {task.qualified_name: task for task in self.tasks.tasks if task.path == f"{module}.py"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def built(bubblewrap: Backend, tmp_path_factory: pytest.TempPathFactory) -> Built:
    files = {
        "fates.py": FATES, "tests/test_fates.py": TEST_FATES, "small.py": SMALL, "tests/test_small.py": TEST_SMALL,
        "early.py": EARLY, "tests/test_early.py": TEST_EARLY, "box.py": BOX, "tests/test_box.py": TEST_BOX,
    }  # fmt: skip
    root = write(tmp_path_factory.mktemp("fates") / "repository", files)
    rules, steps = replace(RULES, slowest_tests=0.7), list[BuildProgress]()
    tasks = await build_tasks(
        root, environment_of(root), bubblewrap, rules=rules, limits=Limits(seconds=30), on_progress=steps.append
    )
    return Built(tasks, steps)


async def test_every_function_is_a_task_or_says_why_not(built: Built) -> None:
    tasks = built.of("fates")
    assert sorted(tasks) == ["both", "double", "path_of"]
    slow = dropped(built.tasks, "slow")
    assert (slow.stage, slow.reason[:16]) == ("time", "Its tests take 0")
    assert slow.reason.endswith("more than 0.7 s.")
    stages = {"careless": "stub", "unused": "trace", "empty": "body", "once": "trace", "pick": "body", "pick#2": "body"}
    assert {name: dropped(built.tasks, name).stage for name in stages} == stages
    for name in ("register", "register.<locals>.keep"):
        reason = dropped(built.tasks, name).reason
        assert reason == "It runs only while modules are imported, so it belongs to no test."
    assert tasks["double"].tests == ("tests/test_fates.py::test_double",)
    assert not tasks["double"].import_time  # defined at import, but only the test calls it
    assert built.of("early")["table"].import_time
    assert tasks["path_of"].tests[:3] == tuple(
        f"tests/test_fates.py::test_path[{name}]" for name in ("a/b", "c[d]", "e::f")
    )
    assert len(tasks["path_of"].tests) == 6


async def test_no_task_rests_on_a_test_that_depends_on_the_order(built: Built) -> None:
    unstable = [f"tests/test_fates.py::test_order_{number}" for number in (2, 3, 4)]
    assert sorted(built.tasks.unstable) == unstable
    assert all(outcomes[0] == outcomes[2] == "passed" != outcomes[1] for outcomes in built.tasks.unstable.values())
    only = dropped(built.tasks, "only_unstable")
    assert (only.stage, only.reason) == ("trace", "No stable test executes it, but 2 unstable tests do.")
    both = built.of("fates")["both"]
    assert both.tests == ("tests/test_fates.py::test_both", "tests/test_fates.py::test_order_1")
    assert both.unstable == ("tests/test_fates.py::test_order_4",)
    assert built.tasks.quarantined == "3 unstable"


async def test_each_stage_counts_what_it_leaves(built: Built) -> None:
    counts = built.tasks.counts
    assert (counts["n_candidates"], counts["n_with_body"], counts["n_traced"]) == (28, 25, 20)
    assert (counts["n_in_time"], counts["n_reference"], counts["n_tasks"], counts["n_documented"]) == (19, 19, 18, 9)
    assert (counts["n_stable"], counts["n_unstable"]) == (23, 3)
    assert convert(TaskSet, encode(built.tasks)) == built.tasks
    assert "running the suite traced" in [step.text for step in built.steps]


async def test_generators_coroutines_properties_and_overloads_are_found(built: Built) -> None:
    names = ["Box.__init__", "Box.size", "Box.size#2", "Box.__iter__", "Box.first", "pick#3"]
    assert [task.id for task in built.tasks.tasks if task.path == "box.py"] == [f"box.py::{name}" for name in names]


async def test_statements_and_branches_of_known_functions(built: Built) -> None:
    tasks = built.of("small")
    figures = {
        name: (task.statements, task.covered, task.branches, task.branches_covered) for name, task in tasks.items()
    }
    assert figures == {
        # ``number < 0`` is never true: its return and the branch to it are missing.
        "sign": (5, 4, 4, 3),
        # An empty list: the loop is never entered.
        "total": (4, 3, 2, 1),
        "straight": (2, 2, 0, 0),
        "outer": (5, 4, 2, 1),
        "outer.<locals>.inner": (3, 2, 2, 1),
        "unmarked": (3, 2, 2, 1),
        "oneline": (1, 1, 0, 0),
        "forever": (5, 5, 2, 2),
    }
    assert (tasks["sign"].branch_coverage, tasks["straight"].branch_coverage) == (0.75, None)
    assert tasks["sign"].tests == ("tests/test_small.py::test_sign[more]", "tests/test_small.py::test_sign[none]")
    assert tasks["sign"].unstable == ()


TRACE = """
import json, sys
sys.path.insert(0, {root!r})
from workbench.sandbox.workbench_runner.trace import Tracer

tracer = Tracer({tree!r})
if {from_database}:
    # As with a version of coverage.py that does not hand its arcs over.
    data = tracer._data()
    del data.add_arcs, data.set_context, data.add_file_tracers, data.touch_files
sys.path.insert(0, {tree!r})
import small
for context, number in (("t.py::test[a/b]", 1), ("t.py::test[c]", -1), ("", 0), ("t.py::other", 7)):
    tracer.switch(context)
    small.sign(number)
found = tracer.result()
names = found["contexts"]
masks = [sorted(names[bit] for bit in range(len(names)) if int(mask, 16) >> bit & 1) for mask in found["masks"]]
file = found["files"]["small.py"]
print(json.dumps({{
    "lines": {{line: masks[number] for line, number in file["lines"].items() if 6 <= int(line) <= 10}},
    "branches": [[start, end, masks[number] if number >= 0 else []] for start, end, number in file["branches"]][:4],
}}))
"""


@pytest.mark.parametrize("from_database", [False, True], ids=["handed-over", "from-database"])
async def test_the_tracer_attributes_lines_and_branches_to_tests(tmp_path: Path, from_database: bool) -> None:
    (tmp_path / "small.py").write_text(SMALL)
    root = str(Path(__file__).parents[2])
    code = TRACE.format(root=root, tree=str(tmp_path), from_database=from_database)
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    a, c, other = "t.py::test[a/b]", "t.py::test[c]", "t.py::other"
    everybody = sorted(["", a, c, other])
    assert json.loads(done.stdout) == {
        "lines": {"6": everybody, "7": sorted([a, other]), "8": sorted(["", c]), "9": [c], "10": [""]},
        "branches": [[6, 7, sorted([a, other])], [6, 8, sorted(["", c])], [8, 9, [c]], [8, 10, [""]]],
    }
