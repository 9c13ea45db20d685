"""Replace a function's body or docstring without changing any other byte of the file.

The spans must come from ``functions.find_functions`` on the same bytes. A new body is text and is converted to the
function's indentation, line ends and encoding. Splicing in what ``body_text`` returns reproduces the file.
"""

from __future__ import annotations

import re
from typing import Protocol

from workbench.base.errors import WorkbenchError
from workbench.repository.encoding import decode, encode, source_encoding
from workbench.repository.functions import Function, Span, find_functions, literal_text
from workbench.repository.indentation import reindent
from workbench.repository.lines import LineKind, read_lines

_LINE_END = re.compile(r"\r\n|\r|\n")
#: What does not stand in a source as it is: Python reads a carriage return as a line feed, and refuses others.
_UNWRITTEN = re.compile(r"[\x00\x0c\r\x7f\ud800-\udfff]")
_TABS = re.compile(rb"^\t+[^\s#]", re.MULTILINE)


class SpliceError(WorkbenchError):
    """The text cannot be put into this file, for example because the file's encoding lacks a character."""


class Documented(Protocol):
    """What a docstring belongs to: a function, or a definition of :mod:`workbench.repository.definitions`."""

    @property
    def id(self) -> str: ...

    @property
    def span(self) -> Span: ...

    @property
    def header(self) -> Span: ...

    @property
    def docstring_span(self) -> Span | None: ...

    @property
    def body(self) -> Span:
        """What comes after the docstring, or after the header."""


def body_text(source: bytes, function: Function) -> str:
    """Return the text that `splice` replaces: from the end of the docstring or header to the end of the body."""
    return decode(source[function.body.start : function.body.end], source_encoding(source))


def splice(source: bytes, function: Function, body: str) -> bytes:
    """Return ``source`` with the body of ``function`` replaced; the docstring stays.

    ``body`` contains statements at any indentation, with or without a line end before them. If it is empty, only the
    docstring remains. The result is not checked to be valid Python; use ``lines.syntax_problem`` for that. SpliceError:
    the file's encoding lacks a character of ``body``.
    """
    start, end = function.body
    inline = _is_inline(source, function)
    if re.match(r"[ \t]*(?:;|\\[\r\n])", body) or (inline and _is_simple(body)):
        # One-line form: the body stays on the line of the colon or of the docstring's semicolon.
        head = source[:start]
        text = body if not body or body[0] in " \t;" else ("; " if function.docstring_span is not None else " ") + body
    elif inline:
        head = _without_body(source, function)
        text = _block(source, function, body) if body.strip() else ""
    else:
        head = source[:start]
        text = _block(source, function, body)
    return head + _to_bytes(source, function, text) + source[end:]


def replace_docstring(source: bytes, function: Function, docstring: str | None) -> bytes:
    r"""Return ``source`` with the docstring of ``function`` set to exactly ``docstring``, or removed when None.

    A removed docstring is replaced by ``pass`` if it was the whole body, or if its removal would turn the next string
    expression into a docstring. SpliceError: the file's encoding cannot hold the literal.
    """
    if docstring is None:
        return _without_docstring(source, function)
    return write_docstring(source, function, docstring)


def write_docstring(source: bytes, function: Documented, docstring: str) -> bytes:
    literal = _to_bytes(source, function, quote(docstring, source_encoding(source)))
    if function.docstring_span is not None:
        start, end = function.docstring_span
        return source[:start] + literal + source[end:]
    newline = _newline(source, function).encode()
    start, end = function.body
    target = body_indent(source, function).encode()
    head = source[:start] + newline + target + literal
    if not _is_inline(source, function):
        return head + source[start:]
    rest = re.sub(rb"^(?:[ \t\f]|\\\r?\n)+", b"", source[start:end])
    return head + (newline + target + rest if rest else b"") + source[end:]


def lay_out_docstring(source: bytes, function: Documented, text: str) -> str:
    """Return a docstring laid out for this function as in PEP 257: continuation lines at the body's indentation."""
    import inspect

    lines = inspect.cleandoc(text).split("\n")
    if len(lines) == 1:
        return lines[0]
    indent = body_indent(source, function)
    return "\n".join([lines[0], *(indent + line if line.strip() else "" for line in lines[1:]), indent])


def quote(text: str, encoding: str = "utf-8") -> str:
    r"""Return ``text`` as a docstring literal: in plain triple quotes if possible, else raw, else escaped."""
    plain = not _UNWRITTEN.search(text) and _encodable(text, encoding)
    if plain:
        for literal in (f'"""{text}"""', f"'''{text}'''"):
            if "\\" not in text and literal_text(literal) == text:
                return literal
        for literal in (f'r"""{text}"""', f"r'''{text}'''"):
            if "\\" in text and literal_text(literal) == text:
                return literal
    escaped = re.sub(r'"{3,}|"+\Z', lambda match: '\\"' * len(match[0]), text.replace("\\", "\\\\"))
    escaped = _UNWRITTEN.sub(lambda match: _escape(match[0]), escaped)
    if not _encodable(escaped, encoding):
        escaped = "".join(c if _encodable(c, encoding) else _escape(c) for c in escaped)
    return f'"""{escaped}"""'


def body_indent(source: bytes, function: Documented) -> str:
    """Return the indentation of the statements of ``function``; for a one-line body, what it would be."""
    header = _line_indent(source, function.span.start)
    if not _is_inline(source, function):
        region = decode(source[function.header.end : function.body.end], source_encoding(source))
        for line in read_lines(region)[1:]:
            if line.kind is LineKind.CODE:
                return line.indent.rpartition("\f")[2]
    return header + indent_unit(source, header)


