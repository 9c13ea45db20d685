"""Decide whether a body is *plain*: restricted to a safe subset of Python that cannot reach the code reporting on it.

A candidate and its reporter share a process, so a body could forge its report. Forbidding names would not help, because
names can be computed. This package therefore uses an allowlist (:mod:`workbench.sandbox.safety.allowed`). It checks the
syntax tree of the changed function in the context of its file, and the first construct not on the list is the reason
why the body is not plain. Where a name is computed or a value unknown, static analysis cannot decide. Such a body
counts as plain if it passes with run-time checks in these places.

Any other passing body is run twice more under conditions where it must fail. In the first run, the body does its work,
but its result is discarded: it then raises an exception that no test expects. The second is a cold run with an
additional required test that cannot pass. A forged report claims success in both. No check inside the process is proof,
because a candidate can find the nonce, write a whole report and exit, and a body might recognise these runs. A pass of
a body that is not plain is therefore marked as doubtful.

The file itself is trusted as far as a body cannot alter it. This covers its functions, classes, values and attributes,
and its uses of other packages, but not its functions that run text. Functions that access an attribute by a name passed
as an argument run with checks. For the project's other files, only the names of attributes are known.
"""

from __future__ import annotations

import ast
import itertools
import os
import secrets
import string
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from workbench.base import python_syntax
from workbench.sandbox.safety.allowed import (
    FORMATS,
    FUNCTIONS,
    FileContext,
    Function,
    FunctionPlace,
    named_at,
    read_context,
)
from workbench.sandbox.safety.body_visitor import BodyVisitor
from workbench.sandbox.safety.name_visitor import UnsafeConstruct
from workbench.sandbox.types import Report
from workbench.sandbox.workbench_runner.patching import definitions, first_line


def checked_body(text: str, node: Function, checks: Mapping[ast.AST, str]) -> str:
    """Return a function's text with run-time checks.

    ``checks`` maps nodes of its tree (modified) to ``Reach`` methods.
    """
    lines = text.splitlines(keepends=True)
    offset = len(lines) - (node.end_lineno or 0)
    documented = ast.get_docstring(node, clean=False) is not None
    first = node.body[0].end_lineno if documented else node.body[0].lineno - 1
    kept, column = lines[: (first or 0) + offset], node.body[0].col_offset
    word = f"_{_word(12)}"
    _Checking(checks, word).visit(node)
    body = [_imported(word), *node.body[documented:]]
    new = ast.unparse(ast.fix_missing_locations(ast.Module(body, [])))
    return "".join(kept) + textwrap.indent(new, lines[node.body[0].lineno - 1 + offset][:column]) + "\n"


def checked_file(content: bytes) -> bytes:
    """Return a file with functions that check each attribute they access by a computed name."""
    tree = python_syntax.parse(content)
    checks: dict[ast.AST, str] = {}
    functions = (one for one in ast.walk(tree) if isinstance(one, FUNCTIONS))
    for node in (one for function in functions for one in ast.walk(function) if isinstance(one, ast.Call)):
        called = node.func
        if isinstance(called, ast.Name) and called.id in _BY_NAME and not named_at(node):
            checks[called] = _BY_NAME[called.id]
        elif (
            isinstance(called, ast.Attribute) and called.attr in FORMATS and not isinstance(called.value, ast.Constant)
        ):
            checks[called.value] = "template"
    word = f"_{_word(12)}"
    _Checking(checks, word).visit(tree)
    # Insert it after the docstring and ``__future__`` imports.
    early = itertools.takewhile(
        lambda one: isinstance(one, ast.Expr) or getattr(one, "module", "") == "__future__", tree.body
    )
    tree.body.insert(len(list(early)), _imported(word))
    return ast.unparse(ast.fix_missing_locations(tree)).encode()


