"""The block structure of a README (Markdown or reStructuredText): headings, sections, fences, lists, with spans."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from markdown_it import MarkdownIt

LONGEST = 100_000
"""Characters that are parsed; what comes after is not looked at by the rubrics that need structure."""
MOST_PARTS = 1_000
"""Headings and code blocks that are kept; of paragraphs and rows five times as many."""

_NEWLINE = re.compile(r"\r\n?|\n")
_FENCE_END = re.compile(r"^[\s>]*(`{3,}|~{3,})[ \t]*$")
SHELL = frozenset({"bash", "sh", "shell", "console", "zsh", "shell-session", "terminal", "cmd", "powershell", "bat"})
PYTHON = frozenset({"python", "py", "python3", "pycon", "ipython"})


@dataclass(frozen=True, slots=True)
class Heading:
    """One heading; ``end`` is where its line ends."""

    level: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Fence:
    """One code block; ``language`` is lower-cased, "" for none; ``closed`` is False if it runs into the end."""

    language: str
    code: str
    start: int
    end: int
    closed: bool
    indented: bool


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list item text or table cell row outside code: prose with its span."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Outline:
    """The structure of a README. All spans are characters of ``text``, the part that was parsed."""

    text: str
    headings: tuple[Heading, ...]
    fences: tuple[Fence, ...]
    blocks: tuple[Block, ...]
    lists: int
    tables: int

    def section(self, heading: Heading) -> tuple[int, int]:
        """Return the span under a heading, up to the next heading of its level or above."""
        for other in self.headings:
            if other.start > heading.start and other.level <= heading.level:
                return heading.end, other.start
        return heading.end, len(self.text)

    @property
    def prose(self) -> tuple[Block, ...]:
        return tuple(block for block in self.blocks if block.kind != "row")


def _outlined(
    text: str, headings: list[Heading], fences: list[Fence], blocks: list[Block], lists: int, tables: int
) -> Outline:
    kept = tuple(headings[:MOST_PARTS]), tuple(fences[:MOST_PARTS]), tuple(blocks[: 5 * MOST_PARTS])
    return Outline(text, *kept, lists, tables)


def outline(readme: str) -> Outline:
    """Parse the first 100,000 characters of a README as CommonMark with tables, or as reStructuredText."""
    text = readme[:LONGEST]
    return _restructured(text) if is_restructured(text) else _parse(text)


# A README is read by several criteria one after the other; parsing is by far the dearest part.
@lru_cache(maxsize=4)
def _parse(text: str) -> Outline:
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    # Block structure is all that is needed; link definitions would be decoded, which lone surrogates break.
    parser.disable(["inline", "reference"])
    starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]
    starts.append(len(text))

    def span(lines: list[int] | None) -> tuple[int, int]:
        if lines is None:
            return 0, 0
        first, last = (min(line, len(starts) - 1) for line in lines)
        end = starts[last]
        return starts[first], max(starts[first], len(text[starts[first] : end].rstrip()) + starts[first])

    headings: list[Heading] = []
    fences: list[Fence] = []
    blocks: list[Block] = []
    lists = tables = level = 0
    in_table = in_heading = False
    for token in parser.parse(text):
        match token.type:
            case "heading_open":
                level, in_heading = int(token.tag[1]), True
            case "heading_close":
                in_heading = False
            case "table_open":
                tables, in_table = tables + 1, True
            case "table_close":
                in_table = False
            case "list_item_open":
                lists += 1
            case "fence" | "code_block":
                start, end = span(token.map)
                indented = token.type == "code_block"
                last = text[start:end].rsplit("\n", 1)[-1]
                closed = indented or ("\n" in text[start:end] and _FENCE_END.match(last) is not None)
                words = token.info.split()
                language = words[0].lower().strip("{}.") if words else ""
                fences.append(Fence(language, token.content, start, end, closed, indented))
            case "inline":
                start, end = span(token.map)
                if in_heading:
                    headings.append(Heading(level, token.content.strip(), start, end))
                elif token.content.strip():
                    blocks.append(Block("row" if in_table else "prose", token.content, start, end))
    return _outlined(text, headings, fences, blocks, lists, tables)


# -- reStructuredText

_ADORNMENT = re.compile(r"^([=\-~^\"'`#*+.:_<>])\1{2,}[ \t]*$")
_DIRECTIVE = re.compile(r"^\.\. +(?:\|[^|\n]+\| +)?([\w-]+):: *(\S*)")
_CODE = frozenset({"code", "code-block", "sourcecode", "parsed-literal", "prompt", "console", "doctest"})
_BULLET = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)]|#\.)[ \t]+\S")
_SIGNS = re.compile(r"^\.\. +(?:\|[^|\n]+\| +)?[\w-]+::|`_{1,2}(?!\w)|::[ \t]*$", re.M)
_MARKDOWN = re.compile(r"^#{1,6} \S|^(?:```|~~~\w)|\]\(", re.M)


def is_restructured(text: str) -> bool:
    """Return whether a README has directives, links or literal blocks of reStructuredText, more than Markdown's."""
    head = text[:20_000]
    signs = len(_SIGNS.findall(head))
    return signs > 0 and signs > len(_MARKDOWN.findall(head))


