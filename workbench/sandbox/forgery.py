"""Did a candidate pass, or did it only report so? Its tests are run again in ways in which they must not pass.

Candidate and reporter share a process, so a candidate can find the nonce, write a whole report and end the process; no
trick inside that process is a proof. Plain bodies cannot reach the reporter (:mod:`workbench.sandbox.plain`). Any other
body that passes is run twice more:

- with its result discarded: it does its work and then, instead of returning, raises what no test expects;
- cold, in a fresh interpreter, with one more required test that nobody can pass.

A body that does its work fails in both; one that forges its report still "passes" and is found out. What a body might
still recognise is not ruled out, so its pass is marked as doubtful in any case.
"""

from __future__ import annotations

import ast
import secrets
import string
import textwrap
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from workbench.base import python_syntax
from workbench.sandbox.types import Report


class Decoy(NamedTuple):
    """A test that fails whatever is tested: its node id, its file and the file's content."""

    test: str
    path: str
    content: bytes


def make_decoy(tests: Sequence[str]) -> Decoy:
    """Return a decoy beside the first of some tests; its names and numbers are new each time."""
    folder = PurePosixPath(tests[0].partition("::")[0]).parent if tests else PurePosixPath()
    name, first, second = f"test_{_word()}", secrets.randbelow(900) + 100, secrets.randbelow(900) + 100
    wrong = first * second + secrets.choice((-2, -1, 1, 2))
    path = str(folder / f"test_{_word()}.py")
    body = f"def {name}():\n    first, second = {first}, {second}\n    assert first * second == {wrong}\n"
    return Decoy(f"{path}::{name}", path, body.encode())


def is_fooled(report: Report, decoy: Decoy) -> bool:
    """Return whether a report claims success where the decoy must have failed."""
    outcomes = {test.id: test.outcome for test in report.tests}
    return outcomes.get(decoy.test) == "passed" or (
        outcomes.get(decoy.test) not in ("failed", "error") and passed_beside(report, decoy)
    )


def passed_beside(report: Report, decoy: Decoy) -> bool:
    outcomes = [test.outcome for test in report.tests if test.id != decoy.test]
    return bool(outcomes) and all(outcome == "passed" for outcome in outcomes)


def _word() -> str:
    return "".join(secrets.choice(string.ascii_lowercase) for _ in range(8))


def discarded(content: bytes, function: tuple[str, int]) -> bytes | None:
    """Return the file with a function that does its work and raises; None if the function cannot be found."""
    found = _find(content, function)
    if found is None:
        return None
    node, first, last = found
    documented = ast.get_docstring(node, clean=False) is not None
    kept, work = node.body[:documented], node.body[documented:] or [ast.Pass()]
    raises = python_syntax.parse(f"raise type({_word().title()!r}, (BaseException,), {{}})()").body
    node.body = [*kept, ast.Try(body=work, handlers=[], orelse=[], finalbody=raises)]
    lines = content.splitlines(keepends=True)
    text = textwrap.indent(ast.unparse(ast.fix_missing_locations(node)), " " * node.col_offset) + "\n"
    return b"".join([*lines[: first - 1], text.encode(), *lines[last:]])


def is_same_body(content: bytes, original: bytes, function: tuple[str, int]) -> bool:
    if content == original:
        return True
    mine, own = _find(content, function), _find(original, function)
    if mine is None or own is None or ast.dump(mine[0]) != ast.dump(own[0]):
        return False
    rest, known = (
        [line for number, line in enumerate(text.splitlines(keepends=True), 1) if not first <= number <= last]
        for text, (_, first, last) in ((content, mine), (original, own))
    )
    return rest == known


def _find(content: bytes, function: tuple[str, int]) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, int, int] | None:
    """Return the function's node, its first line (decorators included) and its last."""
    try:
        tree = python_syntax.parse(content)
    except python_syntax.UNREADABLE:
        return None
    wanted, occurrence = function
    count = 0
    pending: list[tuple[ast.AST, str]] = [(tree, "")]
    while pending:  # in the order of the file: what is found first is pushed last
        node, prefix = pending.pop()
        inside = prefix
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if prefix + node.name == wanted:
                count += 1
                if count == occurrence:
                    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                    return node, first, node.end_lineno or node.lineno
            inside = f"{prefix}{node.name}.<locals>."
        elif isinstance(node, ast.ClassDef):
            inside = f"{prefix}{node.name}."
        pending += [(child, inside) for child in reversed(list(ast.iter_child_nodes(node)))]
    return None
