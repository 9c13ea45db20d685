"""A page in Markdown or reStructuredText: headings, paragraphs, code blocks, code spans and links, with positions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

LONGEST = 100_000
"""Maximum number of characters of a README to read for its outline."""
MOST_PARTS = 1_000
"""Maximum number of headings and of code blocks in an outline; paragraphs and rows may be five times as many."""

DOCTEST = frozenset({"pycon", "doctest", "pyshell", "python-console", "ipython"})
PYTHON = DOCTEST | {"python", "py", "python3", "py3", "testcode", "testsetup", "code-cell", "ipython3"}
POSIX = frozenset(
    {"bash", "sh", "shell", "zsh", "console", "shell-session", "shellsession", "terminal", "sh-session", "cmd"}
)
SHELL = POSIX | {"powershell", "bat"}

PAST_OR_FUTURE = (
    r"change[ _-]?logs?|changes|history|releases?|release[ _-]notes?|version[ _-]history|what'?s[ _-]+new|"
    r"migrat(?:ion|ions|ing)|upgrad(?:es?|ing)|breaking[ _-]changes|deprecat(?:ed|ions?)|removed|archived?|legacy|"
    r"road[ _-]?map|to[ _-]?do|planned|future|plans?|proposals?"
)
#: Matches a heading about the past or the future, perhaps with more words: "Changelog", "Migrating from 1.x", "What's
#: new in 2.0".
_HEADING = re.compile(
    rf"\W*(?:the |full )?(?:{PAST_OR_FUTURE})(?:\s+(?:log|notes?|history|guide|items|work|features|in|from|to|of|for|since)\b.{{0,40}})?\W*",
    re.I,
)
#: Matches a heading that is a version: "0.1.5", "[1.2.0] - 2020-01-01", "Version 1.31.3, 2 July 2025 (unreleased)".
A_VERSION = re.compile(
    r"\W*(?:version|release|new in)?\W*v?\d+\.\d+(?:\.\w+)*(?:[\W\d]|\b(?:un)?released?\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|"
    r"(?:alpha|beta|rc|dev|post|yanked|on|th|st|nd|rd))*",
    re.I,
)
_SKIP = re.compile(r"<!--\s*workbench:\s*skip\b(?:\s+because\b)?\s*(.{0,200}?)\s*-->", re.S)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_NEWLINE = re.compile(r"\r\n?|\n")
_FENCE_END = re.compile(r"^[\s>]*(`{3,}|~{3,})[ \t]*$")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; ``end`` is the end of its line."""

    level: int
    text: str
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Code:
    """A code block, or a command in running text (``inline``).

    ``info`` is the text after the fence, ``before`` the paragraph or heading directly before the block, and ``skip``
    the author's reason for skipping it. ``adjacent`` means that only ``before`` separates it from the block above.
    ``section`` is the number of headings of the first two levels so far. ``another_time`` is the heading of a section
    about the past or the future. ``closed`` is False if the page never closes the fence.
    """

    line: int
    code: str
    info: str
    before: str = ""
    skip: str = ""
    adjacent: bool = False
    section: int = 0
    another_time: str = ""
    inline: bool = False
    start: int = 0
    end: int = 0
    closed: bool = True
    indented: bool = False

    @property
    def language(self) -> str:
        found = re.match(r"\{?\.?([\w+#-]+)", self.info)
        return found[1].lower() if found else ""


@dataclass(frozen=True, slots=True)
class Block:
    """The text of a paragraph, list item or table cell; ``kind`` is ``prose``, or ``row`` in tables."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Span:
    """A code span with its line number and the surrounding line or paragraph."""

    line: int
    text: str
    around: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link or image; ``target`` is its destination."""

    line: int
    target: str


@dataclass(slots=True)
class Page:
    """A page. Positions are character offsets in ``text``, and line numbers start at 1.

    ``path`` is the page's name in messages; relative links are resolved from ``folder``. ``prose`` contains paragraphs,
    headings and table rows as written, with their first line. ``another_time`` lists the sections about the past or the
    future as (first line, last line, heading). An outline has no ``spans`` or ``links``.
    """

    text: str
    path: str = ""
    folder: str = ""
    headings: list[Heading] = field(default_factory=list)
    codes: list[Code] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    prose: list[tuple[int, str]] = field(default_factory=list)
    another_time: list[tuple[int, int, str]] = field(default_factory=list)
    lists: int = 0
    tables: int = 0

    def section(self, heading: Heading) -> tuple[int, int]:
        """Return the span of the text under a heading, up to the next heading of the same or a higher level."""
        for other in self.headings:
            if other.start > heading.start and other.level <= heading.level:
                return heading.end, other.start
        return heading.end, len(self.text)

    @property
    def paragraphs(self) -> list[Block]:
        return [block for block in self.blocks if block.kind == "prose"]

    def another_time_at(self, line: int) -> str:
        return next((heading for first, last, heading in self.another_time if first <= line <= last), "")