def indent_unit(source: bytes, header: str = "") -> str:
    """Return one level of indentation in this file: a tab if it uses tabs, else two to eight spaces."""
    if header:
        return "\t" if "\t" in header else (header if len(header) in (2, 3, 4) else "    ")
    if _TABS.search(source):
        return "\t"
    match = re.search(rb":[ \t]*(?:#[^\r\n]*)?\r?\n( {2,8})[^\s#]", source)
    return match[1].decode() if match else "    "


def _is_inline(source: bytes, function: Documented) -> bool:
    """Whether the body begins on the header's logical line, as in ``def f(): return 1``."""
    end = function.body.end
    if function.docstring_span is not None:
        between = source[function.header.end : function.docstring_span.start]
    else:
        gap = re.match(rb"(?:[ \t\f]|\\\r?\n|\\\r)*", source[function.body.start : end])
        between = gap[0] if gap else b""
        if function.body.start + len(between) < end and source[function.body.start + len(between)] in b"\r\n":
            return False
        return function.body.start < end
    return not re.search(rb"(?<!\\)(?:\r\n|\n|\r(?!\n))", between)


def _is_simple(body: str) -> bool:
    """Whether ``body`` is one logical line of simple statements, which may follow a colon."""
    stripped = body.strip()
    lines = [line for line in read_lines(stripped) if line.kind in (LineKind.CODE, LineKind.COMMENT)]
    if len(lines) != 1 or lines[0].kind is LineKind.COMMENT or body[:1] in "\r\n":
        return not stripped
    return not re.match(r"(?:if|for|while|with|try|def|class|async|match|@)\b", lines[0].content)


def _without_body(source: bytes, function: Function) -> bytes:
    """Return the file up to the function's body, with an inline docstring moved to its own line."""
    if function.docstring_span is None:
        return source[: function.body.start]
    newline = _newline(source, function).encode()
    target = body_indent(source, function).encode()
    literal = source[function.docstring_span.start : function.docstring_span.end]
    return source[: function.header.end] + newline + target + literal


def _block(source: bytes, function: Function, body: str) -> str:
    target = body_indent(source, function)
    header = _line_indent(source, function.span.start)
    unit = target.removeprefix(header) if target.startswith(header) and target != header else indent_unit(source)
    text = reindent(body.rstrip(), target, unit)
    if not text.strip():
        return ""
    # An original body already starts with the rest of the header's line and its line end.
    return text if re.match(r"[ \t\f]*[\r\n]", text) else _newline(source, function) + text


def _to_bytes(source: bytes, function: Documented, text: str) -> bytes:
    region = source[function.span.start : function.span.end]
    has_crlf = b"\r\n" in region if re.search(rb"[\r\n]", region) else b"\r\n" in source
    if has_crlf and not re.search(rb"(?<!\r)\n", region):
        text = _LINE_END.sub("\r\n", text)
    elif b"\r" not in source:
        text = _LINE_END.sub("\n", text)
    encoding = source_encoding(source)
    try:
        return encode(text, encoding)
    except UnicodeError as error:
        raise SpliceError(
            f"{function.id} cannot take this text: the file is in {encoding}, which lacks a character ({error})."
        ) from error


def _newline(source: bytes, function: Documented) -> str:
    match = re.search(rb"\r\n|\n|\r", source[function.span.start : function.span.end]) or re.search(
        rb"\r\n|\n|\r", source
    )
    return match[0].decode() if match else "\n"


def _line_indent(source: bytes, position: int) -> str:
    start = max(source.rfind(b"\n", 0, position), source.rfind(b"\r", 0, position)) + 1
    line = source[start:position].removeprefix(b"\xef\xbb\xbf")
    match = re.match(rb"[ \t\f]*", line)
    return match[0].decode().rpartition("\f")[2] if match else ""


def _without_docstring(source: bytes, function: Function) -> bytes:
    removed = remove_literal(source, function)
    return removed if _removed_only_docstring(removed, function) else remove_literal(source, function, b"pass")


def remove_literal(source: bytes, function: Documented, instead: bytes = b"") -> bytes:
    """Return ``source`` without the docstring's literal, and without its line if that holds nothing else.

    ``instead`` is a statement that takes its place, as the whole body or before another string.
    """
    span = function.docstring_span
    if span is None:
        return source
    placeholder = source[: span.start] + b"pass" + source[span.end :]
    if instead:
        return source[: span.start] + instead + source[span.end :]
    rest = re.match(rb"[ \t\f]*(;[ \t]*)?(#[^\r\n]*)?(\r\n|\n|\r|$)?", source[span.end :])
    semicolon, comment, line_end = rest.groups() if rest else (None, None, None)
    removed = placeholder
    if semicolon and comment is None and line_end is None:
        removed = source[: span.start] + source[span.end + rest.end() :] if rest else placeholder
    elif not semicolon and comment is None and line_end is not None and not _is_inline(source, function):
        line_start = max(source.rfind(b"\n", 0, span.start), source.rfind(b"\r", 0, span.start)) + 1
        if not source[line_start : span.start].strip():
            removed = source[:line_start] + source[span.end + (rest.end() if rest else 0) :]
    elif comment is not None and not semicolon:
        removed = source[: span.start] + source[span.end :].lstrip(b" \t")
    return removed


def _removed_only_docstring(source: bytes, function: Function) -> bool:
    for found in find_functions(source, function.path):
        if (found.qualified_name, found.occurrence) == (function.qualified_name, function.occurrence):
            before, after = found.body
            has_code = bool(source[before:after].strip()) and not found.has_syntax_error
            return found.docstring is None and has_code and _has_statement(source, found)
    return False


def _has_statement(source: bytes, function: Function) -> bool:
    return any(line.kind is LineKind.CODE and line.content for line in read_lines(body_text(source, function)))


def _encodable(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeError:
        return False
    return True


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