def _word(length: int = 8) -> str:
    return "".join(secrets.choice(string.ascii_lowercase) for _ in range(length))


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
            return reach  # the method itself, without a call
        if isinstance(node, ast.Attribute) and check in ("target", "get", "namespace"):
            name = [] if check == "namespace" else [ast.Constant(node.attr)]
            call = ast.Call(reach, [node.value, *name], [])
            if check != "target":
                return call
            node.value = call
            return node
        return ast.Call(reach, [node], [])


@dataclass(frozen=True, slots=True)
class SafetyResult:
    """The result of checking whether a body is plain.

    Attributes:
        plain: Whether static analysis shows that the body is plain.
        reason: The first construct outside the safe subset if it is not plain.
        checked: A function that returns the file with run-time checks, or None if run-time checks cannot decide either.
        opens: Whether the body opens files. The opened files are observed, except in processes that the tests start.
    """

    plain: bool
    reason: str = ""
    checked: Callable[[], bytes] | None = None
    opens: bool = False


#: Maximum total bytes of Python to collect names from, which takes about a second per megabyte, once for each tree.
LARGEST = 2_000_000
_LEFT_OUT = frozenset({"tests", "test", "testing", "docs", "examples", "build", "dist"})


@dataclass(slots=True)
class ProjectNames:
    """The attributes in a project's own files: used ones, set or defined ones, and those with a leading underscore.

    A body may use attributes of another module's objects even if they do not appear in its own file. Functions that run
    text, and names that lead to frames or modules, are excluded.
    """

    attributes: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    private: set[str] = field(default_factory=set)


@lru_cache(maxsize=8)
def project_names(root: Path) -> ProjectNames:
    """Return the names in a pristine tree's Python files, excluding tests, from at most `LARGEST` bytes in total."""
    names, gadgets, left = ProjectNames(), set[str](), LARGEST
    for path in _sources(root):
        try:
            content = path.read_bytes()
        except OSError:
            continue
        if len(content) > left:
            continue
        left -= len(content)
        context = read_context(content)
        if context is not None:
            names.attributes |= context.attributes
            names.stored |= context.stored
            names.private |= {name for name in context.private if not name.startswith("__")}
            gadgets |= context.gadgets
    for kind in (names.attributes, names.stored, names.private):
        kind -= gadgets
    return names


def _sources(root: Path) -> Iterator[Path]:
    """Yield the files in sorted order, so that the same tree always yields the same names."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(one for one in folders if one not in _LEFT_OUT and not one.startswith("."))
        for name in sorted(files):
            if name.endswith(".py") and not name.startswith(("test_", "conftest", "setup")):
                yield Path(folder, name)


class SafetyCheck:
    """Checks the bodies in one file; ``project`` is called only if the file's own names do not suffice."""

    def __init__(self, pristine: bytes, project: Callable[[], ProjectNames] = ProjectNames) -> None:
        self._context = read_context(pristine)
        self._project: Callable[[], ProjectNames] | None = project
        self._values: dict[str, str] = {}

    def judge(self, content: bytes, function: tuple[str, int]) -> SafetyResult:
        """Return whether the body of a function (qualified name, occurrence) in the changed file is plain."""
        context = self._context
        place = context.places.get(function) if context is not None else None
        if context is None or place is None:
            return SafetyResult(False, "the function is not found in its file")
        try:
            before, text, after = _split(context, place, content)
            node = _changed(place, text)
            reading = BodyVisitor(context, place, node, self._values)
            try:
                reading.read()
            except UnsafeConstruct:
                if not self._learn(context):
                    raise
                again = True
            else:
                again = bool(reading.doubt) and self._learn(context)
            # Additional names never make a body less safe, so the order in which bodies are checked does not matter.
            if again:
                reading = BodyVisitor(context, place, node, self._values)
                reading.read()
        except UnsafeConstruct as found:
            return SafetyResult(False, str(found))
        except RecursionError:
            return SafetyResult(False, "it is nested too deeply to be read")
        if not reading.checks and not reading.whole:
            return SafetyResult(True, opens=reading.opens)

        def checked() -> bytes:
            changed = before + checked_body(text, node, reading.checks).encode(context.encoding) + after
            return checked_file(changed) if reading.whole else changed

        return SafetyResult(False, reading.doubt, checked, reading.opens)

    def _learn(self, context: FileContext) -> bool:
        if self._project is None:
            return False
        names, self._project = self._project(), None
        known = [(getattr(context, kind), getattr(names, kind)) for kind in ("attributes", "stored", "private")]
        if all(theirs <= own for own, theirs in known):
            return False
        # The file's own functions with dynamic access remain in `gadgets`, which takes precedence.
        for own, theirs in known:
            own.update(theirs)
        self._values.clear()
        return True


