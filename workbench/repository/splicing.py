"""Replace a function's body or docstring without changing any other byte of the file.

The spans must come from ``functions.find_functions`` on the same bytes. A new body is given as text and converted to
the function's indentation, line endings and encoding. Splicing in the result of ``body_text`` reproduces the file.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.repository.functions import (
    Definition,
    DefinitionKey,
    Documentable,
    Function,
    find_definitions,
    functions_by_name,
    literal_text,
    syntax_tree,
)
from workbench.repository.lines import LineKind, decode, encode, line_start, read_lines, reindent, source_encoding

if TYPE_CHECKING:
    from tree_sitter import Node


_LINE_END = re.compile(r"\r\n|\r|\n")
#: Characters that a literal must escape: Python converts carriage returns to line feeds, and rejects the others.
_ESCAPED = re.compile(r"[\x00\x0c\r\x7f\ud800-\udfff]")
_TABS = re.compile(rb"^\t+[^\s#]", re.MULTILINE)


class SpliceError(WorkbenchError):
    """The text cannot be put into this file, for example because the file's encoding lacks a character."""


def body_text(source: bytes, function: Function) -> str:
    """Return the text that `splice` replaces, from the end of the docstring or header to the end of the body."""
    return decode(source[function.body.start : function.body.end], source_encoding(source))


def splice(source: bytes, function: Function, body: str) -> bytes:
    """Return ``source`` with the body of ``function`` replaced; the docstring is preserved.

    ``body`` contains statements at any indentation, optionally preceded by a line ending. If it is empty, only the
    docstring remains. The result is not checked for valid Python; use ``lines.syntax_problem`` for that. Raises
    SpliceError if the file's encoding lacks a character of ``body``.
    """
    start, end = function.body
    inline = _is_inline(source, function)
    if re.match(r"[ \t]*(?:;|\\[\r\n])", body) or (inline and _is_simple(body)):
        # In one-line form, the body stays on the line of the colon, or of the semicolon after the docstring.
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
    r"""Return ``source`` with the docstring of ``function`` set to exactly ``docstring``, or removed if it is None.

    A removed docstring is replaced with ``pass`` if it was the whole body, or if the next string expression would
    become the docstring. Raises SpliceError if the file's encoding lacks a character of the literal.
    """
    if docstring is None:
        return _without_docstring(source, function)
    return write_docstring(source, function, docstring)


def write_docstring(source: bytes, function: Documentable, docstring: str) -> bytes:
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


def lay_out_docstring(source: bytes, function: Documentable, text: str) -> str:
    """Return a docstring laid out as in PEP 257, with continuation lines at the indentation of the function's body."""
    import inspect

    lines = inspect.cleandoc(text).split("\n")
    if len(lines) == 1:
        return lines[0]
    indent = body_indent(source, function)
    return "\n".join([lines[0], *(indent + line if line.strip() else "" for line in lines[1:]), indent])


def quote(text: str, encoding: str = "utf-8") -> str:
    """Return ``text`` as a docstring literal: in plain triple quotes if possible, or else raw or escaped."""
    plain = not _ESCAPED.search(text) and _encodable(text, encoding)
    if plain:
        for literal in (f'"""{text}"""', f"'''{text}'''"):
            if "\\" not in text and literal_text(literal) == text:
                return literal
        for literal in (f'r"""{text}"""', f"r'''{text}'''"):
            if "\\" in text and literal_text(literal) == text:
                return literal
    escaped = re.sub(r'"{3,}|"+\Z', lambda match: '\\"' * len(match[0]), text.replace("\\", "\\\\"))
    escaped = _ESCAPED.sub(lambda match: _escape(match[0]), escaped)
    if not _encodable(escaped, encoding):
        escaped = "".join(c if _encodable(c, encoding) else _escape(c) for c in escaped)
    return f'"""{escaped}"""'


def body_indent(source: bytes, function: Documentable) -> str:
    """Return the indentation of the statements in ``function``, or the usual one for a one-line body."""
    header = _line_indent(source, function.span.start)
    if not _is_inline(source, function):
        region = decode(source[function.header.end : function.body.end], source_encoding(source))
        for line in read_lines(region)[1:]:
            if line.kind is LineKind.CODE:
                return line.indent.rpartition("\f")[2]
    return header + indent_unit(source, header)


def indent_unit(source: bytes, header: str = "") -> str:
    """Return one level of indentation in this file: a tab if it uses tabs, otherwise two to eight spaces."""
    if header:
        return "\t" if "\t" in header else (header if len(header) in (2, 3, 4) else "    ")
    if _TABS.search(source):
        return "\t"
    match = re.search(rb":[ \t]*(?:#[^\r\n]*)?\r?\n( {2,8})[^\s#]", source)
    return match[1].decode() if match else "    "


