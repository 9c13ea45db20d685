"""What a step needs that a check does not have; only steps that need nothing are run.

A program runs when it is the project's own, Python, or a tool that only reads and writes files. Others may need a network,
an account, a screen or a person.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Set

from workbench.base import python_syntax
from workbench.claims import known
from workbench.claims.python import python_of
from workbench.claims.shell import is_install, simple_commands

_MORE_TOOLS = ". basename declare dirname egrep file local readlink realpath stat tree"
_HARMLESS = known.FILE_TOOLS | frozenset(_MORE_TOOLS.split())
_PYTHON = re.compile(r"(?:python|python3|python3\.\d+|py)$")
_SETUP = re.compile(
    r"^(?:(?:python[\d.]*|py)\s+-m\s+(?:venv|virtualenv)\b|virtualenv\b|uv\s+venv\b|(?:source|\.)\s+\S*activate\b|deactivate\b|git\s+clone\b)"
)
_HOLE = re.compile(
    r"<[A-Za-z][^<>]*>|\[(?:[A-Z]|--?[a-z]|options?\b|args\b|command\b)[^\]]*\]|\.\.\.|…|(?<!\$)\{\{?[a-zA-Z_ ]+\}?\}|\b(?:YOUR|MY)[_-]|"
    r"\b[yY]our[_-]\w+|/?path/to/|\bxxx+\b"
)
_CAPITALS = re.compile(r"[A-Z][A-Z0-9_]*(?:\.\.\.)?")


def setup_reason(command: str) -> str:
    """Why a command that sets up a working place is not run; "" for others."""
    return "the check has its own environment and copy of the repository" if _SETUP.match(command.strip()) else ""


def placeholder(command: str) -> str:
    """The placeholder in a command; "" if none."""
    if found := _HOLE.search(command):
        return found[0]
    for words in simple_commands(command) or ():
        for word in words[1:]:
            if _CAPITALS.fullmatch(word):
                return word
            if re.search(r"\bexample\.(?:com|org|net)\b", word):
                return word
    return ""


def why_not_shell(
    command: str, own_commands: Set[str], own_names: Set[str], in_environment: Set[str] = frozenset()
) -> str:
    """Why a command is not run; "" where it can be.

    ``own_names`` are the project's modules and its normalised distribution name, for ``python -m``; ``in_environment`` are
    other commands that the page has installed.
    """
    if re.search(r"\bHEAD\b|\borigin/", command):
        return "it needs the history of a repository, of which a check has one state"
    if hole := placeholder(command):
        return f"{hole} stands for something of the reader's"
    parts = simple_commands(command)
    if parts is None:
        return "it is no complete command"
    for words in parts:
        if why := _why_not_words(words, own_commands, own_names, in_environment):
            return why
    return ""


def _why_not_words(words: list[str], own_commands: Set[str], own_names: Set[str], in_environment: Set[str]) -> str:
    program = words[0]
    if program in ("time", "env", "timeout") and len(words) > 1:
        rest = [word for word in words[1:] if "=" not in word and not word[:1].isdigit()]
        return _why_not_words(rest, own_commands, own_names, in_environment) if rest else ""
    if program == "sudo":
        return "it needs root"
    if (
        program in own_commands
        or program in in_environment
        or program in _HARMLESS
        or re.fullmatch(r"for|do|done|if|then|else|fi|while|in|\[|\]|\[\[|\{|\}", program)
    ):
        return ""
    if _PYTHON.fullmatch(program):
        if len(words) == 1 or words[1] == "-i":
            return "it waits for input"
        if words[1] == "-m" and len(words) > 2:
            module = words[2].split(".")[0]
            if module in own_names or module in ("json", "this", "timeit", "calendar", "base64"):
                return ""
            return f"{words[2]} is not the project's"
        return ""
    if is_install(" ".join(words)):
        return ""
    return f"{program} is not the project's, and may need what a check does not have"


_ASKS = {"input", "getpass", "breakpoint"}


def why_not_python(code: str) -> str:
    tree = python_of(code)
    if tree is None:
        return "it is no complete Python"
    if hole := _left_out(tree):
        return hole
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ASKS:
            return "it waits for input"
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 200:
            text = node.value
            if _HOLE.search(text) and known.is_placeholder(text) and not re.search(r"\{\w+\}|\[[A-Z]", text):
                return f"{text[:40]!r} stands for something of the reader's"
    return ""


def _left_out(tree: ast.Module) -> str:
    """Reason where an ellipsis leaves code out, outside of stubs and slices; "" otherwise."""
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            if not (isinstance(child, ast.Constant) and child.value is Ellipsis):
                continue
            if isinstance(
                node, ast.Call | ast.keyword | ast.Assign | ast.List | ast.Dict | ast.Return | ast.Starred | ast.Set
            ):
                return "it leaves something out (…)"
    for statement in tree.body:
        if (
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Constant)
            and statement.value.value is Ellipsis
        ):
            return "it leaves something out (…)"
    return ""


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
    """Line (from 1) and description of a slip in a snippet; None where it parses or may be meant as it stands."""
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
    """Whether the definition at a line has no body but a docstring, as tools print signatures."""
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
        python_syntax.parse(code)
    except python_syntax.UNREADABLE as error:
        return error if isinstance(error, SyntaxError) else None
    return None


def _with(lines: list[str], number: int, line: str) -> str:
    return "\n".join([*lines[: number - 1], line, *lines[number:]])
