"""Stub bodies by return annotation."""

from __future__ import annotations

import ast

import pytest

from workbench.regeneration.tasks import default_value, minimal_stub, stubs, typed_stub
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