def parse_page(text: str, path: str, folder: str = "") -> Page:
    """Parse a complete Markdown page."""
    text = _CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    page = _Reader(Page(text, path, folder)).read(_WHOLE.parse(text))
    page.another_time = list(_of_another_time(page.headings, len(text.splitlines())))
    page.codes = [replace(code, another_time=page.another_time_at(code.line)) for code in page.codes]
    return page


# Several criteria read the same README one after another, and parsing it is by far the most expensive part.
@lru_cache(maxsize=4)
def outline(readme: str) -> Page:
    """Return headings, code and paragraphs in the first 100,000 characters of a Markdown or reStructuredText README."""
    text = readme[:LONGEST]
    page = _restructured(text) if is_restructured(text) else _Reader(Page(text)).read(_BLOCKS.parse(text))
    del page.headings[MOST_PARTS:], page.codes[MOST_PARTS:], page.blocks[5 * MOST_PARTS :]
    return page


_WHOLE = MarkdownIt("commonmark").enable("table")
# An outline does not need these rules, and decoding link definitions would fail on lone surrogates.
_BLOCKS = MarkdownIt("commonmark").enable("table").disable(["inline", "reference"])


class _Reader:
    """Builds a page from the tokens of its text."""

    def __init__(self, page: Page) -> None:
        self._page, self._text = page, page.text
        self._starts = [0, *(match.end() for match in _NEWLINE.finditer(page.text)), len(page.text)]
        self._before = ""
        self._skip = ""
        self._pieces = 9  # pieces of prose since the last code block
        self._line = 1
        self._section = 0
        self._level = 0  # level of the heading that contains the next text
        self._in_table = False

    def read(self, tokens: Iterable[Token]) -> Page:
        for token in tokens:
            if token.map:
                self._line = token.map[0] + 1
            match token.type:
                case "heading_open":
                    self._level = int(token.tag[1])
                    self._section += self._level <= 2
                case "table_open" | "table_close":
                    self._in_table = token.type == "table_open"
                    self._page.tables += self._in_table
                case "list_item_open":
                    self._page.lists += 1
                case "fence" | "code_block":
                    self._code(token)
                case "html_block":
                    self._skipped(token)
                case "inline":
                    self._inline(token)
        return self._page

    def _written(self, first: int, last: int) -> str:
        """Return the lines from ``first`` up to but excluding ``last``, counted from 0."""
        end = len(self._starts) - 1
        return self._text[self._starts[min(first, end)] : self._starts[min(last, end)]].removesuffix("\n")

    def _extent(self, lines: list[int] | None) -> tuple[int, int]:
        first, last = lines or (0, 0)
        start = self._starts[min(first, len(self._starts) - 1)]
        return start, start + len(self._written(first, last).rstrip())

    def _skipped(self, token: Token) -> None:
        if match := _SKIP.search(token.content):
            self._skip = match[1] or "its author marked it to be skipped"

    def _code(self, token: Token) -> None:
        start, end = self._extent(token.map)
        fenced = token.type == "fence"
        _, newline, last = self._text[start:end].rpartition("\n")
        code = Code(
            self._line + fenced,
            token.content,
            token.info.strip(),
            self._before,
            self._skip,
            bool(self._page.codes) and self._pieces <= 1,
            self._section,
            start=start,
            end=end,
            closed=not fenced or bool(newline and _FENCE_END.match(last)),
            indented=not fenced,
        )
        self._page.codes.append(code)
        self._before, self._skip, self._pieces = "", "", 0

    def _inline(self, token: Token) -> None:
        begin, end = token.map or [self._line - 1, self._line]
        written, extent, line = self._written(begin, end), self._extent(token.map), begin + 1
        self._before, self._pieces = written, self._pieces + 1
        if self._level:
            self._page.headings.append(Heading(self._level, token.content.strip(), line, *extent))
            self._level = 0
        elif token.content.strip():
            self._page.blocks.append(Block("row" if self._in_table else "prose", token.content, *extent))
        if self._page.prose[-1:] != [(line, written)]:
            self._page.prose.append((line, written))
        for child in token.children or ():
            match child.type:
                case "softbreak" | "hardbreak":
                    line += 1
                case "code_inline":
                    self._page.spans.append(Span(line, child.content, self._written(line - 1, line)))
                case "link_open" | "image":
                    target = child.attrs.get("href" if child.type == "link_open" else "src", "")
                    self._page.links.append(Link(line, str(target)))
                case "html_inline":
                    self._skipped(child)


