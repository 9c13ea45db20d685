"""A Markdown page as a check sees it: code blocks, code spans and links, each with its line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from markdown_it import MarkdownIt
from markdown_it.token import Token

from workbench.base.errors import UsageError
from workbench.base.files import read_bytes
from workbench.checking.environment import tree_files

_PAST_OR_FUTURE = (
    r"change[ _-]?logs?|changes|history|releases?|release[ _-]notes?|version[ _-]history|what'?s[ _-]+new|"
    r"migrat(?:ion|ions|ing)|upgrad(?:es?|ing)|breaking[ _-]changes|deprecat(?:ed|ions?)|removed|archived?|legacy|"
    r"road[ _-]?map|to[ _-]?do|planned|future|plans?|proposals?"
)
_FOR_DEVELOPERS = r"news|old|planning|designs?|rfcs?|peps?|adrs?|decisions?|research|internals?|notes|meetings?|analysis|audits?|reviews?|specs?|postmortems?"
#: A heading that is such a word, perhaps with what it is of: "Changelog", "Migrating from 1.x", "What's new in 2.0".
_HEADING = re.compile(
    rf"\W*(?:the |full )?(?:{_PAST_OR_FUTURE})(?:\s+(?:log|notes?|history|guide|items|work|features|in|from|to|of|for|since)\b.{{0,40}})?\W*",
    re.I,
)
#: The name of a page or folder that has such a word as its first or last one.
_NAME = re.compile(
    rf"(?:{_PAST_OR_FUTURE}|{_FOR_DEVELOPERS})\b.*|.*\b(?:{_PAST_OR_FUTURE}|{_FOR_DEVELOPERS})\W*\d*", re.I
)
#: A heading that is a version: "0.1.5", "[1.2.0] - 2020-01-01", "Version 1.31.3, 2 July 2025 (unreleased)".
_VERSION = re.compile(
    r"\W*(?:version|release|new in)?\W*v?\d+\.\d+(?:\.\w+)*(?:[\W\d]|\b(?:un)?released?\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|"
    r"(?:alpha|beta|rc|dev|post|yanked|on|th|st|nd|rd))*",
    re.I,
)
_OF_PROJECTS = ("contributing", "code_of_conduct", "security", "license", "authors")


def is_of_another_time(heading: str) -> bool:
    """Whether a section with this heading tells of the past or the future."""
    title = heading.strip("#=-*_ \n\t")
    return bool(_VERSION.fullmatch(title) or _HEADING.fullmatch(title))


def is_page_for_readers(path: str) -> bool:
    """Whether a page in a docs folder is for users, by its name and the folders below the first."""
    *folders, name = PurePosixPath(path).parts[1:]
    if any(part.startswith(("_", ".")) for part in folders) or name.lower().startswith(_OF_PROJECTS):
        return False
    return not any(
        _NAME.fullmatch(said) or _VERSION.fullmatch(said)
        for said in (re.sub(r"[_-]+", " ", part) for part in (*folders, PurePosixPath(name).stem))
    )


#: Pages beyond that are machine output, not documentation.
LARGEST = 2_000_000

_OTHER_MARKUP = {".rst": "reStructuredText", ".adoc": "AsciiDoc", ".org": "Org", ".textile": "Textile", ".txt": "text"}
_SKIP = re.compile(r"<!--\s*workbench:\s*skip\b(?:\s+because\b)?\s*(.{0,200}?)\s*-->", re.S)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Code:
    """A code block, or a command in running text (``inline``).

    ``info`` is what stands after the fence, ``before`` the paragraph or heading right before it, ``skip`` why its author
    wants it skipped. ``adjacent`` means that nothing but ``before`` separates it from the block above. ``section`` counts
    headings of the first two levels; ``another_time`` is the heading of a section on the past or future.
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


