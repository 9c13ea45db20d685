"""Patch a function in memory where that is provably equivalent to importing the changed file.

The unit of patching is the outermost function around the changed body: its code object contains those of all functions
inside. The file must be the pristine one except for the unit's lines; the unit must parse to exactly one function with
the same decorators and parameters; its code must have the same free variables and be the same kind (plain, generator,
coroutine). The caller has traced which functions run at import, and excludes them.
"""

from __future__ import annotations

import ast
import gc
import inspect
import linecache
import os
import re
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

_KIND = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE
_FUTURE = 0x0FF0_0000


if TYPE_CHECKING:
    Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class NotEquivalent(Exception):
    """Patching in memory may differ from importing the file; the message says why."""


def units(source: bytes) -> dict[tuple[str, int], dict[str, Any]]:
    """Map ``(qualified name, occurrence)`` of every function of a file to its unit of patching.

    A unit is ``{"first", "last", "name", "classes", "header"}``: lines from 1, ``__qualname__``, the classes around it.
    """
    found: dict[tuple[str, int], dict[str, Any]] = {}
    found_by_node: dict[Definition, dict[str, Any]] = {}
    if source.startswith(b"\xef\xbb\xbf") or b"coding" in b"".join(source.splitlines()[:2]):
        return found
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return found
    for node, name, occurrence, around in definitions(tree):
        if isinstance(node, ast.ClassDef):
            continue
        outermost = next((one for one in around if not isinstance(one, ast.ClassDef)), None)
        if outermost is not None:
            found[name, occurrence] = found_by_node[outermost]
            continue
        found[name, occurrence] = found_by_node[node] = {
            "first": first_line(node),
            "last": node.end_lineno,
            "name": name,
            "classes": [one.name for one in around],
            "header": header(node),
        }
    return found


def definitions(tree: ast.AST) -> Iterator[tuple[Definition, str, int, tuple[Definition, ...]]]:
    """Yield the functions and classes of a file in source order.

    Each comes with its qualified name, its occurrence among definitions of the same kind and name (from 1), and the
    definitions around it, outermost first.
    """
    counts: dict[tuple[bool, str], int] = {}
    pending: list[tuple[ast.AST, str, tuple[Definition, ...]]] = [(tree, "", ())]
    while pending:
        node, prefix, around = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            is_class, name = isinstance(node, ast.ClassDef), prefix + node.name
            counts[is_class, name] = counts.get((is_class, name), 0) + 1
            yield node, name, counts[is_class, name], around
            prefix, around = name + ("." if is_class else ".<locals>."), (*around, node)
        children = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)]
        pending += [(child, prefix, around) for child in reversed(children)]


def first_line(node: Definition) -> int:
    """Return the line on which a definition begins, including its decorators."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def header(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return the parts that are evaluated at definition time; they must not change, because they are not run again."""
    parts = [function.args, *function.decorator_list] + ([function.returns] if function.returns else [])
    documented = bool(function.body) and ast.get_docstring(function, clean=False)
    return "|".join([type(function).__name__, function.name, *(ast.dump(part) for part in parts), repr(documented)])


def snippet(pristine: bytes, content: bytes, unit: dict[str, Any]) -> bytes:
    """Return the unit's new lines; raises :class:`NotEquivalent` if anything else in the file changed."""
    lines = pristine.splitlines(keepends=True)
    prefix, suffix = b"".join(lines[: unit["first"] - 1]), b"".join(lines[unit["last"] :])
    if len(content) < len(prefix) + len(suffix) or not content.startswith(prefix) or not content.endswith(suffix):
        raise NotEquivalent("more than one function changed")
    return content[len(prefix) : len(content) - len(suffix)]


def compile_unit(text: bytes, unit: dict[str, Any], filename: str, flags: int) -> types.CodeType:
    """Return the unit's new code object with line numbers as in the file."""
    source = text.decode("utf-8")
    classes = unit["classes"]
    wrappers = [f"{' ' * depth}class {name}:\n" for depth, name in enumerate(classes)]
    if not wrappers and source[:1] in " \t":
        wrappers = ["if 1:\n"]
    padding = unit["first"] - 1 - len(wrappers)
    if padding < 0:
        raise NotEquivalent("its lines cannot be placed")
    try:
        tree = ast.parse("\n" * padding + "".join(wrappers) + source, filename)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotEquivalent("it does not parse by itself") from None
    body = tree.body
    for _ in wrappers:
        if len(body) != 1:
            raise NotEquivalent("it leaves the function")
        body = body[0].body
    if len(body) != 1 or not isinstance(body[0], (ast.FunctionDef, ast.AsyncFunctionDef)):
        raise NotEquivalent("it leaves the function")
    if header(body[0]) != unit["header"]:
        raise NotEquivalent("its header or docstring changed")
    try:
        code = compile(tree, filename, "exec", flags & _FUTURE, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotEquivalent("it does not compile by itself") from None
    for name in (*classes, body[0].name):
        code = next(const for const in code.co_consts if isinstance(const, types.CodeType) and const.co_name == name)
    named: types.CodeType = code.replace(co_qualname=unit["name"])
    return named


class Index:
    """The live functions of the tree, collected before ``gc.freeze`` hides them."""

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
        """Swap the unit's code in every function object that has it; raises :class:`NotEquivalent`."""
        filename = os.path.join(self.root, path)
        functions = self._functions.get((filename, unit["name"], unit["first"]), [])
        if not functions:
            raise NotEquivalent("no live function has its code")
        if (filename, unit["name"]) in self._closures:
            raise NotEquivalent("functions inside it were made at import")
        old = functions[0].__code__
        new = compile_unit(text, unit, filename, old.co_flags)
        if not new.co_freevars:
            # Code without free variables never reads its function's closure.
            new = new.replace(co_freevars=old.co_freevars)
        if new.co_freevars != old.co_freevars:
            raise NotEquivalent("its free variables changed")
        if (new.co_flags ^ old.co_flags) & _KIND:
            raise NotEquivalent("it became another kind of function")
        for function in functions:
            function.__code__ = new
        linecache.clearcache()


#: Reason for testing a body cold. An imported repository leaves pieces of its bytecode in freed memory, which a fork
#: inherits. Code that may read its own process therefore runs in an interpreter that never imported the original. The
#: rule is static; a false alarm only costs time.
INTROSPECTS = "it inspects its own process"

_WORDS = re.compile(
    rb"\b(?:_?ctypes|cffi|gc|mmap|marshal|tracemalloc|currentframe|_getframe|_current_frames|settrace|setprofile|f_back|"
    rb"f_globals|f_locals|gi_frame|cr_frame|ag_frame|tb_frame|__traceback__|__subclasses__|co_code|co_consts|import_module|__builtins__)\b"
    rb"|/proc\b|\bsys\.modules\b|(?<![.\w])(?:exec|eval|compile|__import__|globals|vars)\s*\("
)

#: A name of a file can be put together from pieces that no rule recognises.
_OPENS = re.compile(rb"\b(?:open|fdopen|FileIO|read_bytes|read_text|preadv?)\b")


def uses_introspection(text: bytes, original: bytes) -> bool:
    """Return whether a function's text may inspect its own memory or frames and the original text does not."""
    return _WORDS.search(text) is not None or (_OPENS.search(text) is not None and _OPENS.search(original) is None)
