"""The block structure of a README: headings, sections, fences, lists, with character spans. A real parse of Markdown.

A README that is reStructuredText is read as such (`workbench.rubric.restructured`) into the same structure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from markdown_it import MarkdownIt

from workbench.rubric.restructured import is_restructured, parts

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
    """One code block; ``language`` is lower-cased, empty for none; ``closed`` is False if it runs into the end."""

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
        """Return the blocks that are running text: not code, not headings, not tables."""
        return tuple(block for block in self.blocks if block.kind != "row")


def outline(readme: str) -> Outline:
    """Parse the first 100,000 characters of a README as CommonMark with tables, or as reStructuredText where it is that."""
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
    return Outline(
        text,
        tuple(headings[:MOST_PARTS]),
        tuple(fences[:MOST_PARTS]),
        tuple(blocks[: 5 * MOST_PARTS]),
        lists,
        tables,
    )


@lru_cache(maxsize=4)
def _restructured(text: str) -> Outline:
    headings: list[Heading] = []
    fences: list[Fence] = []
    blocks: list[Block] = []

    def end_of(start: int, end: int) -> int:
        return start + len(text[start:end].rstrip())

    lists, tables = parts(
        text,
        lambda level, title, start, end: headings.append(Heading(level, title, start, end_of(start, end))),
        lambda language, code, start, end: fences.append(
            Fence(language, code, start, end_of(start, end), closed=True, indented=False)
        ),
        lambda kind, said, start, end: blocks.append(Block(kind, said, start, end_of(start, end))),
    )
    return Outline(
        text,
        tuple(headings[:MOST_PARTS]),
        tuple(fences[:MOST_PARTS]),
        tuple(blocks[: 5 * MOST_PARTS]),
        lists,
        tables,
    )
