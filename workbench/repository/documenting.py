"""Put docstrings into a whole file; not one byte of code changes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from workbench.repository.definitions import Definition, DefinitionKey, find_definitions
from workbench.repository.encoding import encode, source_encoding
from workbench.repository.functions import Reading
from workbench.repository.splicing import SpliceError, lay_out_docstring, quote, remove_literal, write_docstring

if TYPE_CHECKING:
    from tree_sitter import Node

_DEFINITIONS = ("function_definition", "class_definition", "decorated_definition")
_KEPT_COMMENT = re.compile(rb"#!|#.*?coding[:=]")  # for the system and for Python; in the first two lines


def document(source: bytes, path: str, docstring: Callable[[DefinitionKey], str | None]) -> bytes:
    """Return the file with exactly the docstrings that ``docstring`` gives for its definitions, None for none.

    An unchanged one stays as it is written; any other is laid out as in PEP 257.

    Raises:
        SpliceError: The file's encoding lacks a character, or a docstring cannot be taken out of what does not parse.
    """
    definitions = find_definitions(source, path)
    wanted = {one.key: docstring(one.key) for one in definitions}
    changed = _written(source, definitions, wanted, frozenset())
    stubborn = _still_there(changed, path, wanted)
    if stubborn:
        changed = _written(source, definitions, wanted, stubborn)
        if left := _still_there(changed, path, wanted):
            raise SpliceError(f"The docstring of {sorted(left)[0].text} in {path} cannot be taken out.")
    return changed


def _still_there(source: bytes, path: str, wanted: dict[DefinitionKey, str | None]) -> frozenset[DefinitionKey]:
    found = {one.key: one.docstring for one in find_definitions(source, path)}
    return frozenset(key for key, text in wanted.items() if text is None and found.get(key, "") is not None)


def _written(
    source: bytes,
    definitions: tuple[Definition, ...],
    wanted: dict[DefinitionKey, str | None],
    by_pass: frozenset[DefinitionKey],
) -> bytes:
    # From the end of the file to its beginning, so that the spans of what is left stay valid.
    for one in sorted(definitions, key=_place, reverse=True):
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


def _place(one: Definition) -> int:
    # The module's comes before that of whatever begins at the same byte.
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
    encoding = source_encoding(source)
    try:
        written = encode(literal.replace("\n", newline), encoding)
    except UnicodeError as error:
        raise SpliceError(f"{module.id} cannot take this text: the file is in {encoding} ({error}).") from error
    if span is not None:
        return source[: span.start] + written + source[span.end :]
    start = module.header.end
    before = newline.encode() if start and source[start - 1 : start] not in (b"\n", b"\r", b"\xbf") else b""
    return source[:start] + before + written + newline.encode() + source[start:]


def without_other_texts(source: bytes, path: str) -> bytes:
    """Return a file without what documents its code beside docstrings.

    Gone are strings that stand alone (behind attributes, behind a docstring), assignments of texts to ``__doc__``, and
    the comments right above a function or class, or between its decorators.
    """
    docstrings = {one.docstring_span.start for one in find_definitions(source, path) if one.docstring_span is not None}
    root = Reading(source).root
    statements = [node for node in _inside(root) if node.type == "expression_statement"]
    gone = [node for node in statements if node.start_byte not in docstrings and _is_other_text(node)]
    ids = {node.id for node in gone}
    spans = [(comment.start_byte, comment.end_byte, b"") for comment in _comments_above(root, source)]
    for node in gone:
        siblings = node.parent.named_children if node.parent is not None else []
        rest = [one for one in siblings if one.type != "comment" and one.id not in ids]
        is_needed = not rest and node.parent is not None and node.parent.type == "block"
        spans.append((node.start_byte, node.end_byte, b"pass" if is_needed else b""))
    for start, end, instead in sorted(spans, reverse=True):
        line = max(source.rfind(b"\n", 0, start), source.rfind(b"\r", 0, start)) + 1
        after = re.compile(rb"[ \t\f]*(?:\r\n|\n|\r|\Z)").match(source, end)
        if not instead and after is not None and not source[line:start].strip():
            source = source[:line] + source[after.end() :]
        else:
            # Beside other code on its line a statement cannot just go.
            source = source[:start] + b"pass" + source[end:]
    return source


def _inside(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(one.named_children)


def _is_other_text(statement: Node) -> bool:
    inner = statement.named_children[0] if len(statement.named_children) == 1 else None
    if inner is None:
        return False
    if inner.type in ("assignment", "augmented_assignment"):
        left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
        name = left.child_by_field_name("attribute") or left if left is not None else None
        if name is None or name.text != b"__doc__" or right is None:
            return False
        return any(one.type == "string" for one in _inside(right))
    while inner.type == "parenthesized_expression" and inner.named_children:
        inner = inner.named_children[0]
    # An f-string evaluates what is in its braces.
    is_text = inner.type in ("string", "concatenated_string")
    return is_text and not any(one.type == "interpolation" for one in _inside(inner))


def _comments_above(root: Node, source: bytes) -> Iterator[Node]:
    comments: dict[int, Node] = {}
    definitions: list[Node] = []
    for node in _inside(root):
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
            if row > 1 or not _KEPT_COMMENT.match(source, comment.start_byte):
                yield comment
