"""Suites that misbehave or that pytest refuses: each is named in one sentence, and what can be used of it is used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

import pytest
from sweeps import spread
from tasks.conftest import RULES
from tasks.made_up import environment_of

from workbench.regeneration.building import source_rule
from workbench.regeneration.environment import EnvironmentFailed, build_environment
from workbench.regeneration.suite import SuiteFailed, collection_error, crash_reason, hang_location, odd_test_files
from workbench.sandbox import Limits

pytestmark = pytest.mark.sandbox

SUMS = "def total(numbers):\n    return sum(numbers)\n"
SUITE = "from sums import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
TEST = "def test_total():\n    assert 1 + 1 == 2\n"
REFUSES = "pytest cannot run the repository's tests: "
ENDS = "The repository's test suite does not run: "


async def sentence(root, build, **more) -> str:
    with pytest.raises(SuiteFailed) as caught:
        await build(root, **more)
    text = str(caught.value)
    assert "\n" not in text
    assert "_pytest" not in text
    assert len(text) < 500
    return text


KINDS = {
    "unknown option": (
        {"pytest.ini": "[pytest]\naddopts = --frobnicate\n"},
        [REFUSES + "unrecognized arguments: --frobnicate", "(pytest.ini)."],
    ),
    "open quotation in addopts": (
        {"setup.cfg": "[tool:pytest]\naddopts = -k 'one\n"},
        [REFUSES, "No closing quotation", "(setup.cfg)."],  # newer releases of pytest name no exception
    ),
    "missing plugin": (
        {"pytest.ini": "[pytest]\naddopts = -p nowhere_plugin\n"},
        [REFUSES, 'Error importing plugin "nowhere_plugin": No module named', "(pytest.ini)."],
    ),
    "required plugins": (
        {"pyproject.toml": '[tool.pytest.ini_options]\nrequired_plugins = ["pytest-nowhere>=3"]\n'},
        [REFUSES + "Missing required plugins: pytest-nowhere>=3", "(pyproject.toml)."],
    ),
    "minversion": (
        {"tox.ini": "[pytest]\nminversion = 99.0\n"},
        [REFUSES + "tox.ini: 'minversion' requires pytest-99.0"],
    ),
    "ini syntax": (
        {"pytest.ini": "[pytest\naddopts = -x\n"},
        [REFUSES + "pytest.ini:1: unexpected value continuation."],
    ),
    "conftest import": (
        {"conftest.py": "import nowhere_to_be_found\n"},
        [REFUSES + "conftest.py cannot be imported: ModuleNotFoundError: No module named 'nowhere_to_be_found'"],
    ),
    "conftest imports what fails": (
        {"conftest.py": "import settings_of_it\n", "settings_of_it.py": "\nraise RuntimeError('no database')\n"},
        [REFUSES + "conftest.py cannot be imported: RuntimeError: no database (settings_of_it.py, line 2)."],
    ),
    "conftest of a folder": (
        {"tests/conftest.py": "import nowhere_to_be_found\n", "tests/test_b.py": TEST},
        [REFUSES + "tests/conftest.py cannot be imported: ModuleNotFoundError: No module named"],
    ),
    "unknown marker": (
        {
            "pytest.ini": "[pytest]\naddopts = --strict-markers\n",
            "test_sums.py": "import pytest\n\n\n@pytest.mark.slowly\ndef test_one():\n    pass\n",
        },
        ["test_sums.py: 'slowly' not found in `markers` configuration option"],
    ),
    "pytest_plugins": (
        {"conftest.py": "pytest_plugins = ['nowhere.fixtures']\n"},
        [REFUSES, 'Error importing plugin "nowhere.fixtures": No module named', "(conftest.py)."],
    ),
    "hook that raises": (
        {"conftest.py": "def pytest_collection_modifyitems(items):\n    items[5]\n"},
        [ENDS + "pytest stopped with an internal error: IndexError: list index out of range (conftest.py, line 2)."],
    ),
    "hook with a wrong argument": (
        {"conftest.py": "def pytest_runtest_setup(itemz):\n    pass\n"},
        [REFUSES + "PluginValidationError: Plugin 'conftest.py' for hook 'pytest_runtest_setup'", "{'itemz'}"],
    ),
    "testpaths that do not exist": (
        {"pytest.ini": "[pytest]\ntestpaths = nowhere\nfilterwarnings = error\n"},
        [REFUSES, "No files were found in testpaths", "(pytest.ini)."],
    ),
    "path in addopts": (
        {"pytest.ini": "[pytest]\naddopts = nowhere_folder\n"},
        [REFUSES + "file or directory not found: nowhere_folder (pytest.ini)."],
    ),
    "option of two plugins": (
        {"conftest.py": "def pytest_addoption(parser):\n    parser.addoption('--verbose')\n"},
        [REFUSES, "option", "--verbose", "(conftest.py, line 2)."],
    ),
    "pytest.exit in a hook": (
        {"conftest.py": "import pytest\n\n\ndef pytest_sessionstart():\n    pytest.exit('it needs a database', 7)\n"},
        [REFUSES, "Exit: it needs a database (conftest.py, line 5)."],
    ),
    "sys.exit": (
        {"conftest.py": "import sys\n\nsys.exit(3)\n"},
        [ENDS + "The process ended with status 3", "SystemExit: 3 (conftest.py, line 3)."],
    ),
    "abort in a conftest": (
        {"conftest.py": "import os\n\nos.abort()\n"},
        [ENDS + "The process was killed by signal 6", "Aborted (conftest.py, line 3)."],
    ),
    "segmentation fault at import": (
        {"test_sums.py": "import ctypes\n\nctypes.string_at(0)\n"},
        [ENDS + "The process was killed by signal 11 while importing test_sums.py: Segmentation fault (test_sums.py, line 3)."],
    ),
}  # fmt: skip


#: One of each way in which pytest says it; of the others, slow together, a spread.
ONE_OF_EACH = ("missing plugin", "conftest imports what fails", "pytest.exit in a hook", "segmentation fault at import")
OTHERS = spread([kind for kind in KINDS if kind not in ONE_OF_EACH], 6)


@pytest.mark.parametrize("kind", [*ONE_OF_EACH, *(pytest.param(kind, marks=pytest.mark.slow) for kind in OTHERS)])
async def test_pytests_own_reason(make, build, kind: str) -> None:
    files, parts = KINDS[kind]
    text = await sentence(make({"test_sums.py": TEST, **files}), build)
    assert [part for part in parts if part not in text] == [], text


async def test_no_tests(make, build) -> None:
    assert await sentence(make({"sums.py": SUMS}), build) == "The repository has no tests that pytest finds."


@pytest.mark.nightly
async def test_tests_in_odd_places(make, build) -> None:
    suite = "import unittest\n\nfrom pkg.sums import total\n\n\nclass Sums(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n"
    built = await build(make({"src/pkg/__init__.py": "", "src/pkg/sums.py": SUMS, "src/pkg/tests.py": suite}))
    assert [task.id for task in built.tasks] == ["src/pkg/sums.py::total"]
    assert all(test.startswith("src/pkg/tests.py") for test in built.tasks[0].tests)


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


async def test_a_conftest_that_ends_the_process_after_the_tests(make, build) -> None:
    code = "import os\n\n\ndef pytest_sessionfinish():\n    os._exit(0)\n"
    text = await sentence(make({"sums.py": SUMS, "test_sums.py": SUITE, "conftest.py": code}), build)
    assert text.startswith(ENDS + "The process ended with status 0")


@pytest.mark.parametrize(
    ("name", "place"),
    [("sums.py", "sums.py, line 3"), pytest.param("conftest.py", "conftest.py, line 3", marks=pytest.mark.nightly)],
)
async def test_a_hang_at_import(make, build, name: str, place: str) -> None:
    files = {"sums.py": SUMS, "test_sums.py": SUITE, "conftest.py": ""}
    files[name] = "import threading\n\nthreading.Event().wait()\n" + files[name]
    text = await sentence(make(files), build, rules=replace(RULES, import_seconds=15))
    assert text == f"The repository hangs at {place} while its tests are imported or collected, so no test can run."


ONLINE = """import socket
import urllib.request

