"""Context policies: which part of the file the evaluator sees besides the body that it has to write.

A policy never changes once published; a changed one gets a new name. The context before the body always ends exactly
where the body begins, so that the answer is a continuation.

- ``prefix-1``: the whole file up to the body, as in the paper, including the bodies of other functions before it.
- ``signatures-1``: the file with the bodies of other functions replaced by ``...``; what follows the target is
separate.
- ``tail-1``: imports and as many whole lines before the body as fit the window; omitted lines are counted.
- ``function-1``: imports, the header lines of the enclosing classes and functions, and the function's own header.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from workbench.base.errors import UsageError
from workbench.repository.encoding import decode, source_encoding
from workbench.repository.functions import Function, find_functions, outline
from workbench.repository.lines import LineKind, read_lines
from workbench.repository.splicing import body_indent


@dataclass(frozen=True, slots=True)
class Context:
    """The context shown: ``before`` ends where the body begins, ``after`` shows the rest of the file, if anything."""

    before: str
    after: str = ""
    omitted_lines: int = 0


def estimate_tokens(text: str) -> int:
    """Return a conservative estimate of the tokens of ``text``: one per three bytes of UTF-8 (code has 3 to 4)."""
    return -(-len(text.encode("utf-8", "replace")) // 3)


def build_context(source: bytes, function: Function, policy: str, budget: int | None = None) -> Context:
    """Return the context of ``function`` in ``source``, which already contains the docstring to be shown.

    ``budget`` (tokens) is used by ``tail-1`` only; the other policies omit no lines and may exceed it. UsageError: no
    such policy.
    """
    if policy not in POLICIES:
        raise UsageError(f"There is no context policy {policy!r}; choose one of {', '.join(POLICIES)}.")
    return POLICIES[policy](source, function, budget)


def _text(source: bytes) -> str:
    return re.sub(r"\r\n?", "\n", decode(source, source_encoding(source)).removeprefix("\ufeff"))


def _prefix(source: bytes, function: Function, _budget: int | None) -> Context:
    return Context(_text(source[: function.body.start]))


def _signatures(source: bytes, function: Function, _budget: int | None) -> Context:
    before: list[bytes] = []
    after: list[bytes] = []
    position, hidden_until = 0, 0
    for other in find_functions(source, function.path):
        around = other.span.start <= function.span.start and other.span.end >= function.span.end
        if around or other.span.start < hidden_until or function.span.start < other.span.start < function.span.end:
            continue
        if other.body.start >= function.body.end and position < function.body.end:
            before.append(source[position : function.body.start])
            position = function.body.end
        part = after if other.span.start > function.span.start else before
        indent = body_indent(source, other).encode()
        part.append(source[position : other.body.start] + b"\n" + indent + b"...")
        position = hidden_until = other.body.end
    if position < function.body.end:
        before.append(source[position : function.body.start])
        position = function.body.end
    after.append(source[position:])
    return Context(_text(b"".join(before)), _text(b"".join(after)).strip("\n"))


def _tail(source: bytes, function: Function, budget: int | None) -> Context:
    whole = _text(source[: function.body.start])
    if budget is None or estimate_tokens(whole) <= budget:
        return Context(whole)
    head = _text(source[: _head_start(source, function)])
    imports = _imports(head)
    own = whole[len(head) :]
    lines = head.split("\n")[:-1]
    room = budget - estimate_tokens(imports) - estimate_tokens(own)
    kept = len(lines)
    while kept > 0 and (room := room - estimate_tokens(lines[kept - 1] + "\n")) >= 0:
        kept -= 1
    shown = "\n".join(lines[kept:])
    return Context(f"{imports}\n# … {kept} lines …\n{shown}\n{own}", omitted_lines=kept)


def _function_only(source: bytes, function: Function, _budget: int | None) -> Context:
    text = _text(source[: function.body.start])
    head = _text(source[: _head_start(source, function)])
    lines = _text(source).split("\n")
    around = [
        lines[item.start_line - 1]
        for item in outline(source, function.path)
        if item.start_line < function.first_line
        and item.end_line >= function.end_line
        and function.qualified_name.startswith(item.qualified_name + ".")
    ]
    parts = [_imports(head), *around]
    opening = "".join(part + "\n" for part in parts if part.strip())
    return Context((opening + "\n" if opening and not around else opening) + text[len(head) :])


def _head_start(source: bytes, function: Function) -> int:
    """Return the start of the line of the first decorator or, without decorators, of the header."""
    position = function.span.start
    for _ in range(function.start_line - function.first_line + 1):
        position = max(source.rfind(b"\n", 0, position), source.rfind(b"\r", 0, position))
    return position + 1


def _imports(text: str) -> str:
    """Return the unindented import statements, including those that span several lines."""
    kept: list[str] = []
    taking = False
    for line in read_lines(text):
        if line.kind is LineKind.CODE:
            taking = not line.indent and re.match(r"(?:import|from)\b", line.content) is not None
        if taking and line.kind in (LineKind.CODE, LineKind.CONTINUATION):
            kept.append(line.text.rstrip("\n"))
    return "\n".join(kept)


POLICIES: dict[str, Callable[[bytes, Function, int | None], Context]] = {
    "prefix-1": _prefix,
    "signatures-1": _signatures,
    "tail-1": _tail,
    "function-1": _function_only,
}
DEFAULT_POLICY = "prefix-1"
