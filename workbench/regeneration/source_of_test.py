"""The source of a failing test: its lines, the one that raised, and the message."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.base.python_syntax import UNREADABLE, parse

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import TaskRow

_FRAME = re.compile(r'^\s*File "([^"\n]+)", line (\d+)', re.MULTILINE)
_LONGEST = 400  # lines of a test


@dataclass(frozen=True, slots=True)
class SourceOfTest:
    """Lines of a test file."""

    path: str
    first: int  # line number, from 1
    lines: tuple[str, ...]  # of the test, with its decorators
    asserting: int  # the line in which it ended, 0: unknown
    said: tuple[str, ...]  # there: the exception, and the values in it


def asserting_line(traceback: str, path: str) -> int:
    """Return the last line of a file that a native traceback names, 0 if it names none."""
    lines = [int(line) for name, line in _FRAME.findall(traceback) if name == path]
    return lines[-1] if lines else 0


def said(traceback: str) -> tuple[str, ...]:
    """Return what follows the last frame of a native traceback: the exception, and values that pytest explains."""
    lines = traceback.rstrip("\n").split("\n")
    last = max((at for at, line in enumerate(lines) if _FRAME.match(line)), default=-1)
    below = lines[last + 1 :]
    # The source of the frame is indented by four; pytest indents its explanations by less.
    while below and below[0].startswith("    "):
        below = below[1:]
    return tuple(line for line in below if line.strip())


def source_of_test(text: str, test_id: str, traceback: str = "") -> SourceOfTest | None:
    """Return the source of a test (a pytest node id) by the text of its file, None if the file has no such function."""
    path, _, rest = test_id.partition("::")
    names = rest.partition("[")[0].split("::")
    try:
        node: ast.AST | None = parse(text)
    except UNREADABLE:
        return None
    for name in names:
        node = _inside(node, name)
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    last = min(node.end_lineno or node.lineno, first + _LONGEST - 1)
    lines = tuple(text.split("\n")[first - 1 : last])
    return SourceOfTest(path, first, lines, asserting_line(traceback, path), said(traceback))


def _inside(node: ast.AST | None, name: str) -> ast.AST | None:
    """Return the definition of a name in the body of a module or class, also under conditions; the last one counts."""
    if node is None:
        return None
    found = None
    waiting = [*ast.iter_child_nodes(node)]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found = one if one.name == name else found
        elif isinstance(one, (ast.If, ast.Try, ast.With)):
            waiting += ast.iter_child_nodes(one)
    return found


def text_of_test_file(reader: SessionReader, task: TaskRow, test_id: str) -> str:
    """Return the text of the file that a test of a task is in, "" if unknown.

    Sessions of older versions lack it; then it comes from the repository in the cache, if that is there.
    """
    path = test_id.partition("::")[0]
    if task.test_files_blob is not None:
        of = f"the index of test files of task {task.id}"
        digest = reader.decoded(reader.kept(task.test_files_blob, of), dict, of).get(path)
        if isinstance(digest, str):
            return reader.kept(digest, f"the test file {path}") or ""
    from workbench.repository.fetching import text_in_cache

    return text_in_cache(task.snapshot, path)
