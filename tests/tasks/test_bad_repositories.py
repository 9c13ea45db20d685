"""Repositories whose suites misbehave: each is named in one sentence, and what can be used of it is used."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tasks.conftest import RULES

from workbench.regeneration.environment import EnvironmentFailed, build_environment
from workbench.regeneration.suite import SuiteFailed, odd_test_files
from workbench.sandbox import Limits

pytestmark = pytest.mark.sandbox

SUMS = "def total(numbers):\n    return sum(numbers)\n"
SUITE = "from sums import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"


async def sentence(root, build, **more) -> str:
    with pytest.raises(SuiteFailed) as caught:
        await build(root, **more)
    text = str(caught.value)
    assert "\n" not in text
    assert text.endswith((".", "'", '"', ")")) or ": " in text
    return text


async def test_no_tests(make, build) -> None:
    assert await sentence(make({"sums.py": SUMS}), build) == "The repository has no tests that pytest finds."


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_two_thousand_tests(make, build) -> None:
    suite = (
        "import pytest\nfrom sums import total\n\n\n"
        "@pytest.mark.parametrize('number', range(2000))\ndef test_total(number):\n    assert total([number, 1]) == number + 1\n"
    )
    built = await build(make({"sums.py": SUMS, "test_sums.py": suite}), limits=Limits(seconds=60))
    assert built.stable == 2000
    assert [len(task.tests) for task in built.tasks] == [2000]
    assert built.tasks[0].tests[-1] == "test_sums.py::test_total[1999]"


@pytest.mark.parametrize(
    ("path", "suite"),
    [
        ("src/pkg/test_sums.py", "from pkg.sums import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"),
        ("testing/test_sums.py", "from pkg.sums import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"),
        ("testing/all.py", "import unittest\n\nfrom pkg.sums import total\n\n\nclass Sums(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n"),
        ("src/pkg/tests.py", "import unittest\n\nfrom pkg.sums import total\n\n\nclass Sums(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n"),
        ("tests/testsums.py", "from pkg.sums import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"),
    ],
    ids=["beside-the-code", "folder-testing", "unittest-only", "tests.py", "testsums.py"],
)  # fmt: skip
async def test_tests_in_odd_places(make, build, path: str, suite: str) -> None:
    built = await build(make({"src/pkg/__init__.py": "", "src/pkg/sums.py": SUMS, path: suite}))
    assert [task.id for task in built.tasks] == ["src/pkg/sums.py::total"]
    assert all(test.startswith(path) for test in built.tasks[0].tests)


def test_only_files_with_tests_are_found_in_odd_places(make) -> None:
    case = "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        pass\n"
    root = make({
        "tests.py": case,
        "pkg/testing.py": "def testable():\n    return 1\n",
        "pkg/tester.py": "VALUE = 1\n",
        "pkg/checks.py": case,
        "test_usual.py": case,
        "broken.py": "def (",
        "build/tests.py": case,
    })  # fmt: skip
    assert odd_test_files(root) == ("pkg/testing.py", "tests.py")
    (root / "tests.py").unlink()
    (root / "pkg" / "testing.py").unlink()
    assert odd_test_files(root) == ("pkg/checks.py",)


@pytest.mark.parametrize("when", ["at import", "after the tests"])
async def test_a_conftest_that_ends_the_process(make, build, when: str) -> None:
    code = "import os\n\nos._exit(3)\n"
    if when == "after the tests":
        code = "import os\n\n\ndef pytest_sessionfinish():\n    os._exit(0)\n"
    text = await sentence(make({"sums.py": SUMS, "test_sums.py": SUITE, "conftest.py": code}), build)
    status = 3 if when == "at import" else 0
    assert text.startswith("The repository's test suite does not run: The process ended with status " + str(status))


async def test_a_conftest_that_cannot_be_imported(make, build) -> None:
    text = await sentence(
        make({"sums.py": SUMS, "test_sums.py": SUITE, "conftest.py": "import nowhere_to_be_found\n"}), build
    )
    assert "conftest.py cannot be imported" in text


async def test_a_hang_at_import(make, build) -> None:
    root = make({"sums.py": "import threading\n\nthreading.Event().wait()\n" + SUMS, "test_sums.py": SUITE})
    text = await sentence(root, build, rules=replace(RULES, import_seconds=5))
    assert text == (
        "The repository hangs at sums.py, line 3, while it is imported or its tests are collected, so that no test can "
        "be run."
    )


async def test_tests_that_write_outside_their_tree(make, build, tmp_path) -> None:
    suite = f"""from pathlib import Path

