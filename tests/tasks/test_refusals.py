"""Repositories that pytest refuses: the sentence has pytest's own reason and the file that is at fault."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tasks.conftest import RULES

from workbench.regeneration.suite import SuiteFailed, died_of, hanging_place, refusal

TEST = "def test_total():\n    assert 1 + 1 == 2\n"
REFUSES = "pytest does not run the repository's tests: "
ENDS = "The repository's test suite does not run: "

KINDS = {
    "unknown option": (
        {"pytest.ini": "[pytest]\naddopts = --frobnicate\n"},
        [REFUSES + "unrecognized arguments: --frobnicate", "(pytest.ini)."],
    ),
    "open quotation in addopts": (
        {"setup.cfg": "[tool:pytest]\naddopts = -k 'one\n"},
        [REFUSES, "No closing quotation", "(setup.cfg)."],  # newer releases of pytest name no exception
    ),
    "addopts of the wrong type": (
        {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = 5\n"},
        [REFUSES, "pyproject.toml"],
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
    "TOML syntax": (
        {"pyproject.toml": "[tool.pytest.ini_options\naddopts = 1\n"},
        [REFUSES + "pyproject.toml: ", "(at line 1"],
    ),
    "unknown setting": (
        {"pytest.ini": "[pytest]\naddopts = --strict-config\nnowhere_option = 1\n"},
        [REFUSES + "Unknown config option: nowhere_option (pytest.ini)."],
    ),
    "conftest import": (
        {"conftest.py": "import nowhere_to_be_found\n"},
        [REFUSES + "conftest.py cannot be imported: ModuleNotFoundError: No module named 'nowhere_to_be_found'"],
    ),
    "conftest imports what fails": (
        {"conftest.py": "import settings_of_it\n", "settings_of_it.py": "\nraise RuntimeError('no database')\n"},
        [REFUSES + "conftest.py cannot be imported: RuntimeError: no database (settings_of_it.py, line 2)."],
    ),
    "conftest syntax": (
        {"conftest.py": "x = 1\ndef (:\n"},
        [REFUSES + "conftest.py cannot be imported: SyntaxError: invalid syntax (conftest.py, line 2)."],
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
    "pytest_plugins in a folder": (
        {"tests/inner/conftest.py": "pytest_plugins = ['os']\n", "tests/inner/test_c.py": TEST},
        ["Defining 'pytest_plugins' in a non-top-level conftest is no longer supported", "tests/inner/conftest.py"],
    ),
    "hook that raises": (
        {"conftest.py": "def pytest_collection_modifyitems(items):\n    items[5]\n"},
        [ENDS + "pytest stopped with an internal error: IndexError: list index out of range (conftest.py, line 2)."],
    ),
    "hook with a wrong argument": (
        {"conftest.py": "def pytest_runtest_setup(itemz):\n    pass\n"},
        [REFUSES + "PluginValidationError: Plugin 'conftest.py' for hook 'pytest_runtest_setup'", "{'itemz'}"],
    ),
    "collect_ignore": (
        {"conftest.py": "collect_ignore = 5\n"},
        [REFUSES + "collect_ignore", "in a conftest.py: TypeError: 'int' object is not iterable."],
    ),
    "warning as error": (
        {
            "pytest.ini": "[pytest]\nfilterwarnings = error\n",
            "conftest.py": "import warnings\nwarnings.warn('use the other one', DeprecationWarning)\n",
        },
        [REFUSES + "conftest.py cannot be imported: DeprecationWarning: use the other one (conftest.py, line 2)."],
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
    "usage error of a conftest": (
        {"conftest.py": "import pytest\n\n\ndef pytest_configure():\n    raise pytest.UsageError('set DATABASE first')\n"},
        [REFUSES + "set DATABASE first."],
    ),
    "pytest.exit at import": (
        {"conftest.py": "import pytest\n\npytest.exit('it needs a database')\n"},
        [REFUSES, "Exit: it needs a database (conftest.py, line 3)."],
    ),
    "pytest.exit in a hook": (
        {"conftest.py": "import pytest\n\n\ndef pytest_sessionstart():\n    pytest.exit('it needs a database', 7)\n"},
        [REFUSES, "Exit: it needs a database (conftest.py, line 5)."],
    ),
    "sys.exit": (
        {"conftest.py": "import sys\n\nsys.exit(3)\n"},
        [ENDS + "The process ended with status 3", "SystemExit: 3 (conftest.py, line 3)."],
    ),
    "os._exit in a test file": (
        {"test_sums.py": "import os\n\nos._exit(3)\n"},
        [ENDS + "The process ended with status 3", "while importing test_sums.py."],
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


#: One of each way in which pytest says it; the others are slow together.
ONE_OF_EACH = {
    "unknown option",
    "missing plugin",
    "conftest imports what fails",
    "hook that raises",
    "option of two plugins",
    "pytest.exit in a hook",
    "sys.exit",
    "segmentation fault at import",
}


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "kind", [kind if kind in ONE_OF_EACH else pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS]
)
async def test_pytests_own_reason(make, build, kind: str) -> None:
    files, told = KINDS[kind]
    with pytest.raises(SuiteFailed) as caught:
        await build(make({"test_sums.py": TEST, **files}))
    text = str(caught.value)
    assert [part for part in told if part not in text] == [], text
    assert "\n" not in text
    assert "_pytest" not in text
    assert len(text) < 500


@pytest.mark.sandbox
async def test_a_conftest_that_hangs_is_named(make, build) -> None:
    waiting = "import threading\n\n\ndef wait():\n    threading.Event().wait()\n\n\nwait()\n"
    with pytest.raises(SuiteFailed) as caught:
        await build(make({"test_sums.py": TEST, "conftest.py": waiting}), rules=replace(RULES, import_seconds=12))
    assert str(caught.value).startswith("The repository hangs at conftest.py, line 5, while it is imported")


@pytest.mark.sandbox
async def test_two_test_files_of_one_name_tell_which(make, build) -> None:
    built = await build(make({"sums.py": "def total(a):\n    return a + 1\n",
                              "one/test_same.py": "from sums import total\n\n\ndef test_total():\n    assert total(1) == 2\n",
                              "two/test_same.py": TEST}))  # fmt: skip
    assert built.not_collected == {
        "two/test_same.py": "import file mismatch: imported module 'test_same' has this __file__ attribute: "
        "one/test_same.py which is not the same as the test file we want to collect: two/test_same.py"
    }


@pytest.mark.sandbox
async def test_what_is_said_without_end_does_not_stop_the_suite(make, build) -> None:
    loud = "import os\n\nfor _ in range(300):\n    os.write(2, b'x' * 10_000)\n\n\ndef pytest_configure():\n    raise KeyError('late')\n"
    with pytest.raises(SuiteFailed, match=r"KeyError: 'late' \(conftest.py, line 8\)"):
        await build(make({"test_sums.py": TEST, "conftest.py": loud}))


def test_nothing_said_is_no_reason() -> None:
    assert refusal("") == died_of("") == hanging_place("") == ""


def test_controls_and_length_of_what_is_said_are_bounded() -> None:
    assert refusal("ERROR: \x1b[31mred\x1b[0m \x07wrong") == "red wrong"
    assert len(refusal("ERROR: " + "long " * 400)) <= 300