def _is_inline(source: bytes, function: Documentable) -> bool:
    """Return whether the body begins on the header's logical line, as in ``def f(): return 1``."""
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
    """Return whether ``body`` is one logical line of simple statements, which may follow a colon."""
    stripped = body.strip()
    lines = [line for line in read_lines(stripped) if line.kind in (LineKind.CODE, LineKind.COMMENT)]
    if len(lines) != 1 or lines[0].kind is LineKind.COMMENT or body[:1] in "\r\n":
        return not stripped
    return not re.match(r"(?:if|for|while|with|try|def|class|async|match|@)\b", lines[0].content)


def _without_body(source: bytes, function: Function) -> bytes:
    """Return the file up to the function's body, with an inline docstring moved to a line of its own."""
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
    # An original body already starts with the rest of the header's line and its line ending.
    return text if re.match(r"[ \t\f]*[\r\n]", text) else _newline(source, function) + text


def _to_bytes(source: bytes, function: Documentable, text: str) -> bytes:
    region = source[function.span.start : function.span.end]
    has_crlf = b"\r\n" in region if re.search(rb"[\r\n]", region) else b"\r\n" in source
    if has_crlf and not re.search(rb"(?<!\r)\n", region):
        text = _LINE_END.sub("\r\n", text)
    elif b"\r" not in source:
        text = _LINE_END.sub("\n", text)
    return _encoded(source, function, text)


def _encoded(source: bytes, function: Documentable, text: str) -> bytes:
    encoding = source_encoding(source)
    try:
        return encode(text, encoding)
    except UnicodeError as error:
        raise SpliceError(
            f"The text cannot be written into {function.id}: the file's encoding {encoding} lacks a character ({error})."
        ) from error


def _newline(source: bytes, function: Documentable) -> str:
    match = re.search(rb"\r\n|\n|\r", source[function.span.start : function.span.end]) or re.search(
        rb"\r\n|\n|\r", source
    )
    return match[0].decode() if match else "\n"


def _line_indent(source: bytes, position: int) -> str:
    line = source[line_start(source, position) : position].removeprefix(b"\xef\xbb\xbf")
    match = re.match(rb"[ \t\f]*", line)
    return match[0].decode().rpartition("\f")[2] if match else ""


def _without_docstring(source: bytes, function: Function) -> bytes:
    removed = remove_literal(source, function)
    return removed if _removed_only_docstring(removed, function) else remove_literal(source, function, b"pass")


