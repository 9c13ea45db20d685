"""The rule of the paper's published counts: what it counts, and what its collector missed."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from workbench.base.errors import UsageError
from workbench.regeneration.tasks import is_published_file, missed_lines, parse_selection, why_not_published
from workbench.repository.functions import find_functions

SOURCE = b"""\
def plain():
    def inner():
        return 1
    return inner()

if True:
    def conditional():
        return 2
    class Conditional:
        def method(self):
            return 3

async def later():
    return 4

def looping():
    for _ in range(2):
        def within():
            return 5
    return within()
"""
FOUND = {function.qualified_name: function for function in find_functions(SOURCE, "a.py")}


def test_functions_within_compound_statements_and_asynchronous_ones_are_left_out() -> None:
    missed = missed_lines(SOURCE)
    left_out = {name for name, function in FOUND.items() if why_not_published(function, ["t::a"], missed)}
    assert left_out == {"conditional", "later", "looping.<locals>.within"}
    assert missed_lines(b"def f(:\n") == frozenset()


def test_what_only_parametrised_tests_reach_is_left_out() -> None:
    said = why_not_published(FOUND["plain"], ["t::a[1]", "t::a[2]"], frozenset())
    assert said == "Only parametrised tests reach it, which the published counts leave out."
    assert why_not_published(FOUND["plain"], ["t::a[1]", "t::b"], frozenset()) == ""


def test_test_files_count_unless_they_lie_below_tests() -> None:
    counted = ["test_schema.py", "test/test_tabulate.py", "pkg/a.py", "tests.py"]
    left_out = ["tests/test_a.py", "pkg/tests/deep/helpers.py"]
    assert [path for path in counted + left_out if is_published_file(PurePosixPath(path))] == counted


def test_a_selection_is_one_of_two() -> None:
    assert [parse_selection(text) for text in ("", "published", " filtered ")] == ["filtered", "published", "filtered"]
    with pytest.raises(UsageError, match="There is no selection 'all'; choose filtered or published"):
        parse_selection("all")
