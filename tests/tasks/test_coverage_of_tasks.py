"""Statements and branches of each function that its tests execute: known arcs, known counts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.sandbox

SOURCE = '''"""Small functions with known branches."""


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

SUITE = """import pytest

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


async def test_statements_and_branches_of_known_functions(make, build) -> None:
    built = await build(make({"small.py": SOURCE, "tests/test_small.py": SUITE}))
    figures = {
        task.qualified_name: (task.statements, task.covered, task.branches, task.branches_covered)
        for task in built.tasks
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
    shares = {task.qualified_name: task.branch_coverage for task in built.tasks}
    assert shares["sign"] == 0.75
    assert shares["straight"] is None
    sign = next(task for task in built.tasks if task.qualified_name == "sign")
    assert sign.tests == ("tests/test_small.py::test_sign[more]", "tests/test_small.py::test_sign[none]")
    assert sign.unstable == ()


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
def test_the_tracer_attributes_lines_and_branches_to_tests(tmp_path: Path, from_database: bool) -> None:
    (tmp_path / "small.py").write_text(SOURCE)
    root = str(Path(__file__).parents[2])
    code = TRACE.format(root=root, tree=str(tmp_path), from_database=from_database)
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    a, c, other = "t.py::test[a/b]", "t.py::test[c]", "t.py::other"
    everybody = sorted(["", a, c, other])
    assert json.loads(done.stdout) == {
        "lines": {
            "6": everybody,
            "7": sorted([a, other]),
            "8": sorted(["", c]),
            "9": [c],
            "10": [""],
        },
        "branches": [
            [6, 7, sorted([a, other])],
            [6, 8, sorted(["", c])],
            [8, 9, [c]],
            [8, 10, [""]],
        ],
    }
