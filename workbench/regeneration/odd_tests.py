"""Tests under names that pytest does not look for: ``tests.py``, ``testparser.py``, a TestCase in ``checks/all.py``."""

from __future__ import annotations

import ast
import re
from pathlib import Path, PurePosixPath

from workbench.sandbox.worker import is_left_out

_EXPECTED = re.compile(r"test_.*\.py|.*_test\.py")
_TEST_LIKE = re.compile(r"tests?(?:[A-Z_].*|\d*|\w+)?\.py|.*Tests?\.py")


def odd_test_files(root: Path) -> tuple[str, ...]:
    """Return the files below ``root`` that hold tests and that pytest does not collect unless they are named.

    Files whose name begins like a test's come first in trust: only when none of them holds a test, every file with a
    ``unittest.TestCase`` counts.
    """
    likely, others = [], []
    for path in sorted(root.rglob("*.py")):
        relative = PurePosixPath(path.relative_to(root).as_posix())
        if is_left_out(relative) or _EXPECTED.fullmatch(relative.name) or not path.is_file():
            continue
        try:
            module = ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        cases = any(_is_test_case(node) for node in module.body)
        named = _TEST_LIKE.fullmatch(relative.name) is not None
        if named and (cases or any(_is_test(node) for node in module.body)):
            likely.append(str(relative))
        elif cases:
            others.append(str(relative))
    return tuple(likely or others)


def _is_test(node: ast.AST) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test")


def _is_test_case(node: ast.AST) -> bool:
    """Whether it is a class with tests in it that derives from something called TestCase."""
    if not isinstance(node, ast.ClassDef) or not any(_is_test(inner) for inner in node.body):
        return False
    names = [base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases]
    return any(name.endswith("TestCase") for name in names)
