"""Docstrings of a whole file: put in, taken out, and no other byte of code changed."""

from __future__ import annotations

import ast

import pytest

from workbench.repository.functions import DefinitionKey, find_definitions
from workbench.repository.splicing import document

SOURCE = '''#!/usr/bin/env python
# -*- coding: utf-8 -*-
"""About the module."""
from __future__ import annotations


class Outer:
    """About the class."""

    value = 1

    class Inner: "one line"

    def only(self):
        """Nothing but this."""

    def two_strings(self):
        """The docstring."""
        "no docstring"
        return 1


def outer(x):
    def inner(y): """Inner."""; return y
    return inner(x)


if True:
    def twice():
        """First."""
        return 1
else:
    def twice():
        return 2


class twice:
    pass
'''
KEYS = [
    ("module", "", 1),
    ("class", "Outer", 1),
    ("class", "Outer.Inner", 1),
    ("function", "Outer.only", 1),
    ("function", "Outer.two_strings", 1),
    ("function", "outer", 1),
    ("function", "outer.<locals>.inner", 1),
    ("function", "twice", 1),
    ("function", "twice", 2),
    ("class", "twice", 1),
]


def docstrings(source: bytes) -> list[str | None]:
    """Return what Python itself takes for docstrings."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [ast.get_docstring(node) for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]


def code(source: bytes) -> str:
    """Return the code without docstrings, and without what stands in their place."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            if ast.get_docstring(node) is not None:
                del node.body[0]
            node.body = [statement for statement in node.body if not isinstance(statement, ast.Pass)]
    return ast.dump(tree)


def test_module_classes_and_functions_are_found_with_what_python_takes_for_their_docstrings() -> None:
    found = find_definitions(SOURCE.encode(), "a.py")
    assert [one.key for one in found] == [DefinitionKey(*key) for key in KEYS]  # type: ignore[arg-type]
    assert sorted(filter(None, (one.docstring for one in found))) == sorted(filter(None, docstrings(SOURCE.encode())))


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_no_docstring_is_left_anywhere_and_the_code_stays(newline: str) -> None:
    source = SOURCE.replace("\n", newline).encode()
    bare = document(source, "a.py", lambda key: None)
    assert set(docstrings(bare)) == {None}
    assert code(bare) == code(source)
    assert [one.key for one in find_definitions(bare, "a.py")] == [one.key for one in find_definitions(source, "a.py")]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_definition_gets_its_own_docstring_also_where_there_was_none(newline: str) -> None:
    source = SOURCE.replace("\n", newline).encode()
    for start in (source, document(source, "a.py", lambda key: None)):
        documented = document(start, "a.py", lambda key: f"Say {key.kind} {key.text}.\n\nAnd more.")
        assert [
            one.docstring is not None and one.docstring.split(".\n")[0] for one in find_definitions(documented, "a.py")
        ] == [
            f"Say {DefinitionKey(*key).kind} {DefinitionKey(*key).text}"
            for key in KEYS  # type: ignore[arg-type]
        ]
        assert None not in docstrings(documented)
        assert code(documented) == code(source)


@pytest.mark.parametrize(
    "source", ["", "# only a comment\n", '"""Only this."""', "x = 1", "\ufeffx = 1\n", '"a"\n"b"\n']
)
def test_modules_of_every_kind(source: str) -> None:
    text = source.encode()
    documented = document(text, "m.py", lambda key: "New.")
    assert docstrings(documented) == ["New."]
    assert docstrings(document(documented, "m.py", lambda key: None)) == [None]
    assert docstrings(document(text, "m.py", lambda key: None)) == [None]