@lru_cache(maxsize=4)
def _restructured(text: str) -> Outline:
    headings: list[Heading] = []
    fences: list[Fence] = []
    blocks: list[Block] = []

    def end_of(first: int, end: int) -> int:
        return starts[first] + len(text[starts[first] : starts[end]].rstrip())

    def code(language: str, body: str, first: int, end: int) -> None:
        fences.append(Fence(language, body, starts[first], end_of(first, end), closed=True, indented=False))

    def prose(kind: str, said: str, first: int, end: int) -> None:
        blocks.append(Block(kind, said, starts[first], end_of(first, end)))

    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    bare = [line.rstrip() for line in lines]
    styles: list[str] = []
    lists = tables = 0
    literal = False
    index = 0
    while index < len(bare):
        line = bare[index]
        if not line:
            index += 1
            continue
        if literal and line[:1] in " \t":
            end = _indented(bare, index)
            code("", _dedented(lines[index:end]), index, end)
            index, literal = end, False
            continue
        literal = False
        over = (
            _ADORNMENT.match(line)
            and index + 2 < len(bare)
            and _ADORNMENT.match(bare[index + 2])
            and bare[index + 1].strip()
        )
        under = index + 1 < len(bare) and _ADORNMENT.match(bare[index + 1]) and line[:1] not in " \t"
        if over or (under and not _ADORNMENT.match(line) and len(bare[index + 1]) + 2 >= min(len(line), 80)):
            title = bare[index + 1] if over else line
            style = line[0] * 2 if over else bare[index + 1][0]
            if style not in styles:
                styles.append(style)
            last = index + (3 if over else 2)
            end = starts[index] + len(text[starts[index] : starts[last] - 1].rstrip())
            headings.append(Heading(min(styles.index(style) + 1, 6), title.strip(), starts[index], end))
            index = last
            continue
        directive = _DIRECTIVE.match(line)
        if directive or line.startswith(".. "):
            end = _indented(bare, index + 1)
            name = directive.group(1) if directive else ""
            if name in _CODE:
                body = [row for row in lines[index + 1 : end] if not re.match(r"^\s+:[\w-]+:", row)]
                language = (directive.group(2) if directive else "").lower()
                code(language or ("console" if name in {"console", "prompt"} else ""), _dedented(body), index, end)
            elif name in {"note", "warning", "tip", "important", "hint", "attention"}:
                prose("prose", "".join(lines[index + 1 : end]), min(index + 1, end), end)
            index = max(end, index + 1)
            continue
        if line.startswith(">>>"):
            end = index
            while end < len(bare) and bare[end]:
                end += 1
            code("pycon", "".join(lines[index:end]), index, end)
            index = end
            continue
        end = index + 1
        while end < len(bare) and bare[end] and not _BULLET.match(bare[end]) and not bare[end].startswith(".. "):
            if end + 1 < len(bare) and _ADORNMENT.match(bare[end + 1]) and end > index:
                break
            end += 1
        grid = re.match(r"^\s*(?:\+[-=+]+\+|=+ +=)", line) is not None
        tables += grid
        lists += _BULLET.match(line) is not None
        said = "".join(lines[index:end])
        said = re.sub(r"^\s*(?:[-*+•]|\d{1,3}[.)]|#\.)\s+", "", said)
        prose("row" if grid else "prose", said, index, end)
        literal = bare[end - 1].endswith("::")
        index = end
    return _outlined(text, headings, fences, blocks, lists, tables)


def _indented(bare: list[str], start: int) -> int:
    """Return the first line from ``start`` that is neither empty nor indented; trailing empty lines are not taken."""
    end = start
    while end < len(bare) and (not bare[end] or bare[end][:1] in " \t"):
        end += 1
    while end > start and not bare[end - 1]:
        end -= 1
    return end


def _dedented(lines: list[str]) -> str:
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    return "".join(line[min(indents, default=0) :] if line.strip() else "\n" for line in lines).strip("\n") + "\n"