from sums import total


def test_name():
    assert socket.gethostbyname("example.org")
    total([])


def test_page():
    assert urllib.request.urlopen("http://example.org").read()
"""
BROKEN = "import nowhere_to_be_found\nfrom sums import total\n\n\ndef test_total():\n    assert total([]) == 0\n"
WRITES = """from pathlib import Path

from sums import total


def test_beside_the_tree():
    Path(%r).write_text("here")


def test_system():
    Path("/etc/escaped.txt").write_text("here")


def test_home():
    (Path.home() / "settings.txt").write_text("here")
    assert total([4]) == 4


def test_home_is_new_for_every_run():
    assert total([5]) == 5
    Path("written.txt").open("x").close()
"""
FATAL = """import os
import threading

from sums import total


def test_dies():
    os.kill(os.getpid(), 9)


def test_hangs():
    total([])
    threading.Event().wait()
"""


@pytest.mark.slow
async def test_what_cannot_be_used_of_a_suite_is_taken_out_by_name(make, build, tmp_path) -> None:
    files = {"test_online.py": ONLINE, "test_broken.py": BROKEN, "test_fatal.py": FATAL, "test_sums.py": SUITE}
    files["test_writes.py"] = WRITES % str(tmp_path / "escaped.txt")
    rules = replace(RULES, import_seconds=15, hang_seconds=4)
    built = await build(make({"sums.py": SUMS, **files}), rules=rules)
    assert sorted(built.taken_out) == ["test_fatal.py::test_dies", "test_fatal.py::test_hangs"]
    assert list(built.not_collected) == ["test_broken.py"]
    assert sorted(built.failing) == [
        "test_online.py::test_name", "test_online.py::test_page", "test_writes.py::test_beside_the_tree", "test_writes.py::test_system",
    ]  # fmt: skip
    for words in ("4 failing (2 need the network)", "2 hanging or fatal", "1 test files that cannot be imported"):
        assert words in built.quarantined
    assert not (tmp_path / "escaped.txt").exists()
    assert not (tmp_path / "repository" / "written.txt").exists()
    assert [sorted(test.partition("::")[2] for test in task.tests) for task in built.tasks] == [
        ["test_home", "test_home_is_new_for_every_run", "test_total"]
    ]


@pytest.mark.slow
async def test_a_suite_of_which_nothing_can_be_used(make, build) -> None:
    text = await sentence(make({"sums.py": SUMS, "test_online.py": ONLINE}), build)
    assert text.startswith("All 2 tests of the repository need the network, which a sandbox does not have; test_online")
    (make({}) / "test_online.py").unlink()
    assert await sentence(make({"test_broken.py": BROKEN}), build) == (
        "The repository's tests cannot be imported: test_broken.py: ModuleNotFoundError: No module named "
        "'nowhere_to_be_found'. nowhere_to_be_found is not a declared dependency; add it with install = […] in a "
        "case.toml."
    )


@pytest.mark.slow
async def test_a_suite_that_takes_too_long_is_given_up(make, build) -> None:
    slow = "".join(
        f"\n\ndef test_{n}():\n    threading.Event().wait(0.5)\n    assert total([{n}]) == {n}\n" for n in range(40)
    )
    root = make({"sums.py": SUMS, "test_sums.py": "import threading\n\nfrom sums import total\n" + slow})
    rules = replace(RULES, suite_seconds=6, import_seconds=6, hang_seconds=5)
    text = await sentence(root, build, rules=rules, limits=Limits(seconds=5))
    assert text.startswith("The repository's test suite did not finish: It ran out of time in test_sums.py::test_")


async def test_a_project_that_pytest_is_built_on(make) -> None:
    files = {
        "pyproject.toml": '[project]\nname = "iniconfig"\nversion = "2.0"\n',
        "src/iniconfig/__init__.py": SUMS,
        "testing/test_sums.py": SUITE.replace("sums", "iniconfig"),
    }
    with pytest.raises(EnvironmentFailed, match="The functions of iniconfig cannot be tested"):
        await build_environment(make(files))


@pytest.mark.nightly
async def test_two_test_files_of_one_name_tell_which(make, build) -> None:
    built = await build(make({"sums.py": "def total(a):\n    return a + 1\n",
                              "one/test_same.py": "from sums import total\n\n\ndef test_total():\n    assert total(1) == 2\n",
                              "two/test_same.py": TEST}))  # fmt: skip
    assert built.not_collected == {
        "two/test_same.py": "import file mismatch: imported module 'test_same' has this __file__ attribute: "
        "one/test_same.py which is not the same as the test file we want to collect: two/test_same.py"
    }


async def test_endless_output_does_not_stop_the_suite(make, build) -> None:
    loud = "import os\n\nfor _ in range(300):\n    os.write(2, b'x' * 10_000)\n\n\ndef pytest_configure():\n    raise KeyError('late')\n"
    with pytest.raises(SuiteFailed, match=r"KeyError: 'late' \(conftest.py, line 8\)"):
        await build(make({"test_sums.py": TEST, "conftest.py": loud}))


def test_no_output_is_no_reason() -> None:
    assert collection_error("") == crash_reason("") == hang_location("") == ""


def test_a_reason_has_no_control_sequences_and_a_bounded_length() -> None:
    assert collection_error("ERROR: \x1b[31mred\x1b[0m \x07wrong") == "red wrong"
    assert len(collection_error("ERROR: " + "long " * 400)) <= 300


HELPED = """from sums import total


