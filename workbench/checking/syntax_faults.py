"""Whether a snippet that is no Python is a fault of the page, or one that only shows something.

Most of what does not parse is meant so: signatures, ellipses, pseudo-code. Four kinds are slips that a reader meets at once, and none of
them is found in code that is only shown: a bracket too many or a colon too few, without which all of it is Python; an import of the
project's that is none; and Python 2 in a project that needs Python 3.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Set

from workbench import python_syntax
from workbench.checking.kinds import python_of

_OF_PYTHON_2 = re.compile(
    r"Missing parentheses in call to '(?:print|exec)'|multiple exception types must be parenthesized"
)
_NAMES = r"[A-Za-z_]\w*(?:\s+as\s+\w+)?(?:\s*,\s*[A-Za-z_]\w*(?:\s+as\s+\w+)?)*"
#: An import without the word, or with a comma after it; nothing else, as other languages (``cimport``) have imports as well.
_IMPORT = re.compile(
    rf"\s*(?:>>> )?from\s+([A-Za-z_]\w*)(?:\.\w+)*\s+(?:(?!import\b){_NAMES}|import\s*,\s*{_NAMES})\s*(?:#.*)?"
)
_PAGE_OF_PYTHON_2 = re.compile(r"\bpython[ -]?2", re.I)


def syntax_fault(
    code: str, modules: Set[str], oldest: tuple[int, ...] | None, said: str = ""
) -> tuple[int, str] | None:
    """Return the line of a slip in a snippet, from 1, and what it is; None where it parses, or may be meant as it stands.

    Args:
        code: The snippet.
        modules: The project's top-level modules.
        oldest: The oldest Python that the project takes, None where it does not say.
        said: What the page says around it, which may be that it is Python 2.
    """
    code = textwrap.dedent(code)
    error = _error_of(code)
    if error is None:
        return None
    lines, message = code.split("\n"), str(error.msg)
    number = min(max(error.lineno or 1, 1), len(lines))
    line = lines[number - 1]
    if _OF_PYTHON_2.search(message):
        known = oldest is not None and oldest >= (3,) and not _PAGE_OF_PYTHON_2.search(said)
        wanted = ".".join(map(str, oldest or ()))
        return (
            (number, f"it is Python 2, and the project needs Python {wanted}: {message.partition('.')[0]}")
            if known
            else None
        )
    if (found := _IMPORT.fullmatch(line)) and found[1] in modules:
        return number, f"it is no import: {line.strip()}"
    column = (error.offset or 1) - 1
    if (
        message.startswith("unmatched")
        and python_of(_with(lines, number, line[:column] + line[column + 1 :])) is not None
    ):
        return number, message
    mended = (python_of(_with(lines, number, line[:at] + ":" + line[at:])) for at in (column, len(line.rstrip())))
    if message == "expected ':'" and any(tree is not None and not _shows_a_signature(tree, number) for tree in mended):
        return number, f"a colon is missing: {line.strip()}"
    return None


def _shows_a_signature(tree: ast.Module, number: int) -> bool:
    """Tell whether what begins at a line has no body but a docstring: tools write signatures so, with what they are for below."""
    return any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and node.lineno <= number <= node.body[0].lineno
        and all(
            isinstance(one, ast.Pass) or (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
            for one in node.body
        )
        for node in ast.walk(tree)
    )


def _error_of(code: str) -> SyntaxError | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            python_syntax.parse(code)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def _with(lines: list[str], number: int, line: str) -> str:
    return "\n".join([*lines[: number - 1], line, *lines[number:]])