def _split(context: FileContext, place: FunctionPlace, content: bytes) -> tuple[bytes, str, bytes]:
    """Return the text before, of and after the changed function. Raises UnsafeConstruct if other text was changed."""
    before, after = b"".join(context.lines[: place.first - 1]), b"".join(context.lines[place.last :])
    if len(content) < len(before) + len(after) or not (content.startswith(before) and content.endswith(after)):
        raise UnsafeConstruct("more than its body was changed")
    try:
        return before, content[len(before) : len(content) - len(after)].decode(context.encoding), after
    except UnicodeDecodeError:
        raise UnsafeConstruct("it cannot be parsed by itself") from None


def _changed(place: FunctionPlace, text: str) -> Function:
    try:
        wrapped = text[:1] in (" ", "\t", "\f")
        body = python_syntax.parse("if 1:\n" + text if wrapped else text).body
        if wrapped and len(body) == 1 and isinstance(body[0], ast.If):
            body = body[0].body
    except python_syntax.UNREADABLE:
        raise UnsafeConstruct("it cannot be parsed by itself") from None
    if len(body) != 1 or type(body[0]) is not type(place.node):
        raise UnsafeConstruct("it is more than one function")
    node = body[0]
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    if _header(node) != _header(place.node):
        raise UnsafeConstruct("its header was changed")
    return node


def _header(node: Function) -> tuple[str, ...]:
    parts = [node.args, *node.decorator_list, *([node.returns] if node.returns else [])]
    return (node.name, *map(ast.dump, parts))


class Decoy(NamedTuple):
    """A test that always fails: node id, file, and content of the file."""

    test: str
    path: str
    content: bytes


def make_decoy(tests: Sequence[str]) -> Decoy:
    """Return a decoy with random names and numbers, located in the folder of the first test."""
    folder = PurePosixPath(tests[0].partition("::")[0]).parent if tests else PurePosixPath()
    name, first, second = f"test_{_word()}", secrets.randbelow(900) + 100, secrets.randbelow(900) + 100
    wrong = first * second + secrets.choice((-2, -1, 1, 2))
    path = str(folder / f"test_{_word()}.py")
    body = f"def {name}():\n    first, second = {first}, {second}\n    assert first * second == {wrong}\n"
    return Decoy(f"{path}::{name}", path, body.encode())


def is_fooled(report: Report, decoy: Decoy) -> bool:
    """Return whether a report claims success although the decoy must have failed."""
    outcomes = {test.id: test.outcome for test in report.tests}
    return outcomes.get(decoy.test) == "passed" or (
        outcomes.get(decoy.test) not in ("failed", "error") and passed_beside(report, decoy)
    )


def passed_beside(report: Report, decoy: Decoy) -> bool:
    outcomes = [test.outcome for test in report.tests if test.id != decoy.test]
    return bool(outcomes) and all(outcome == "passed" for outcome in outcomes)


def discarded(content: bytes, function: tuple[str, int]) -> bytes | None:
    """Return the file with a function that raises after doing its work, or None if the function is not found."""
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


def _find(content: bytes, function: tuple[str, int]) -> tuple[Function, int, int] | None:
    """Return the function's node, its first line (including decorators) and its last line."""
    try:
        tree = python_syntax.parse(content)
    except python_syntax.UNREADABLE:
        return None
    for node, name, occurrence, _ in definitions(tree):
        if (name, occurrence) == function and not isinstance(node, ast.ClassDef):
            return node, first_line(node), node.end_lineno or node.lineno
    return None