def numbers(count):
    return list(range(count))


def test_total():
    assert total(numbers(3)) == 3
"""


@pytest.mark.slow
async def test_options_of_the_plugin_that_is_off_are_known(make, build) -> None:
    options = (
        "--strict-config --lf --ff --nf --lfnf=none --sw --sw-skip --cache-clear --cache-show\ncache_dir = somewhere"
    )
    ini = f"[pytest]\npython_files = checks.py\naddopts = {options}\n"
    built = await build(make({"sums.py": SUMS, "checks.py": HELPED, "pytest.ini": ini}))
    # The helper `numbers` is a test's: it lies in a file that `python_files` names.
    assert [task.id for task in built.tasks] == ["sums.py::total"]


@pytest.mark.parametrize(
    ("configuration", "tests", "sources"),
    [
        ({}, ["test_a.py", "pkg/a_test.py", "conftest.py", "tests/helpers.py"], ["pkg/a.py", "checks/a.py"]),
        (
            {"pytest.ini": "[pytest]\npython_files = tests.py *_spec.py\n"},
            ["tests.py", "pkg/a_spec.py"],
            ["pkg/a.py", "pkg/tests_of_others.py"],
        ),
        ({"tox.ini": "[pytest]\npython_files = checks/*.py\n"}, ["checks/a.py"], ["pkg/a.py", "pkg/checks.py"]),
        ({"pyproject.toml": "[tool.pytest.ini_options]\npython_files = ['check_*.py', '*.py']\n"}, ["pkg/check_a.py"], ["pkg/a.py"]),
        ({"setup.cfg": "[tool:pytest]\ntestpaths = checks spec*\n"}, ["checks/a.py", "checks/deep/b.py", "specs/a.py"], ["pkg/a.py"]),
        ({"pytest.ini": "[pytest]\ntestpaths = . pkg pkg/checks\npython_files = *.py\n"}, ["pkg/checks/a.py"], ["pkg/a.py", "pkg/b/c.py"]),
        ({"pytest.ini": "[pytest]\ntestpaths = ../x /etc 'open\n"}, [], ["pkg/a.py"]),
    ],
)  # fmt: skip
def test_files_that_pytest_is_told_to_collect_are_tests(make, configuration, tests, sources):
    root = make({"pkg/__init__.py": "", "pkg/more.py": "", **dict.fromkeys([*tests, *sources], ""), **configuration})
    is_source = source_rule(environment_of(root).workspace)
    assert [path for path in [*tests, *sources] if is_source(PurePosixPath(path))] == sources
