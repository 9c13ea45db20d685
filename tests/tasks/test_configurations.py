"""What a project's configuration of pytest asks for makes no suite unusable, and says which files are its tests."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from tasks.made_up import environment_of

from workbench.regeneration.building import source_rule

SUMS = "def total(numbers):\n    return sum(numbers)\n"
CHECKS = """\
from sums import total


def numbers(count):
    return list(range(count))


def test_total():
    assert total(numbers(3)) == 3
"""


@pytest.mark.parametrize(
    "options",
    [
        "--cache-clear",
        "--lf --ff --nf --lfnf=none --sw --sw-skip --cache-clear --cache-show",
        "--strict-config\ncache_dir = somewhere",
    ],
    ids=["cache-clear", "all", "strict"],
)
async def test_options_of_the_plugin_that_is_off_are_known(make, build, options: str) -> None:
    ini = f"[pytest]\npython_files = checks.py\naddopts = {options}\n"
    built = await build(make({"sums.py": SUMS, "checks.py": CHECKS, "pytest.ini": ini}))
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
def test_files_that_pytest_is_told_to_collect_are_tests(
    make, configuration: dict[str, str], tests: list[str], sources: list[str]
) -> None:
    root = make({"pkg/__init__.py": "", "pkg/more.py": "", **dict.fromkeys([*tests, *sources], ""), **configuration})
    is_source = source_rule(environment_of(root).workspace)
    assert [path for path in [*tests, *sources] if is_source(PurePosixPath(path))] == sources
