"""Which functions become tasks: those that a stub cannot pass for, or those that the paper's published counts are made of.

``published`` is the rule that reproduces the paper's Table 2: functions with at least one test that passes with the original
and reaches them, files below a folder ``tests/`` left out, no docstring needed, and no stub filter, although the text
describes one. Test functions are among them where the tests lie elsewhere. The collector that the numbers were made with
misses functions within ``if``, ``for``, ``try`` or ``with``, asynchronous ones, and those that only parametrised tests reach.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import PurePosixPath

from workbench import python_syntax
from workbench.errors import UsageError
from workbench.repository.functions import Function

SELECTIONS = ("filtered", "published")


def parse_selection(text: str) -> str:
    """Return the selection that a text names, ``filtered`` for none.

    Raises:
        UsageError: It names no selection.
    """
    selection = text.strip() or SELECTIONS[0]
    if selection not in SELECTIONS:
        raise UsageError(f"There is no selection {text!r}; choose {' or '.join(SELECTIONS)}.")
    return selection


def is_published_file(path: PurePosixPath) -> bool:
    """Return whether the functions of a file count: it lies below no folder called ``tests``."""
    return "tests" not in path.parts[:-1]


def missed_lines(source: bytes) -> frozenset[int]:
    """Return the lines of ``def`` of functions within a compound statement; all of a file that does not parse is kept."""
    try:
        tree = python_syntax.parse(source)
    except python_syntax.UNREADABLE:
        return frozenset()
    found: set[int] = set()
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, within = waiting.pop()
        for child in ast.iter_child_nodes(node):
            is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            if within and isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                found.add(child.lineno)
            compound = isinstance(
                child, ast.If | ast.For | ast.While | ast.Try | ast.With | ast.AsyncFor | ast.AsyncWith
            )
            # Within a definition the count begins anew.
            inner = compound or (within and not is_function and not isinstance(child, ast.ClassDef))
            waiting.append((child, inner))
    return frozenset(found)


def why_not_published(function: Function, tests: Sequence[str], missed: frozenset[int]) -> str:
    """Return why the published counts lack a function that tests reach, "" if they have it."""
    if function.is_async:
        return "It is asynchronous, which the published counts leave out."
    if function.start_line in missed:
        return "It is defined within a compound statement, which the published counts leave out."
    if all("[" in test for test in tests):
        return "Only parametrised tests reach it, which the published counts leave out."
    return ""