from sums import total


def test_total():
    assert total([1, 2]) == 3


def test_beside_the_tree():
    Path({str(tmp_path / "escaped.txt")!r}).write_text("here")


def test_system():
    Path("/etc/escaped.txt").write_text("here")


def test_home():
    (Path.home() / "settings.txt").write_text("here")
    assert total([4]) == 4


def test_home_is_new_for_every_run():
    assert total([5]) == 5
    Path("written.txt").open("x").close()
"""
    built = await build(make({"sums.py": SUMS, "test_sums.py": suite}))
    assert sorted(built.failing) == ["test_sums.py::test_beside_the_tree", "test_sums.py::test_system"]
    assert not (tmp_path / "escaped.txt").exists()
    assert not (tmp_path / "repository" / "written.txt").exists()
    assert [len(task.tests) for task in built.tasks] == [3]


async def test_tests_that_need_the_network(make, build) -> None:
    online = """import socket
import urllib.request

from sums import total


def test_name():
    assert socket.gethostbyname("example.org")
    total([])


def test_page():
    assert urllib.request.urlopen("http://example.org").read()
"""
    files = {"sums.py": SUMS, "test_online.py": online}
    text = await sentence(make(files), build)
    assert text.startswith("All 2 tests of the repository need the network, which a sandbox has not; test_online.py::")
    built = await build(make({**files, "test_sums.py": SUITE}))
    assert built.quarantined == "2 failing (2 for want of a network)"
    assert [task.tests for task in built.tasks] == [("test_sums.py::test_total",)]


async def test_a_suite_with_an_undeclared_dependency(make, build) -> None:
    broken = "import nowhere_to_be_found\nfrom sums import total\n\n\ndef test_total():\n    assert total([]) == 0\n"
    text = await sentence(make({"sums.py": SUMS, "test_broken.py": broken}), build)
    assert text == (
        "The repository's tests cannot be imported: test_broken.py: ModuleNotFoundError: No module named "
        "'nowhere_to_be_found'. nowhere_to_be_found is not among the declared dependencies; install = […] in a "
        "case.toml adds it."
    )
    # One such file among others is left out, by name, on every route.
    built = await build(make({"sums.py": SUMS, "test_broken.py": broken, "test_sums.py": SUITE}))
    assert list(built.not_collected) == ["test_broken.py"]
    assert built.quarantined == "1 test files that cannot be imported"
    assert [task.tests for task in built.tasks] == [("test_sums.py::test_total",)]


@pytest.mark.slow
async def test_a_suite_that_takes_too_long_is_given_up(make, build) -> None:
    slow = "".join(
        f"\n\ndef test_{n}():\n    threading.Event().wait(0.5)\n    assert total([{n}]) == {n}\n" for n in range(40)
    )
    root = make({"sums.py": SUMS, "test_sums.py": "import threading\n\nfrom sums import total\n" + slow})
    rules = replace(RULES, suite_seconds=6, import_seconds=6, hang_seconds=5)
    text = await sentence(root, build, rules=rules, limits=Limits(seconds=5))
    assert text.startswith("The repository's test suite did not finish: It ran out of time in test_sums.py::test_")


async def test_a_test_that_hangs_and_one_that_kills_its_process_are_taken_out(make, build) -> None:
    bad = (
        "import os\nimport threading\n\nfrom sums import total\n\n\n"
        "def test_dies():\n    os.kill(os.getpid(), 9)\n\n\n"
        "def test_hangs():\n    total([])\n    threading.Event().wait()\n"
    )
    rules = replace(RULES, import_seconds=6, hang_seconds=3)
    built = await build(make({"sums.py": SUMS, "test_bad.py": bad, "test_sums.py": SUITE}), rules=rules)
    assert sorted(built.taken_out) == ["test_bad.py::test_dies", "test_bad.py::test_hangs"]
    assert built.quarantined == "2 hanging or fatal"
    assert [task.tests for task in built.tasks] == [("test_sums.py::test_total",)]


async def test_a_project_that_pytest_is_built_on(make) -> None:
    files = {
        "pyproject.toml": '[project]\nname = "iniconfig"\nversion = "2.0"\n',
        "src/iniconfig/__init__.py": SUMS,
        "testing/test_sums.py": SUITE.replace("sums", "iniconfig"),
    }
    with pytest.raises(EnvironmentFailed, match="iniconfig cannot be judged by its tests: pytest itself imports it"):
        await build_environment(make(files))
