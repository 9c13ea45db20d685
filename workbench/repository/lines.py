"""Handle Python source text: encodings, the kind of each physical line (even in invalid code), and indentation."""

from __future__ import annotations

import codecs
import itertools
import re
from dataclasses import dataclass
from enum import StrEnum

from workbench.base import python_syntax

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


def source_encoding(source: bytes) -> str:
    """Return the codec of ``source`` according to PEP 263, or UTF-8 if the cookie is missing or unknown."""
    if source.startswith(codecs.BOM_UTF8):
        return "utf-8"
    for line in re.split(rb"\r\n|\r|\n", source[:4096], maxsplit=2)[:2]:
        match = _COOKIE.match(line)
        if match:
            try:
                found = codecs.lookup(match[1].decode("ascii", "replace")).name
                "".encode(found)
            except (LookupError, TypeError):
                return "utf-8"
            return found
        if line.strip() and not line.lstrip().startswith(b"#"):
            break
    return "utf-8"


def line_start(source: bytes, position: int) -> int:
    return max(source.rfind(b"\n", 0, position), source.rfind(b"\r", 0, position)) + 1


def decode(source: bytes, encoding: str) -> str:
    """Decode without loss: undecodable bytes become lone surrogates, as in file names."""
    try:
        return source.decode(encoding, "surrogateescape")
    except (UnicodeError, LookupError):
        return source.decode("utf-8", "surrogateescape")


def encode(text: str, encoding: str) -> bytes:
    """Encode text as the inverse of ``decode``. Raises UnicodeEncodeError if the encoding lacks a character."""
    return text.encode(encoding, "surrogateescape")


def ascii_shadow(source: bytes, encoding: str) -> bytes:
    r"""Return bytes of the same length for tree-sitter, which expects UTF-8 and ends lines only at ``\n`` and ``\r\n``.

    In other encodings, each byte of a non-ASCII letter is replaced with ``x``, so that every offset stays valid.
    """
    if b"\r" in source:
        source = re.sub(rb"\r(?!\n)", b"\n", source)
    if source.isascii():
        return source
    try:
        source.decode("utf-8")
        if encoding == "utf-8":
            return source
    except UnicodeDecodeError:
        pass
    pieces: list[bytes] = []
    for character in decode(source, encoding):
        if character.isascii():
            pieces.append(character.encode())
        else:
            try:
                pieces.append(b"x" * len(encode(character, encoding)))
            except UnicodeError:
                pieces.append(b"x")
    shadow = b"".join(pieces)
    # With a stateful codec, the lengths may not add up; masking byte by byte is always safe.
    return shadow if len(shadow) == len(source) else re.sub(rb"[\x80-\xff]", b"x", source)


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
_INDENT = re.compile(r"[ \t\f]*")
# Matches one lexical step: the start of a string or comment, a bracket, or something that joins lines.
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
    CONTINUATION = "continuation"  # starts inside brackets or after a backslash
    STRING = "string"  # starts inside a multi-line string, so its bytes are content
    COMMENT = "comment"
    BLANK = "blank"


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A physical line: ``text`` includes the line ending, ``indent`` is leading white space."""

    text: str
    indent: str
    kind: LineKind

    @property
    def content(self) -> str:
        return self.text[len(self.indent) :].rstrip("\r\n")


def split_lines(text: str) -> list[str]:
    r"""Split only after ``\n``, ``\r\n`` and ``\r``, keeping them; ``str.splitlines`` also splits at form feeds."""
    return [piece for piece in _LINE.findall(text) if piece]


def read_lines(text: str) -> list[SourceLine]:
    """Return every physical line of ``text`` with its kind; never raises for invalid Python."""
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
    lines: list[SourceLine] = []
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
        lines.append(SourceLine(piece, indent, kind))
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


def base_indent(lines: list[SourceLine]) -> str:
    """Return the indentation of the first logical line, or of the first comment if there is no code."""
    for kind in (LineKind.CODE, LineKind.COMMENT):
        for line in lines:
            if line.kind is kind:
                return line.indent
    return ""


def reindent(text: str, target: str, unit: str) -> str:
    """Return ``text`` re-indented so that its first logical line is at ``target``, keeping relative indentation.

    Multi-line strings are preserved byte for byte. If the block's indentation uses characters other than ``unit`` (such
    as spaces in a file that uses tabs), each level is rewritten with ``unit``. A text that is already at ``target`` is
    unchanged.
    """
    lines = read_lines(text)
    base = base_indent(lines)
    inner = {line.indent.removeprefix(base) for line in lines if line.kind is LineKind.CODE}
    foreign = any(set(indent) - set(unit) for indent in inner)
    if base == target and (not foreign or _consistent(lines)):
        return text
    return _by_levels(lines, target, unit) if foreign else _by_prefix(lines, base, target)


def _consistent(lines: list[SourceLine]) -> bool:
    """Return whether adjacent logical lines have compatible indentation: one is a prefix of the other."""
    indents = [line.indent for line in lines if line.kind is LineKind.CODE]
    return all(a.startswith(b) or b.startswith(a) for a, b in itertools.pairwise(indents))


def _by_prefix(lines: list[SourceLine], base: str, target: str) -> str:
    moved: list[str] = []
    for line in lines:
        if line.kind is LineKind.STRING:
            moved.append(line.text)
        elif line.kind is LineKind.BLANK:
            moved.append(line.text.lstrip(" \t\f"))
        elif line.indent.startswith(base):
            moved.append(target + line.text[len(base) :])
        else:
            # Continuations and comments may start left of the block; a logical line there would be invalid anyway.
            shared = _shared(line.indent, base)
            moved.append(target[: max(0, len(target) - len(base) + len(shared))] + line.text[len(shared) :])
    return "".join(moved)


def _by_levels(lines: list[SourceLine], target: str, unit: str) -> str:
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
    """Return ``text`` with its first logical line at column 0, shifting the other lines except strings."""
    lines = read_lines(text)
    return _by_prefix(lines, base_indent(lines), "")
