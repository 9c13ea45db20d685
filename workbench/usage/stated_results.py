"""The results that the examples of a page state: in sessions, in comments and in assertions."""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Iterable, Iterator

from workbench.claims.python import example_of, literal_of, python_of

#: A comment that states the result of the line before it.
_MARKER = re.compile(r"#\s*(?:[-=]+>|→|>>+|(?:output|result|returns?|prints?|gives)\s*:?(?=\s))\s*(.*)", re.I)
_COMMENT = re.compile(r"#\s?(.*)")

_WRITES = frozenset({"print", "pprint"})


def shown_expressions(statement: ast.stmt) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the expressions whose results a statement shows, and whether they are printed."""
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign) and isinstance(value, ast.expr):
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in _WRITES:
            if len(value.args) == 1 and not value.keywords and not isinstance(value.args[0], ast.Starred):
                yield value.args[0], True
        elif not isinstance(value, ast.Await):
            yield value, False
    elif isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Compare):
        operators = statement.test.ops
        yield from [(statement.test.left, False)] * (len(operators) == 1 and isinstance(operators[0], ast.Eq | ast.Is))


def stated_results(code: str) -> Iterator[tuple[int, str]]:
    """Yield the results that a block states, with the last line (from 1) of the statement."""
    tree = python_of(code)
    if tree is None and re.search(r"^\s*>>> ", code, re.M):
        try:
            examples = doctest.DocTestParser().get_examples(code)
        except ValueError:
            return
        for one in examples:
            want = re.sub(r"^\s*#.*$", "", one.want, flags=re.M).rstrip("\n")
            if want.strip() and one.exc_msg is None:
                yield one.lineno + one.source.rstrip("\n").count("\n") + 1, want
        return
    tree = tree or example_of(code)
    lines = code.splitlines()
    for statement in tree.body if tree else ():
        if isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Compare):
            if (says := literal_of(statement.test.comparators[0])) and len(statement.test.ops) == 1:
                yield statement.end_lineno or statement.lineno, says
            continue
        end = statement.end_lineno or statement.lineno
        rest = lines[end - 1].encode()[statement.end_col_offset or 0 :].decode("utf-8", "replace").strip()
        prints = isinstance(statement, ast.Expr) and any(True for _, printed in shown_expressions(statement) if printed)
        says = _stated(rest, prints) if rest.startswith("#") else _stated_below(lines[end:])
        if says:
            yield end, says


def _stated(comment: str, prints: bool) -> str:
    if match := _MARKER.match(comment):
        return match[1].strip()
    match = _COMMENT.match(comment)
    text = match[1].strip() if match else ""
    tree = python_of(text)
    value = tree.body[0].value if tree and len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) else None
    if value is None:
        return ""
    # A constructor's representation, such as `Counts(lines=1)`
    shown = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id[:1].isupper()
    return text if literal_of(value) or shown or (prints and " " not in text and not text.isalpha()) else ""


def _stated_below(lines: Iterable[str]) -> str:
    found: list[str] = []
    for line in lines:
        if not line.lstrip().startswith("#"):
            break
        if not found and not (match := _MARKER.match(line.strip())):
            break
        found.append(match[1] if not found and match else line.strip().removeprefix("#").removeprefix(" "))
    return "\n".join(found).strip("\n")
