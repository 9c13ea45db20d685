"""Re-indent a block of Python without changing the content of multi-line strings."""

from __future__ import annotations

import itertools

from workbench.repository.lines import Line, LineKind, read_lines


def base_indent(lines: list[Line]) -> str:
    """Return the indentation of the first logical line, or of the first comment if there is no code."""
    for kind in (LineKind.CODE, LineKind.COMMENT):
        for line in lines:
            if line.kind is kind:
                return line.indent
    return ""


def reindent(text: str, target: str, unit: str) -> str:
    """Return ``text`` re-indented so that its first logical line is at ``target``, keeping relative indentation.

    Multi-line strings are preserved byte for byte. If the block is indented with other characters than ``unit`` (spaces
    in a file that uses tabs, or the reverse), each level is rewritten with ``unit``. A text that already is at
    ``target`` is unchanged.
    """
    lines = read_lines(text)
    base = base_indent(lines)
    inner = {line.indent.removeprefix(base) for line in lines if line.kind is LineKind.CODE}
    foreign = any(set(indent) - set(unit) for indent in inner)
    if base == target and (not foreign or _consistent(lines)):
        return text
    return _by_levels(lines, target, unit) if foreign else _by_prefix(lines, base, target)


def _consistent(lines: list[Line]) -> bool:
    """Whether of each two adjacent logical lines, one's indentation is a prefix of the other's, as Python demands."""
    indents = [line.indent for line in lines if line.kind is LineKind.CODE]
    return all(a.startswith(b) or b.startswith(a) for a, b in itertools.pairwise(indents))


def _by_prefix(lines: list[Line], base: str, target: str) -> str:
    moved: list[str] = []
    for line in lines:
        if line.kind is LineKind.STRING:
            moved.append(line.text)
        elif line.kind is LineKind.BLANK:
            moved.append(line.text.lstrip(" \t\f"))
        elif line.indent.startswith(base):
            moved.append(target + line.text[len(base) :])
        else:
            # Continuations and comments may be left of the block; a logical line there is invalid in any case.
            shared = _shared(line.indent, base)
            moved.append(target[: max(0, len(target) - len(base) + len(shared))] + line.text[len(shared) :])
    return "".join(moved)


def _by_levels(lines: list[Line], target: str, unit: str) -> str:
    stack: list[int] = []
    before = after = ""
    moved: list[str] = []
    for line in lines:
        if line.kind is LineKind.STRING:
            moved.append(line.text)
            continue
        if line.kind is LineKind.BLANK:
            moved.append(line.text.lstrip(" \t\f"))
            continue
        if line.kind is LineKind.CODE:
            column = len(line.indent.expandtabs(8))
            while stack and stack[-1] > column:
                stack.pop()
            if not stack or stack[-1] < column:
                stack.append(column)
            before, after = line.indent, target + unit * (len(stack) - 1)
            moved.append(after + line.text[len(line.indent) :])
        else:
            rest = line.indent.removeprefix(before) if line.indent.startswith(before) else ""
            moved.append((after or target) + rest + line.text[len(line.indent) :])
    return "".join(moved)


def _shared(one: str, other: str) -> str:
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return one[: sum(1 for _ in same)]


def dedent(text: str) -> str:
    """Return ``text`` with its first logical line at column 0 and the rest moved with it, strings unchanged."""
    lines = read_lines(text)
    return _by_prefix(lines, base_indent(lines), "")