def remove_literal(source: bytes, function: Documentable, instead: bytes = b"") -> bytes:
    """Return ``source`` without the docstring's literal, and without its line if nothing else is on it.

    ``instead`` is a replacement statement, required if the docstring is the whole body or another string follows.
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
        begin = line_start(source, span.start)
        if not source[begin : span.start].strip():
            removed = source[:begin] + source[span.end + (rest.end() if rest else 0) :]
    elif comment is not None and not semicolon:
        removed = source[: span.start] + source[span.end :].lstrip(b" \t")
    return removed


def _removed_only_docstring(source: bytes, function: Function) -> bool:
    found = functions_by_name(source, function.path).get((function.qualified_name, function.occurrence))
    if found is None or found.docstring is not None or found.has_syntax_error:
        return False
    return any(line.kind is LineKind.CODE and line.content for line in read_lines(body_text(source, found)))


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


_DEFINITIONS = ("function_definition", "class_definition", "decorated_definition")
_SPECIAL_COMMENT = re.compile(rb"#!|#.*?coding[:=]")  # the shebang and encoding lines, if within the first two lines


def document(source: bytes, path: str, docstring: Callable[[DefinitionKey], str | None]) -> bytes:
    """Return the file with exactly the docstrings that ``docstring`` returns for its definitions; None removes one.

    The literal of an unchanged docstring is preserved; any other docstring is laid out as in PEP 257.

    Raises:
        SpliceError: The encoding lacks a character, or a docstring must be removed from a file that does not parse.
    """
    definitions = find_definitions(source, path)
    wanted = {one.key: docstring(one.key) for one in definitions}
    changed = _replace_docstrings(source, definitions, wanted, frozenset())
    # Removing a docstring can turn the next string into one; `pass` has to replace it there.
    remaining = _not_removed(changed, path, wanted)
    if remaining:
        changed = _replace_docstrings(source, definitions, wanted, remaining)
        if left := _not_removed(changed, path, wanted):
            raise SpliceError(f"The docstring of {sorted(left)[0].text} in {path} cannot be removed.")
    return changed


def _not_removed(source: bytes, path: str, wanted: dict[DefinitionKey, str | None]) -> frozenset[DefinitionKey]:
    found = {one.key: one.docstring for one in find_definitions(source, path)}
    return frozenset(key for key, text in wanted.items() if text is None and found.get(key, "") is not None)


def _replace_docstrings(
    source: bytes,
    definitions: tuple[Definition, ...],
    wanted: dict[DefinitionKey, str | None],
    by_pass: frozenset[DefinitionKey],
) -> bytes:
    # Work from the end of the file to its start, so that the spans of the remaining definitions stay valid.
    for one in sorted(definitions, key=_docstring_position, reverse=True):
        text = wanted[one.key]
        if text == one.docstring:
            continue
        if one.key.kind == "module":
            source = _in_module(source, one, text)
        elif text is not None:
            source = write_docstring(source, one, lay_out_docstring(source, one, text))
        else:
            source = remove_literal(source, one, b"pass" if one.needs_something or one.key in by_pass else b"")
    return source


def _docstring_position(one: Definition) -> int:
    # The module's docstring precedes the docstring of a definition at the same byte.
    position = one.docstring_span.start if one.docstring_span is not None else one.body.start
    return -1 if one.key.kind == "module" else position


def _in_module(source: bytes, module: Definition, text: str | None) -> bytes:
    span = module.docstring_span
    if text is None:
        if span is None:
            return source
        if module.needs_something:
            return source[: span.start] + b"pass" + source[span.end :]
        rest = re.match(rb"[ \t\f]*(?:;[ \t]*|(?:\r\n|\n|\r))?", source[span.end :])
        return source[: span.start] + source[span.end + (rest.end() if rest else 0) :]
    lines = inspect.cleandoc(text).split("\n")
    literal = quote("\n".join(lines if len(lines) == 1 else [*lines, ""]), source_encoding(source))
    newline = "\r\n" if b"\r\n" in source else "\n"
    encoded = _encoded(source, module, literal.replace("\n", newline))
    if span is not None:
        return source[: span.start] + encoded + source[span.end :]
    start = module.header.end
    before = newline.encode() if start and source[start - 1 : start] not in (b"\n", b"\r", b"\xbf") else b""
    return source[:start] + before + encoded + newline.encode() + source[start:]


def without_other_texts(source: bytes, path: str) -> bytes:
    """Remove documentation other than docstrings from a file.

    This includes string statements (after attributes or a docstring), assignments of strings to ``__doc__``, and
    comments directly above a function or class or between its decorators.
    """
    docstrings = {one.docstring_span.start for one in find_definitions(source, path) if one.docstring_span is not None}
    root = syntax_tree(source)
    statements = [node for node in _descendants(root) if node.type == "expression_statement"]
    removed = [node for node in statements if node.start_byte not in docstrings and _is_other_text(node)]
    ids = {node.id for node in removed}
    spans = [(comment.start_byte, comment.end_byte, b"") for comment in _comments_above(root, source)]
    for node in removed:
        siblings = node.parent.named_children if node.parent is not None else []
        rest = [one for one in siblings if one.type != "comment" and one.id not in ids]
        is_needed = not rest and node.parent is not None and node.parent.type == "block"
        spans.append((node.start_byte, node.end_byte, b"pass" if is_needed else b""))
    for start, end, instead in sorted(spans, reverse=True):
        line = line_start(source, start)
        after = re.compile(rb"[ \t\f]*(?:\r\n|\n|\r|\Z)").match(source, end)
        if not instead and after is not None and not source[line:start].strip():
            source = source[:line] + source[after.end() :]
        else:
            # A statement that shares its line with other code needs a replacement.
            source = source[:start] + b"pass" + source[end:]
    return source


def _descendants(node: Node) -> Iterator[Node]:
    pending = [node]
    while pending:
        one = pending.pop()
        yield one
        pending.extend(one.named_children)


def _is_other_text(statement: Node) -> bool:
    inner = statement.named_children[0] if len(statement.named_children) == 1 else None
    if inner is None:
        return False
    if inner.type in ("assignment", "augmented_assignment"):
        left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
        name = left.child_by_field_name("attribute") or left if left is not None else None
        if name is None or name.text != b"__doc__" or right is None:
            return False
        return any(one.type == "string" for one in _descendants(right))
    while inner.type == "parenthesized_expression" and inner.named_children:
        inner = inner.named_children[0]
    # An f-string may have side effects.
    is_text = inner.type in ("string", "concatenated_string")
    return is_text and not any(one.type == "interpolation" for one in _descendants(inner))


def _comments_above(root: Node, source: bytes) -> Iterator[Node]:
    comments: dict[int, Node] = {}
    definitions: list[Node] = []
    for node in _descendants(root):
        row, column = node.start_point
        if node.type == "comment" and not source[node.start_byte - column : node.start_byte].strip():
            comments[row] = node
        elif node.type in _DEFINITIONS:
            definitions.append(node)
    for one in definitions:
        inner = one.child_by_field_name("definition") or one
        rows = [row for row in range(one.start_point[0], inner.start_point[0]) if row in comments]
        row = one.start_point[0] - 1
        while row in comments:
            rows.append(row)
            row -= 1
        for row in rows:
            comment = comments.pop(row)
            if row > 1 or not _SPECIAL_COMMENT.match(source, comment.start_byte):
                yield comment
