"""Which functions become tasks: those whose tests fail with a stub, or those of the paper's published counts.

``published`` reproduces the paper's Table 2: functions with at least one test that passes with the original and reaches
them, files below a folder ``tests/`` left out, no docstring needed, and no stub filter, although the text describes
one. Test functions elsewhere are among them. The paper's collector misses functions within ``if``, ``for``, ``try`` or
``with``, asynchronous ones, and those that only parametrised tests reach.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import PurePosixPath

from workbench.base import python_syntax
from workbench.base.errors import UsageError
from workbench.repository.functions import Function

SELECTIONS = ("filtered", "published")


def parse_selection(text: str) -> str:
    """Return the selection with this name, ``filtered`` for "". UsageError: there is none."""
    selection = text.strip() or SELECTIONS[0]
    if selection not in SELECTIONS:
        raise UsageError(f"There is no selection {text!r}; choose {' or '.join(SELECTIONS)}.")
    return selection


def is_published_file(path: PurePosixPath) -> bool:
    """Return whether a file lies below no folder called ``tests``."""
    return "tests" not in path.parts[:-1]


def missed_lines(source: bytes) -> frozenset[int]:
    """Return the lines of ``def`` of functions within a compound statement; none of a file that does not parse."""
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
