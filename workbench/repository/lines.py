"""Classify the physical lines of Python text, even if it does not parse."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from workbench.base import python_syntax

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
_INDENT = re.compile(r"[ \t\f]*")
# One lexical step: the start of a string or comment, a bracket, or something that joins lines.
_STEP = re.compile(
    r"(?P<comment>\#[^\r\n]*)"
    r"|(?P<quote>(?P<prefix>(?<![A-Za-z0-9_])[A-Za-z]{1,2})?(?P<mark>\"\"\"|'''|\"|'))"
    r"|(?P<open>[(\[{])|(?P<close>[)\]}])"
    r"|(?P<join>\\(?:\r\n|\r|\n))"
    r"|(?P<newline>\r\n|\r|\n)"
)
_ENDS = {
    '"': re.compile(r"(?:[^\"\\\r\n]|\\(?:\r\n|.))*(?:\"|(?=[\r\n])|$)", re.DOTALL),
    "'": re.compile(r"(?:[^'\\\r\n]|\\(?:\r\n|.))*(?:'|(?=[\r\n])|$)", re.DOTALL),
    '"""': re.compile(r'(?:[^"\\]|\\.|"(?!""))*(?:"""|$)', re.DOTALL),
    "'''": re.compile(r"(?:[^'\\]|\\.|'(?!''))*(?:'''|$)", re.DOTALL),
}


class LineKind(StrEnum):
    """The lexical state in which a physical line begins."""

    CODE = "code"  # starts a logical line
    CONTINUATION = "continuation"  # inside brackets or after a backslash
    STRING = "string"  # begins inside a multi-line string: its bytes are content
    COMMENT = "comment"
    BLANK = "blank"


@dataclass(frozen=True, slots=True)
class Line:
    """One physical line: ``text`` with its line end, ``indent`` its leading white space, ``kind`` what it begins as."""

    text: str
    indent: str
    kind: LineKind

    @property
    def content(self) -> str:
        return self.text[len(self.indent) :].rstrip("\r\n")


def split_lines(text: str) -> list[str]:
    r"""Split at ``\n``, ``\r\n`` and ``\r`` only, line ends kept; ``str.splitlines`` also splits at form feeds."""
    return [piece for piece in _LINE.findall(text) if piece]


def read_lines(text: str) -> list[Line]:
    """Return every physical line of ``text`` with its kind; never raises on invalid Python."""
    starts: dict[int, LineKind] = {}
    depth = 0
    position = 0
    while step := _STEP.search(text, position):
        position = step.end()
        if step["quote"]:
            ending = _ENDS[step["mark"]].match(text, position)
            end = ending.end() if ending else len(text)
            for inner in re.finditer(r"\r\n|\r|\n", text[position:end]):
                starts[position + inner.end()] = LineKind.STRING
            position = end
        elif step["open"]:
            depth += 1
        elif step["close"]:
            depth = max(0, depth - 1)
        elif step["join"] or (step["newline"] and depth):
            starts[position] = LineKind.CONTINUATION
    lines: list[Line] = []
    offset = 0
    for piece in split_lines(text):
        indent = _INDENT.match(piece)[0]  # type: ignore[index]  # the pattern matches the empty string
        kind = starts.get(offset)
        rest = piece[len(indent) :].strip("\r\n")
        if kind is not LineKind.STRING:
            if not rest:
                kind = LineKind.BLANK
            elif kind is None:
                kind = LineKind.COMMENT if rest.startswith("#") else LineKind.CODE
        lines.append(Line(piece, indent, kind))
        offset += len(piece)
    return lines


def syntax_problem(source: bytes | str) -> str | None:
    """Return a one-line description of a Python source's syntax error, or None if it parses."""
    try:
        python_syntax.parse(source)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}" if error.lineno else str(error.msg)
    except (ValueError, RecursionError, MemoryError, LookupError) as error:
        return f"Python cannot read it: {error or type(error).__name__}"
    return None
