"""Find tests in files that pytest does not collect: ``tests.py``, ``testparser.py``, a TestCase in ``checks/all.py``."""

from __future__ import annotations

import ast
import re
from pathlib import Path, PurePosixPath

from workbench import python_syntax
from workbench.sandbox.worker import is_left_out

_EXPECTED = re.compile(r"test_.*\.py|.*_test\.py")
_TEST_LIKE = re.compile(r"tests?(?:[A-Z_].*|\d*|\w+)?\.py|.*Tests?\.py")


def odd_test_files(root: Path) -> tuple[str, ...]:
    """Return the files below ``root`` that contain tests but that pytest does not collect unless they are named.

    Files whose name starts like that of a test file take precedence: only if none of them contains a test, every file
    with a ``unittest.TestCase`` is returned.
    """
    likely, others = [], []
    for path in sorted(root.rglob("*.py")):
        relative = PurePosixPath(path.relative_to(root).as_posix())
        if is_left_out(relative) or _EXPECTED.fullmatch(relative.name) or not path.is_file():
            continue
        try:
            module = python_syntax.parse(path.read_bytes())
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
    if not isinstance(node, ast.ClassDef) or not any(_is_test(inner) for inner in node.body):
        return False
    names = [base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases]
    return any(name.endswith("TestCase") for name in names)
