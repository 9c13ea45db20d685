"""Stub bodies by return annotation, and the rule of the paper's published counts."""

from __future__ import annotations

import ast
from pathlib import PurePosixPath

import pytest

from workbench.base.errors import UsageError
from workbench.regeneration.tasks import (
    default_value,
    is_published_file,
    minimal_stub,
    missed_lines,
    parse_selection,
    stubs,
    typed_stub,
    why_not_published,
)
from workbench.repository.functions import find_functions
from workbench.repository.splicing import splice


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        ("int", "0"), ("str", '""'), ("bool", "False"), ("list[int]", "[]"), ("typing.List[int]", "[]"), ("None", "None"),
        ("Optional[int]", "None"), ("int | None", "None"), ("dict[str, int | None]", "{}"), ("Union[int, str]", "0"),
        ('"str"', '""'), ("tuple[int, ...]", "()"), ("Literal['a', 'b']", "'a'"), ("Self", None), (None, None), ("", None),
        ("Callable[[int], str]", None), ("Annotated[float, 3]", "0.0"), ("Iterator[int]", "iter(())"), ("Foo | int", "0"),
    ],
)  # fmt: skip
def test_default_values(annotation, value):
    assert default_value(annotation) == value
    if value is not None:
        ast.parse(value, mode="eval")


def test_stubs_of_kinds_of_functions():
    source = b"def a() -> int:\n    return 1\ndef b():\n    yield 1\nasync def c() -> str: return 'x'\ndef d(): pass\n"
    a, b, c, d = find_functions(source, "m.py")
    assert stubs(a) == ("pass", "return 0")
    assert stubs(b) == ("return\nyield",)
    assert typed_stub(c) == 'return ""'
    assert stubs(d) == ("pass",)
    for function in (a, b, c, d):
        for stub in stubs(function):
            ast.parse(splice(source, function, stub))
    scope: dict = {}
    exec(splice(source, b, minimal_stub(b)), scope)
    assert list(scope["b"]()) == []


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
    reason = why_not_published(FOUND["plain"], ["t::a[1]", "t::a[2]"], frozenset())
    assert reason == "Only parametrised tests reach it, which the published counts exclude."
    assert why_not_published(FOUND["plain"], ["t::a[1]", "t::b"], frozenset()) == ""


def test_test_files_count_unless_they_lie_below_tests() -> None:
    counted = ["test_schema.py", "test/test_tabulate.py", "pkg/a.py", "tests.py"]
    left_out = ["tests/test_a.py", "pkg/tests/deep/helpers.py"]
    assert [path for path in counted + left_out if is_published_file(PurePosixPath(path))] == counted


def test_a_selection_is_one_of_two() -> None:
    assert [parse_selection(text) for text in ("", "published", " filtered ")] == ["filtered", "published", "filtered"]
    with pytest.raises(UsageError, match="There is no selection 'all'; choose filtered or published"):
        parse_selection("all")
