"""Near misses of a body: every single-token change that still parses, in the order in which they stand."""

from __future__ import annotations

import ast
import io
import textwrap
import tokenize

SWAPS = {
    "+": "-", "-": "+", "*": "+", "/": "*", "//": "/", "%": "*", "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=",
    ">=": ">", "and": "or", "or": "and", "True": "False", "False": "True", "None": "0", "is": "==", "in": "not in",
    "not": "bool", "min": "max", "max": "min", "if": "if not", "break": "continue", "continue": "break", "any": "all",
    "all": "any", "0": "1", "1": "2", "append": "remove", "self": "None", "return": "return not",
}  # fmt: skip


def mutants(body: str) -> list[str]:
    """Return the near misses of ``body``, which may be indented; the result is not."""
    text = textwrap.dedent(body.lstrip("\n"))
    try:
        ast.parse("def f():\n" + textwrap.indent(text, "    "))
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (SyntaxError, tokenize.TokenError, IndentationError):
        return []
    lines = text.splitlines(keepends=True)
    found = []
    for token in tokens:
        changed = SWAPS.get(token.string)
        if token.type == tokenize.STRING and token.start[0] == token.end[0] and len(token.string) > 3:
            changed = token.string[0] + "x" + token.string[1:] if token.string[0] in "'\"" else None
        if changed is None:
            continue
        row, start, end = token.start[0] - 1, token.start[1], token.end[1]
        line = lines[row][:start] + changed + lines[row][end:]
        mutant = "".join([*lines[:row], line, *lines[row + 1 :]])
        try:
            ast.parse("def f():\n" + textwrap.indent(mutant, "    "))
        except SyntaxError:
            continue
        found.append(mutant)
    return found
