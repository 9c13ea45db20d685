"""A body in which the places that reading could not judge are judged when they are run.

Every such place calls :class:`workbench.sandbox.workbench_runner.reaching.Reach`, which refuses what leads to the process
that reports. Who passes his tests so passes without it, whatever he would do elsewhere.
"""

from __future__ import annotations

import ast
import secrets
import string
import textwrap
from collections.abc import Mapping

from workbench import python_syntax
from workbench.sandbox.plain_context import Function, named_at


def checked_body(text: str, node: Function, checks: Mapping[ast.AST, str]) -> str:
    """Return a function's text with checks; its header and its docstring stay as they are.

    Args:
        text: The function's lines.
        node: Its tree, whose lines are counted from the text's end; it is changed.
        checks: Places in the tree, and the method of ``Reach`` for each.
    """
    lines = text.splitlines(keepends=True)
    offset = len(lines) - (node.end_lineno or 0)
    documented = ast.get_docstring(node, clean=False) is not None
    first = node.body[0].end_lineno if documented else node.body[0].lineno - 1
    kept, column = lines[: (first or 0) + offset], node.body[0].col_offset
    word = _word()
    _Checking(checks, word).visit(node)
    body = [_imported(word), *node.body[documented:]]
    new = ast.unparse(ast.fix_missing_locations(ast.Module(body, [])))
    return "".join(kept) + textwrap.indent(new, lines[node.body[0].lineno - 1 + offset][:column]) + "\n"


def checked_file(content: bytes) -> bytes:
    """Return a file whose functions check each attribute that they reach by a name they are given."""
    tree = python_syntax.parse(content)
    checks: dict[ast.AST, str] = {}
    for function in ast.walk(tree):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        for node in ast.walk(function):
            if not isinstance(node, ast.Call):
                continue
            called = node.func
            if isinstance(called, ast.Name) and called.id in _BY_NAME and not named_at(node):
                checks[called] = _BY_NAME[called.id]
            elif not isinstance(called, ast.Attribute) or isinstance(called.value, ast.Constant):
                continue
            elif called.attr in ("format", "format_map"):
                checks[called.value] = "template"
    word = _word()
    _Checking(checks, word).visit(tree)
    first = next(
        (at for at, node in enumerate(tree.body) if not isinstance(node, ast.Expr) and not _is_future(node)),
        len(tree.body),
    )
    tree.body.insert(first, _imported(word))
    return ast.unparse(ast.fix_missing_locations(tree)).encode()


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _word() -> str:
    return "_" + "".join(secrets.choice(string.ascii_lowercase) for _ in range(12))


def _imported(word: str) -> ast.stmt:
    return ast.ImportFrom("workbench_runner.reaching", [ast.alias("Reach", word)], 0)


_BY_NAME = {"getattr": "get", "setattr": "set", "delattr": "delete"}


class _Checking(ast.NodeTransformer):
    def __init__(self, checks: Mapping[ast.AST, str], word: str) -> None:
        self._checks = checks
        self._word = word

    def visit(self, node: ast.AST) -> ast.AST:
        check = self._checks.get(node)
        self.generic_visit(node)
        if check is None or not isinstance(node, ast.expr):
            return node
        reach = ast.Attribute(ast.Name(self._word, ast.Load()), check, ast.Load())
        if isinstance(node, ast.Name) and check in ("get", "set", "delete", "namespace"):
            return reach  # the function itself
        if isinstance(node, ast.Attribute) and check == "target":
            node.value = ast.Call(reach, [node.value, ast.Constant(node.attr)], [])
            return node
        if isinstance(node, ast.Attribute) and check == "namespace":
            return ast.Call(reach, [node.value], [])
        if isinstance(node, ast.Attribute) and check == "get":
            return ast.Call(reach, [node.value, ast.Constant(node.attr)], [])
        return ast.Call(reach, [node], [])
