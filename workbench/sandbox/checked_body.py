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

from workbench.sandbox.plain_context import Function


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
    word = "_" + "".join(secrets.choice(string.ascii_lowercase) for _ in range(12))
    _Checking(checks, word).visit(node)
    imported = ast.ImportFrom("workbench_runner.reaching", [ast.alias("Reach", word)], 0)
    body: list[ast.stmt] = [imported, *node.body[documented:]]
    new = ast.unparse(ast.fix_missing_locations(ast.Module(body, [])))
    return "".join(kept) + textwrap.indent(new, lines[node.body[0].lineno - 1 + offset][:column]) + "\n"


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
