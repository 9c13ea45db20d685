"""Did a candidate pass, or did it only say so? A run in which its result is thrown away tells.

Candidate and reporter share a process, so a candidate can find the nonce, write a whole report and end the process; no
trick inside that process is a proof. What can be had from outside: the same body runs once more and then, instead of
returning, raises what no test expects. A body that does its work now fails its tests; one that forges its report still
"passes". Only bodies that name something by which a report can be forged are tried, so others cost nothing.
"""

from __future__ import annotations

import ast
import re
import textwrap

_WORDS = re.compile(
    rb"\b(?:_?ctypes|cffi|gc|mmap|marshal|inspect|currentframe|_getframe|_current_frames|settrace|setprofile|f_back|"
    rb"f_globals|f_locals|tb_frame|__traceback__|__globals__|__builtins__|__subclasses__|__code__|__main__|__loader__|"
    rb"_pytest|pytest|unittest|pluggy|workbench_runner|_exit|atexit|abort|signal|kill|killpg|fork|forkpty|execv\w*|"
    rb"posix_spawn|pidfd_\w+|dup2|closerange|importlib|import_module|__import__|builtins)\b"
    rb"|\bos\.(?:write|open|fdopen|pipe)\b|\bsys\.modules\b|/proc\b|/dev/fd|(?<![.\w])(?:exec|eval|compile|globals|vars)\s*\("
)

#: Raised after the body of a candidate whose result is thrown away.
_RAISE = ast.parse("raise type('ResultThrownAway', (BaseException,), {})()").body


def doubtful(pristine: bytes, content: bytes) -> bool:
    """Return whether the lines that a candidate changed name something by which a report could be forged."""
    before, after = pristine.splitlines(keepends=True), content.splitlines(keepends=True)
    shorter = min(len(before), len(after))
    first = next((number for number in range(shorter) if before[number] != after[number]), shorter)
    left = shorter - first
    last = next((number for number in range(left) if before[-1 - number] != after[-1 - number]), left)
    return _WORDS.search(b"".join(after[first : len(after) - last])) is not None


def thrown_away(content: bytes, function: tuple[str, int]) -> bytes | None:
    """Return the file with a function that does its work and raises; None where the function cannot be found."""
    found = _find(content, function)
    if found is None:
        return None
    node, first, last = found
    documented = ast.get_docstring(node, clean=False) is not None
    kept, work = node.body[:documented], node.body[documented:] or [ast.Pass()]
    node.body = [*kept, ast.Try(body=work, handlers=[], orelse=[], finalbody=_RAISE)]
    lines = content.splitlines(keepends=True)
    text = textwrap.indent(ast.unparse(ast.fix_missing_locations(node)), " " * node.col_offset) + "\n"
    return b"".join([*lines[: first - 1], text.encode(), *lines[last:]])


def _find(content: bytes, function: tuple[str, int]) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, int, int] | None:
    """Return the function's node, its first line (decorators included) and its last."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
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
