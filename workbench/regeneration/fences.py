"""Find the code blocks in a model's answer: Markdown fences and tags outside of Python strings."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from workbench.repository.lines import LineKind, read_lines, split_lines

#: An opening fence, possibly after a tag or an introduction that ends with a colon.
_OPEN = re.compile(
    r"^(?P<indent>[ \t]*)(?:\S.*(?:[>\]▷:][ \t]*(?=`)|\s(?=`{3,}(?:python|py)\s*$)))?(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^`\r\n]*)$"
)
_CODE_AFTER_TAG = re.compile(
    r"\S+[ \t]+(?P<code>(?:@|(?:async[ \t]+def|def|class|return|import|from|if|for|while|with|try|raise|yield)\b).*)"
)
_ANY_TAG = r"(?:<(?P<name>[^\W\d_][\w:.-]*)(?:[ =][^<>\n]*)?>|\[(?P<word>[A-Z][A-Z_]*)\]|<\|(?P<special>\w+)\|>)"
_TAG = re.compile(rf"^[ \t]*{_ANY_TAG}", re.MULTILINE)
#: Nested tags may follow another tag on the same line.
_INNER_TAG = re.compile(rf"(?:^[ \t]*|(?<=>)){_ANY_TAG}", re.MULTILINE)
_INLINE = frozenset({"span", "b", "i", "em", "strong", "font", "a", "br"})
_MAX_DEPTH = 4
_ONE_LINE = re.compile(r"^(`{1,3})(?P<code>[^`\n]+)\1$")
PYTHON_TAGS = frozenset([
    "", "code", "diff", "ipython", "ipython3", "patch", "py", "py3", "pycon", "python", "python-repl", "python2",
    "python3", "text", "txt",
])  # fmt: skip


@dataclass(frozen=True, slots=True)
class AnswerBlock:
    """A part of an answer that may contain the code."""

    text: str
    language: str = ""  # the info string or tag of the block
    closed: bool = True
    fenced: bool = True  # whether the block is in a fence or tag
    certain: bool = True  # False if the block results from a less likely interpretation of the fences

    @property
    def may_be_python(self) -> bool:
        return self.language in PYTHON_TAGS


def read_blocks(answer: str) -> list[AnswerBlock]:
    """Return the blocks of ``answer`` in order; without fences or tags, the whole answer is one block.

    A fence inside a triple-quoted string does not close a block. Blocks that exist only if strings are ignored come
    last. Text before an untagged first fence is also a block, because the opening fence may have been in the prompt.
    """
    stripped = answer.strip()
    one_line = _ONE_LINE.match(stripped)
    if one_line:
        return [AnswerBlock(re.sub(r"^(?:python|py)\s+", "", one_line["code"]).strip(), fenced=True)]
    lines = split_lines(answer)
    first = next((n for n, line in enumerate(lines) if _OPEN.match(line.rstrip("\r\n"))), None)
    if first is None:
        return _tagged(answer)
    aware = _read(lines, first, strings_hide_fences=True)
    plain = _read(lines, first, strings_hide_fences=False)
    blocks = aware + [replace(block, certain=False) for block in plain if block not in aware]
    if read_lines(answer)[first].kind is LineKind.STRING:
        blocks.insert(0, AnswerBlock(answer, fenced=False))  # unfenced code that contains a fence inside a string
    before = "".join(lines[:first])
    opening = _OPEN.match(lines[first].rstrip("\r\n"))
    if before.strip() and opening and not opening["info"].strip():
        blocks.append(AnswerBlock(before, closed=True, fenced=False, certain=False))
    return [block for block in blocks if block.text.strip()] or [AnswerBlock("", fenced=True)]


def after_first_tag(answer: str) -> str:
    """Return the text after the element at the start of an answer, or "" if it does not start with a tag."""
    opening = re.match(rf"\s*{_ANY_TAG}", answer)
    end = _end_of_tag(opening).search(answer, opening.end()) if opening else None
    return answer[end.end() :].strip("\n") if end else ""


def _tagged(answer: str, depth: int = 0) -> list[AnswerBlock]:
    """Return the blocks between tags such as ``[PYTHON]`` and an optional ``[/PYTHON]``, then the whole answer."""
    kinds = read_lines(answer)
    starts = [0]
    for line in kinds:
        starts.append(starts[-1] + len(line.text))
    blocks: list[AnswerBlock] = []
    position = 0
    tag = _INNER_TAG if depth else _TAG
    while opening := tag.search(answer, position):
        position = opening.end()
        if opening["name"] in _INLINE:
            continue
        number = next(n for n, start in enumerate(starts[1:]) if opening.start() < start)
        if kinds[number].kind is LineKind.STRING:
            continue
        end = _end_of_tag(opening).search(answer, position)
        if end is None and not (opening["word"] and not answer[: opening.start()].strip()):
            continue
        inside = answer[position : end.start() if end else len(answer)]
        cdata = re.fullmatch(r"\s*<!\[CDATA\[(.*?)\]\]>\s*", inside, re.DOTALL)
        inside = cdata[1] if cdata else inside
        inner = (
            _tagged(inside, depth + 1) if depth < _MAX_DEPTH and _TAG.match(inside.lstrip()) else [AnswerBlock(inside)]
        )
        blocks += [replace(one, fenced=True) for one in inner]
        position = end.end() if end else len(answer)
    first = _TAG.match(answer.lstrip())
    return blocks if blocks and first else [*blocks, AnswerBlock(answer, fenced=False)]


def _end_of_tag(opening: re.Match[str]) -> re.Pattern[str]:
    if opening["name"]:
        return re.compile(rf"</{re.escape(opening['name'])}\s*>")
    if opening["word"]:
        return re.compile(rf"\[/{opening['word']}\]|^[ \t]*\[(?:DONE|END(?:_{opening['word']})?)\]", re.MULTILINE)
    return re.compile(r"<\|/?\w*(?:end|done)?\w*\|>|\Z")


def _read(lines: list[str], first: int, *, strings_hide_fences: bool) -> list[AnswerBlock]:
    blocks: list[AnswerBlock] = []
    position = first
    while position < len(lines):
        opening = _OPEN.match(lines[position].rstrip("\r\n"))
        position += 1
        if not opening:
            continue
        with_code = _CODE_AFTER_TAG.match(opening["info"])
        inside: list[str] = [f"{with_code['code']}\n"] if with_code else []
        closed = False
        while position < len(lines):
            line = lines[position]
            position += 1
            if _closes(line, opening["mark"]) and not (strings_hide_fences and _in_string(inside, lines[position:])):
                closed = True
                break
            if _closes_after_code(line, opening["mark"]) and not _in_string(inside, lines[position:]):
                inside.append(line.rstrip()[: -len(opening["mark"])])
                closed = True
                break
            inside.append(line)
        blocks.append(
            AnswerBlock(
                _without_fence_indent(inside, opening["indent"]), _language(opening["info"]), closed, fenced=True
            )
        )
    return blocks


def _closes(line: str, mark: str) -> bool:
    text = line.strip()
    return len(text) >= len(mark) and set(text) == {mark[0]}


def _closes_after_code(line: str, mark: str) -> bool:
    text = line.rstrip()
    return text.endswith(mark) and not text.strip().startswith(mark[0]) and "#" not in text


def _in_string(inside: list[str], rest: list[str]) -> bool:
    so_far = "".join(inside)
    if '"""' not in so_far and "'''" not in so_far:
        return False
    if read_lines(so_far + "end")[-1].kind is not LineKind.STRING:
        return False
    # Closing quotes must follow; otherwise, the "string" is just a mistake in the answer.
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
