"""Is a body *plain*: does it use only what cannot reach the process that reports on it?

A candidate and its reporter share a process, so a body can forge its report, whatever names it uses. Hence a list of
what is allowed (:mod:`workbench.sandbox.allowed`), not of what is forbidden: the syntax tree of the changed
function is read in the context of its file, and the first thing that is in no list is the reason why the body is not
plain. Where a name is computed or a value unknown, the text cannot tell, and the body is plain if it passes with checks
at those places. Any other body is tested in further ways and marked, see :mod:`workbench.sandbox.forgery`.

The file itself is trusted as far as a body cannot bend it: its functions, classes, values and attributes; of its
imports from other packages what it uses itself; not its functions that run a text. Those that reach an attribute by a
name that they are given are run with checks. Of the project's other files the names of attributes are known.
"""

from __future__ import annotations

import ast
import secrets
import string
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from workbench.base import python_syntax
from workbench.sandbox.plain_context import FileContext, Function, Place, ProjectNames, named_at, read_context
from workbench.sandbox.plain_names import Found
from workbench.sandbox.plain_reading import Reading


def checked_body(text: str, node: Function, checks: Mapping[ast.AST, str]) -> str:
    """Return a function's text with ``checks``: places in its tree (which is changed), and methods of ``Reach``."""
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


@dataclass(frozen=True, slots=True)
class Plainness:
    """Whether a body is plain.

    Attributes:
        plain: Whether its text shows that.
        reason: Otherwise the first thing that it uses and that is in no list.
        checked: Returns its file with checks, by which a run can show it; None if no run can.
        opens: Whether it opens files: which ones is seen, but not in processes that its tests start.
    """

    plain: bool
    reason: str = ""
    checked: Callable[[], bytes] | None = None
    opens: bool = False


class PlainnessCheck:
    """Judges the bodies of one file's functions; ``project`` is called only if the file does not suffice."""

    def __init__(self, pristine: bytes, project: Callable[[], ProjectNames] = ProjectNames) -> None:
        self._context = read_context(pristine)
        self._project: Callable[[], ProjectNames] | None = project
        self._values: dict[str, str] = {}

    def judge(self, content: bytes, function: tuple[str, int]) -> Plainness:
        """Return whether the body of a function (qualified name, occurrence) in the changed file is plain."""
        context = self._context
        place = context.places.get(function) if context is not None else None
        if context is None or place is None:
            return Plainness(False, "the function is not found in its file")
        try:
            before, text, after = _split(context, place, content)
            node = _changed(place, text)
            reading = Reading(context, place, node, self._values)
            try:
                reading.read()
            except Found:
                if not self._learn(context):
                    raise
                again = True
            else:
                again = bool(reading.doubt) and self._learn(context)
            if (
                again
            ):  # more names make nothing suspicious that was not, so the order of the bodies judged changes no answer
                reading = Reading(context, place, node, self._values)
                reading.read()
        except Found as found:
            return Plainness(False, str(found))
        except RecursionError:
            return Plainness(False, "it is nested too deeply to be read")
        if not reading.checks and not reading.whole:
            return Plainness(True, opens=reading.opens)

        def checked() -> bytes:
            changed = before + checked_body(text, node, reading.checks).encode(context.encoding) + after
            return checked_file(changed) if reading.whole else changed

        return Plainness(False, reading.doubt, checked, reading.opens)

    def _learn(self, context: FileContext) -> bool:
        if self._project is None:
            return False
        names, self._project = self._project(), None
        if (
            names.attributes <= context.attributes
            and names.stored <= context.stored
            and names.private <= context.private
        ):
            return False
        # What the file's own functions do with a text they are given stays in `gadgets`, which is looked at first.
        context.attributes |= names.attributes
        context.stored |= names.stored
        context.private |= names.private
        self._values.clear()
        return True


def _split(context: FileContext, place: Place, content: bytes) -> tuple[bytes, str, bytes]:
    """Return the text before the changed function, its own and the rest; nothing else may have been changed."""
    before, after = b"".join(context.lines[: place.first - 1]), b"".join(context.lines[place.last :])
    if len(content) < len(before) + len(after) or not (content.startswith(before) and content.endswith(after)):
        raise Found("more than its body was changed")
    try:
        return before, content[len(before) : len(content) - len(after)].decode(context.encoding), after
    except UnicodeDecodeError:
        raise Found("it cannot be read by itself") from None


def _changed(place: Place, text: str) -> Function:
    try:
        wrapped = text[:1] in (" ", "\t", "\f")
        body = python_syntax.parse("if 1:\n" + text if wrapped else text).body
        if wrapped and len(body) == 1 and isinstance(body[0], ast.If):
            body = body[0].body
    except python_syntax.UNREADABLE:
        raise Found("it cannot be read by itself") from None
    if len(body) != 1 or type(body[0]) is not type(place.node):
        raise Found("it is more than one function")
    node = body[0]
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    if _header(node) != _header(place.node):
        raise Found("its header was changed")
    return node


def _header(node: Function) -> tuple[str, ...]:
    parts = [node.args, *node.decorator_list, *([node.returns] if node.returns else [])]
    return (node.name, *map(ast.dump, parts))