def is_of_another_time(heading: str) -> bool:
    """Return whether a section with this heading is about the past or the future."""
    title = heading.strip("#=-*_ \n\t")
    return bool(A_VERSION.fullmatch(title) or _HEADING.fullmatch(title))


def _of_another_time(headings: list[Heading], last: int) -> Iterator[tuple[int, int, str]]:
    """Yield the sections about the past or the future; the page's title is ignored."""
    for number, one in enumerate(headings):
        if one.level > 1 and is_of_another_time(one.text):
            later = (other.line - 1 for other in headings[number + 1 :] if other.level <= one.level)
            yield one.line, next(later, last), one.text


# -- reStructuredText

_ADORNMENT = re.compile(r"^([=\-~^\"'`#*+.:_<>])\1{2,}[ \t]*$")
_DIRECTIVE = re.compile(r"^\.\. +(?:\|[^|\n]+\| +)?([\w-]+):: *(\S*)")
_CODE = frozenset({"code", "code-block", "sourcecode", "parsed-literal", "prompt", "console", "doctest"})
_BULLET = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)]|#\.)[ \t]+\S")
_SIGNS = re.compile(r"^\.\. +(?:\|[^|\n]+\| +)?[\w-]+::|`_{1,2}(?!\w)|::[ \t]*$", re.M)
_MARKDOWN = re.compile(r"^#{1,6} \S|^(?:```|~~~\w)|\]\(", re.M)


_FENCED = re.compile(r"^(`{3,}|~{3,})\w*[ \t]*\n.*?(?:^\1[`~]*[ \t]*$|\Z)", re.M | re.S)


def is_restructured(text: str) -> bool:
    """Return whether a README has more reStructuredText directives, links or literal blocks than Markdown markup.

    Code in fences does not count, because it may have docstrings in reStructuredText.
    """
    head = _FENCED.sub("```", text[:20_000])
    signs = len(_SIGNS.findall(head))
    return signs > 0 and signs > len(_MARKDOWN.findall(head))


def _restructured(text: str) -> Page:
    page = Page(text)

    def end_of(first: int, end: int) -> int:
        return starts[first] + len(text[starts[first] : starts[end]].rstrip())

    def code(language: str, body: str, first: int, end: int) -> None:
        page.codes.append(Code(first + 1, body, language, start=starts[first], end=end_of(first, end)))

    def prose(kind: str, content: str, first: int, end: int) -> None:
        page.blocks.append(Block(kind, content, starts[first], end_of(first, end)))

    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    bare = [line.rstrip() for line in lines]
    styles: list[str] = []
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
            level = min(styles.index(style) + 1, 6)
            page.headings.append(Heading(level, title.strip(), index + 1, starts[index], end))
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
        page.tables += grid
        page.lists += _BULLET.match(line) is not None
        content = "".join(lines[index:end])
        content = re.sub(r"^\s*(?:[-*+•]|\d{1,3}[.)]|#\.)\s+", "", content)
        prose("row" if grid else "prose", content, index, end)
        literal = bare[end - 1].endswith("::")
        index = end
    return page


def _indented(bare: list[str], start: int) -> int:
    """Return the index after the indented lines that begin at ``start``, excluding trailing empty lines."""
    end = start
    while end < len(bare) and (not bare[end] or bare[end][:1] in " \t"):
        end += 1
    while end > start and not bare[end - 1]:
        end -= 1
    return end


def _dedented(lines: list[str]) -> str:
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    return "".join(line[min(indents, default=0) :] if line.strip() else "\n" for line in lines).strip("\n") + "\n"