@dataclass(frozen=True, slots=True)
class Span:
    """A code span with its line, and the line or paragraph around it."""

    line: int
    text: str
    around: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link or picture; ``target`` is where it leads."""

    line: int
    target: str


@dataclass(frozen=True, slots=True)
class Page:
    """A page.

    ``path`` is its name in messages; relative links start from ``folder``. ``prose`` has paragraphs, headings and table
    rows with their first line; ``another_time`` the (first line, last line, heading) of sections on the past or future.
    """

    path: str
    folder: str
    text: str
    codes: tuple[Code, ...]
    spans: tuple[Span, ...]
    links: tuple[Link, ...]
    prose: tuple[tuple[int, str], ...]
    another_time: tuple[tuple[int, int, str], ...] = ()


def read_page(root: Path, file: Path) -> Page:
    """Read a page for the repository at ``root``; its file may lie elsewhere.

    Raises:
        UsageError: It cannot be read, is too large, or is no Markdown.
    """
    inside = file.absolute().is_relative_to(root)
    path = file.absolute().relative_to(root).as_posix() if inside else str(file)
    suffix = file.suffix.lower()
    if suffix in _OTHER_MARKUP:
        raise UsageError(f"{path} is {_OTHER_MARKUP[suffix]}; only Markdown is checked.")
    if file.is_file() and (size := file.stat().st_size) > LARGEST:
        raise UsageError(f"{path} has {size / 1e6:.1f} MB; pages of up to {LARGEST / 1e6:.0f} MB are checked.")
    data = read_bytes(file, most=LARGEST)
    if b"\0" in data[:8000]:
        raise UsageError(f"{path} is a binary file, not Markdown.")
    folder = str(PurePosixPath(path).parent) if inside else "."
    return parse_page(data.decode("utf-8-sig", errors="replace"), path, "" if folder == "." else folder)


def parse_page(text: str, path: str, folder: str = "") -> Page:
    text = _CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    lines = text.splitlines()
    reader = _Reader(lines)
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        reader.take(token)
    elsewhen = tuple(_of_another_time(reader.headings, len(lines)))
    codes = tuple(
        replace(code, another_time=next((said for first, last, said in elsewhen if first <= code.line <= last), ""))
        for code in reader.codes
    )
    return Page(path, folder, text, codes, tuple(reader.spans), tuple(reader.links), tuple(reader.prose), elsewhen)


def _of_another_time(headings: list[tuple[int, int, str]], last: int) -> Iterator[tuple[int, int, str]]:
    """Yield sections on the past or future; the page's title does not count."""
    for number, (line, level, text) in enumerate(headings):
        if level > 1 and is_of_another_time(text):
            yield line, next((other - 1 for other, its, _ in headings[number + 1 :] if its <= level), last), text


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self.codes: list[Code] = []
        self.spans: list[Span] = []
        self.links: list[Link] = []
        self.prose: list[tuple[int, str]] = []
        self._before = ""
        self._skip = ""
        self._pieces = 9  # pieces of prose since the last block of code
        self._line = 1
        self._section = 0
        self._level = 0  # of the heading whose text comes next
        self.headings: list[tuple[int, int, str]] = []

    def take(self, token: Token) -> None:
        if token.map:
            self._line = token.map[0] + 1
        if token.type in ("fence", "code_block"):
            line = self._line + (token.type == "fence")
            adjacent = bool(self.codes) and self._pieces <= 1
            self.codes.append(
                Code(line, token.content, token.info.strip(), self._before, self._skip, adjacent, self._section)
            )
            self._before, self._skip, self._pieces = "", "", 0
        elif token.type == "heading_open":
            self._section += token.tag in ("h1", "h2")
            self._level = int(token.tag[1:])
        elif token.type == "html_block":
            if match := _SKIP.search(token.content):
                self._skip = match[1] or "its author says so"
        elif token.type == "inline":
            self._inline(token)

    def _inline(self, token: Token) -> None:
        begin, end = token.map or [self._line - 1, self._line]
        written = "\n".join(self._lines[begin:end])
        self._before, self._pieces = written, self._pieces + 1
        if self._level:
            self.headings.append((begin + 1, self._level, token.content))
            self._level = 0
        if not (self.prose and self.prose[-1] == (begin + 1, written)):
            self.prose.append((begin + 1, written))
        line = begin + 1
        for child in token.children or ():
            if child.type in ("softbreak", "hardbreak"):
                line += 1
            elif child.type == "code_inline":
                around = self._lines[line - 1] if line <= len(self._lines) else written
                self.spans.append(Span(line, child.content, around))
            elif child.type == "link_open":
                self.links.append(Link(line, str(child.attrs.get("href", ""))))
            elif child.type == "image":
                self.links.append(Link(line, str(child.attrs.get("src", ""))))
            elif child.type == "html_inline" and (match := _SKIP.search(child.content)):
                self._skip = match[1] or "its author says so"


_PAGES = (".md", ".markdown", ".rst")
_DOCS = {"docs", "doc", "documentation"}


def find_pages(root: Path) -> tuple[str, ...]:
    """The README and the pages in docs folders, relative to ``root``.

    A README in reStructuredText counts where there is none in Markdown.
    """
    paths = [path.relative_to(root).as_posix() for path in tree_files(root) if path.suffix.lower() in _PAGES]
    readmes = sorted(path for path in paths if "/" not in path and path.lower().startswith("readme"))
    markdown = [path for path in readmes if not path.lower().endswith(".rst")]
    docs = [
        path
        for path in sorted(paths)
        if PurePosixPath(path).parts[0].lower() in _DOCS
        and not path.lower().endswith(".rst")
        and is_page_for_readers(path)
    ]
    return (*(markdown or readmes), *docs)
