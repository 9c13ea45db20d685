"""Find the code blocks in a model's answer: Markdown fences, taking into account Python strings that contain fences."""

from __future__ import annotations

import re
from dataclasses import dataclass

from workbench.repository.lines import LineKind, read_lines, split_lines

_OPEN = re.compile(r"^(?P<indent>[ \t]*)(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^`\r\n]*)$")
_ONE_LINE = re.compile(r"^(`{1,3})(?P<code>[^`\n]+)\1$")
PYTHON_TAGS = frozenset(
    {"", "python", "py", "python3", "py3", "python2", "pycon", "python-repl", "code", "text", "txt"}
)


@dataclass(frozen=True, slots=True)
class Block:
    """A part of an answer that may be the code: ``language`` is the fence's tag, ``closed`` whether the fence is closed."""

    text: str
    language: str = ""
    closed: bool = True
    fenced: bool = True

    @property
    def may_be_python(self) -> bool:
        """Whether the tag is empty or names Python."""
        return self.language in PYTHON_TAGS


def read_blocks(answer: str) -> list[Block]:
    """Return the blocks of ``answer`` in order; without fences, the whole answer is one block.

    A fence inside a triple-quoted string does not close a block. If ignoring strings gives other blocks, these are
    returned as well, after the former. Text before a first fence without a tag is a block, too: in a continuation the
    opening fence was part of the prompt.
    """
    stripped = answer.strip()
    one_line = _ONE_LINE.match(stripped)
    if one_line:
        return [Block(re.sub(r"^(?:python|py)\s+", "", one_line["code"]).strip(), fenced=True)]
    lines = split_lines(answer)
    first = next((n for n, line in enumerate(lines) if _OPEN.match(line.rstrip("\r\n"))), None)
    if first is None:
        return [Block(answer, fenced=False)]
    aware = _read(lines, first, strings_hide_fences=True)
    plain = _read(lines, first, strings_hide_fences=False)
    blocks = aware + [block for block in plain if block not in aware]
    if read_lines(answer)[first].kind is LineKind.STRING:
        blocks.insert(0, Block(answer, fenced=False))  # code without a fence, but with a string that contains one
    before = "".join(lines[:first])
    opening = _OPEN.match(lines[first].rstrip("\r\n"))
    if before.strip() and opening and not opening["info"].strip():
        blocks.append(Block(before, closed=True, fenced=False))
    return [block for block in blocks if block.text.strip()] or [Block("", fenced=True)]


def _read(lines: list[str], first: int, *, strings_hide_fences: bool) -> list[Block]:
    blocks: list[Block] = []
    position = first
    while position < len(lines):
        opening = _OPEN.match(lines[position].rstrip("\r\n"))
        position += 1
        if not opening:
            continue
        inside: list[str] = []
        closed = False
        while position < len(lines):
            line = lines[position]
            position += 1
            if _closes(line, opening["mark"]) and not (strings_hide_fences and _in_string(inside, lines[position:])):
                closed = True
                break
            inside.append(line)
        blocks.append(
            Block(_without_fence_indent(inside, opening["indent"]), _language(opening["info"]), closed, fenced=True)
        )
    return blocks


def _closes(line: str, mark: str) -> bool:
    text = line.strip()
    return len(text) >= len(mark) and set(text) == {mark[0]}


def _in_string(inside: list[str], rest: list[str]) -> bool:
    """Return whether the block so far ends inside a triple-quoted string that is closed later."""
    so_far = "".join(inside)
    if '"""' not in so_far and "'''" not in so_far:
        return False
    if read_lines(so_far + "end")[-1].kind is not LineKind.STRING:
        return False
    # The closing quotes must follow, otherwise the "string" is only a mistake in the answer.
    tail = "".join(rest)
    return read_lines(f"{so_far}\n{tail}\nend")[-1].kind is not LineKind.STRING


def _without_fence_indent(lines: list[str], indent: str) -> str:
    if not indent:
        return "".join(lines)
    kinds = read_lines("".join(lines))
    return "".join(
        line.text
        if line.kind is LineKind.STRING
        else line.text.removeprefix(indent)
        if line.text.strip()
        else line.text
        for line in kinds
    )


def _language(info: str) -> str:
    words = re.split(r"[\s,{}:.=]+", info.strip().lower().lstrip("{."))
    return words[0] if words else ""
