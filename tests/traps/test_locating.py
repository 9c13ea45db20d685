"""Trap: locating. Functions are found by (path, qualified name, occurrence), not by line, however they are written."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from counting_calls import calls_of
from hypothesis import given
from hypothesis import strategies as st

from workbench.base.python_syntax import parse
from workbench.repository.functions import find_functions, outline
from workbench.repository.splicing import splice

SITE = Path(pytest.__file__).parent.parent


def bodies(source: bytes) -> dict[str, bytes]:
    """The body of every function by its identity, without the layout around it."""
    return {function.id: source[slice(*function.body)].strip() for function in find_functions(source, "m.py")}


#: The trap's name → (source, identity, its body).
TRAPS: dict[str, tuple[bytes, str, bytes]] = {
    "path": (b"def f(): return 1\n", "m.py::f", b"return 1"),
    "qualified_name": (b"class A:\n    class B:\n        def f(self): return 1\n", "m.py::A.B.f", b"return 1"),
    "occurrence": (b"def f(): return 1\ndef f(): return 2\n", "m.py::f#2", b"return 2"),
    "overload": (
        b"@overload\ndef f(x: int) -> int: ...\n@overload\ndef f(x: str) -> str: ...\ndef f(x):\n    return x\n",
        "m.py::f#3",
        b"return x",
    ),
    "property_setter": (
        b"class A:\n    @property\n    def v(self): return 1\n    @v.setter\n    def v(self, x): self.x = x\n",
        "m.py::A.v#2",
        b"self.x = x",
    ),
    "conditional_definition": (
        b"try:\n    import fast\nexcept ImportError:\n    def f(): return 1\nelse:\n    def f(): return 2\n",
        "m.py::f#2",
        b"return 2",
    ),
    "nested_definition": (
        b"def f():\n    def g():\n        return 1\n    return g\n",
        "m.py::f.<locals>.g",
        b"return 1",
    ),
    "decorators": (b"@a\n@b(1,\n   2)\ndef f():\n    return 1\n", "m.py::f", b"return 1"),
    "async_def": (b"async def f():\n    await g()\n", "m.py::f", b"await g()"),
    "one_line_body": (b"def f(): x = 1; return x\n", "m.py::f", b"x = 1; return x"),
    "line_continuation": (b"def f(a, \\\n      b): \\\n    return a\n", "m.py::f", b"\\\n    return a"),
    "trailing_comment": (
        b"def f():  # why\n    return 1  # because\n    # the end\n\n\nx = 1\n",
        "m.py::f",
        b"return 1  # because\n    # the end",
    ),
    "crlf": (b"def f():\r\n    x = 1\r\n    return x\r\n\r\ny = 1\r\n", "m.py::f", b"x = 1\r\n    return x"),
    "bom": (b"\xef\xbb\xbfdef f():\n    return 1\n", "m.py::f", b"return 1"),
    "tabs": (b"class A:\n\tdef f(self):\n\t\treturn 1\n", "m.py::A.f", b"return 1"),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_locating(trap: str) -> None:
    source, identity, body = TRAPS[trap]
    assert bodies(source)[identity] == body
    # Not by line: what is put above it changes no identity and no body (and a byte order mark stays first).
    mark = b"\xef\xbb\xbf" if source.startswith(b"\xef\xbb\xbf") else b""
    moved = mark + b"import os\n\n\nLIMIT = 3\n\n" + source.removeprefix(mark)
    assert bodies(moved) == bodies(source)
    # The stub goes into this body and into no other one.
    function = next(one for one in find_functions(moved, "m.py") if one.id == identity)
    stubbed = bodies(splice(moved, function, "raise KeyError"))
    around = [name for name in stubbed if identity.startswith(name + ".<locals>.")]
    assert stubbed[identity] == b"raise KeyError"
    assert {k: v for k, v in stubbed.items() if k not in (identity, *around)} == {
        k: v for k, v in bodies(source).items() if k not in (identity, *around)
    }


def test_kinds_and_names_follow_qualname():
    source = b"class A:\n  class B:\n    async def m(self):\n      def inner(): yield 1\n      class C:\n        def n(self): pass\n"
    found = {f.qualified_name: f for f in find_functions(source, "m.py")}
    assert list(found) == ["A.B.m", "A.B.m.<locals>.inner", "A.B.m.<locals>.C.n"]
    assert [f.kind for f in found.values()] == ["method", "nested", "method"]
    assert found["A.B.m"].is_async
    assert not found["A.B.m"].is_generator
    assert found["A.B.m.<locals>.inner"].is_generator


def test_details_of_a_decorated_function():
    source = b'@a\n@b(1)\nasync def f(x: int = 3, *a: str, y=None, **k) -> list[int]:  # noqa\n    """Doc."""  # d\n    return 1  # t\n    # end\n\nx = 1\n'
    (function,) = find_functions(source, "m.py")
    assert function.decorators == ("@a", "@b(1)")
    assert [(p.name, p.annotation, p.default) for p in function.parameters] == [
        ("x", "int", "3"), ("*a", "str", None), ("y", None, "None"), ("**k", None, None),
    ]  # fmt: skip
    assert (function.first_line, function.start_line, function.end_line) == (1, 3, 6)
    assert function.returns == "list[int]"
    assert function.signature == "async def f(x: int = 3, *a: str, y=None, **k) -> list[int]:"
    assert source[slice(*function.header)].endswith(b":  # noqa")
    assert source[slice(*function.docstring_span)] == b'"""Doc."""'
    assert source[slice(*function.body)] == b"\n    return 1  # t\n    # end"


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        (b'"""a"""', "a"), (b"r'a\\n'", "a\\n"), (b'"a" "b"', "ab"), (b'("a")', "a"), (b'u"a"', "a"),
        (b'"\\u00e9"', "é"), (b'f"a"', None), (b'b"a"', None), (b'"a".strip()', None), (b'"a",', None), (b'""', ""),
    ],
)  # fmt: skip
def test_docstrings_are_what_python_says(literal, value):
    source = b"def f():\n    # before\n    " + literal + b"\n    return 1\n"
    (function,) = find_functions(source, "m.py")
    assert function.docstring == value == ast.get_docstring(parse(source).body[0], clean=False)


def test_a_latin_1_cookie_keeps_every_offset():
    source = "# -*- coding: latin-1 -*-\ndef é(ü='ß'):\n    'dö'\n    return 'ä'\n".encode("latin-1")
    (function,) = find_functions(source, "m.py")
    assert function.qualified_name == "é"
    assert function.docstring == "dö"
    assert source[slice(*function.body)] == "\n    return 'ä'".encode("latin-1")


@pytest.mark.parametrize(
    "source",
    [b"def f(:\n  return 1\n\ndef g():\n    return ((1\n", b"def", b"def f()", b"def f():", b"class", b"\x00\x00def f(): pass", b"((((", b"async", b"@", b"@a\ndef"],
)  # fmt: skip
def test_broken_syntax_never_raises(source):
    for function in find_functions(source, "m.py"):
        assert 0 <= function.header.end <= function.body.start <= function.body.end <= len(source)
    outline(source)


@given(st.binary(max_size=200))
def test_any_bytes_are_survived(source):
    for function in find_functions(b"def f(x):\n  return 1\n" + source, "m.py"):
        assert function.body.start <= function.body.end


def test_a_syntax_error_elsewhere_does_not_mark_a_sound_function():
    sound, broken = find_functions(b"def f():\n    return 1\n\ndef g():\n    return 1 +* 2\n", "m.py")
    assert not sound.has_syntax_error
    assert broken.has_syntax_error


def test_outline_lists_classes_and_functions_with_depth():
    items = outline(b"class A(B):\n    def f(self,\n          x): pass\ndef g() -> int:\n    def h(): pass\n")
    assert [(i.kind, i.qualified_name, i.depth, i.start_line, i.end_line) for i in items] == [
        ("class", "A", 0, 1, 3), ("method", "A.f", 1, 2, 3), ("function", "g", 0, 4, 5), ("nested", "g.<locals>.h", 1, 5, 5),
    ]  # fmt: skip
    assert items[1].signature == "def f(self, x)"


def _python_says(
    tree: ast.AST, qualified: str = "", inside_function: bool = False
) -> list[tuple[int, str, str | None]]:
    found = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            joint = (".<locals>." if inside_function else ".") if qualified else ""
            name = qualified + joint + node.name
            is_function = not isinstance(node, ast.ClassDef)
            if is_function:
                found.append((node.lineno, name, ast.get_docstring(node, clean=False)))
            found += _python_says(node, name, is_function)
        else:
            found += _python_says(node, qualified, inside_function)
    return found


def test_agrees_with_ast_on_an_installed_project():
    folder = SITE / "rich"
    total = 0
    for file in sorted(folder.rglob("*.py")):
        source = file.read_bytes()
        expected = sorted(_python_says(parse(source)), key=lambda item: item[:2])
        got = sorted(
            ((f.start_line, f.qualified_name, f.docstring) for f in find_functions(source, file.name)),
            key=lambda item: item[:2],
        )
        assert got == expected, file
        total += len(got)
    assert total > 20


def test_work_grows_with_the_file_and_not_with_its_square():
    piece = (SITE / "_pytest" / "fixtures.py").read_bytes()
    find_functions(b"def f(): pass", "warm.py")
    once, ten_times = (calls_of(lambda source=piece * times: find_functions(source, "m.py")) for times in (1, 10))
    assert len(find_functions(piece * 10, "m.py")) > 500
    assert ten_times < 11 * once
