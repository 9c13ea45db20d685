"""When patching a function in memory is provably the same as importing the changed file, and how it is done.

The unit of patching is the outermost function around the changed body: its code object contains those of all functions
inside. The file must be the pristine one but for the unit's lines; the unit must parse by itself to exactly one
function with the same decorators and parameters; its code must have the same free variables and be the same kind
(plain, generator, coroutine). Functions that run at import are excluded by the caller, who has traced them.
"""

from __future__ import annotations

import ast
import gc
import inspect
import linecache
import os
import types
from typing import Any

_KIND = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE
_FUTURE = 0x0FF0_0000


class NotTheSame(Exception):
    """Patching in memory might differ from importing the file; the message says why."""


def units(source: bytes) -> dict[tuple[str, int], dict[str, Any]]:
    """Map ``(qualified name, occurrence)`` of every function of a file to its unit of patching.

    A unit is ``{"first", "last", "name", "classes", "header"}``: lines from 1, ``__qualname__``, the classes around it.
    """
    found: dict[tuple[str, int], dict[str, Any]] = {}
    if source.startswith(b"\xef\xbb\xbf") or b"coding" in b"".join(source.splitlines()[:2]):
        return found
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return found
    counts: dict[str, int] = {}

    def walk(node: ast.AST, prefix: str, classes: tuple[str, ...], unit: dict[str, Any] | None) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                name = prefix + child.name
                counts[name] = counts.get(name, 0) + 1
                first = min([child.lineno] + [decorator.lineno for decorator in child.decorator_list])
                own = unit or {
                    "first": first,
                    "last": child.end_lineno,
                    "name": name,
                    "classes": list(classes),
                    "header": header(child),
                }
                found[name, counts[name]] = own
                walk(child, name + ".<locals>.", (), own)
            elif isinstance(child, ast.ClassDef):
                walk(child, prefix + child.name + ".", (*classes, child.name), unit)
            else:
                walk(child, prefix, classes, unit)

    walk(tree, "", (), None)
    return found


def header(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return what of a function is evaluated when it is defined: it must not change, because it is not run again."""
    parts = [function.args, *function.decorator_list] + ([function.returns] if function.returns else [])
    documented = bool(function.body) and ast.get_docstring(function, clean=False)
    return "|".join([type(function).__name__, function.name, *(ast.dump(part) for part in parts), repr(documented)])


def snippet(pristine: bytes, content: bytes, unit: dict[str, Any]) -> bytes:
    """Return the unit's new lines; raises :class:`NotTheSame` if anything else of the file changed."""
    lines = pristine.splitlines(keepends=True)
    prefix, suffix = b"".join(lines[: unit["first"] - 1]), b"".join(lines[unit["last"] :])
    if len(content) < len(prefix) + len(suffix) or not content.startswith(prefix) or not content.endswith(suffix):
        raise NotTheSame("more than one function changed")
    return content[len(prefix) : len(content) - len(suffix)]


def compile_unit(text: bytes, unit: dict[str, Any], filename: str, flags: int) -> types.CodeType:
    """Return the unit's new code object, line numbers as in the file."""
    source = text.decode("utf-8")
    classes = unit["classes"]
    wrappers = [f"{' ' * depth}class {name}:\n" for depth, name in enumerate(classes)]
    if not wrappers and source[:1] in " \t":
        wrappers = ["if 1:\n"]
    padding = unit["first"] - 1 - len(wrappers)
    if padding < 0:
        raise NotTheSame("its lines cannot be placed")
    try:
        tree = ast.parse("\n" * padding + "".join(wrappers) + source, filename)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotTheSame("it does not parse by itself") from None
    body = tree.body
    for _ in wrappers:
        if len(body) != 1:
            raise NotTheSame("it leaves the function")
        body = body[0].body
    if len(body) != 1 or not isinstance(body[0], (ast.FunctionDef, ast.AsyncFunctionDef)):
        raise NotTheSame("it leaves the function")
    if header(body[0]) != unit["header"]:
        raise NotTheSame("its header or docstring changed")
    try:
        code = compile(tree, filename, "exec", flags & _FUTURE, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotTheSame("it does not compile by itself") from None
    for name in (*classes, body[0].name):
        code = next(const for const in code.co_consts if isinstance(const, types.CodeType) and const.co_name == name)
    named: types.CodeType = code.replace(co_qualname=unit["name"])
    return named


class Index:
    """Every live function of the tree, found before ``gc.freeze`` hides it."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._functions: dict[tuple[str, str, int], list[types.FunctionType]] = {}
        self._closures = set()
        prefix = root + os.sep
        for thing in gc.get_objects():
            if type(thing) is types.FunctionType and thing.__code__.co_filename.startswith(prefix):
                code = thing.__code__
                self._functions.setdefault((code.co_filename, code.co_qualname, code.co_firstlineno), []).append(thing)
                outer, inside, _ = code.co_qualname.partition(".<locals>.")
                if inside:
                    self._closures.add((code.co_filename, outer))

    def patch(self, path: str, unit: dict[str, Any], text: bytes) -> None:
        """Swap the unit's code in every function object that has it; raises :class:`NotTheSame`."""
        filename = os.path.join(self.root, path)
        functions = self._functions.get((filename, unit["name"], unit["first"]), [])
        if not functions:
            raise NotTheSame("no live function has its code")
        if (filename, unit["name"]) in self._closures:
            raise NotTheSame("functions inside it were made at import")
        old = functions[0].__code__
        new = compile_unit(text, unit, filename, old.co_flags)
        if not new.co_freevars:
            # Code that uses no variable from outside never looks at what its function holds of them.
            new = new.replace(co_freevars=old.co_freevars)
        if new.co_freevars != old.co_freevars:
            raise NotTheSame("its free variables changed")
        if (new.co_flags ^ old.co_flags) & _KIND:
            raise NotTheSame("it became another kind of function")
        for function in functions:
            function.__code__ = new
        linecache.clearcache()
