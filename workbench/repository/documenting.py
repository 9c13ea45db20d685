"""Put docstrings into a whole file: module, classes and functions at once, and not one byte of code changes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

from workbench.repository.definitions import Definition, DefinitionKey, find_definitions
from workbench.repository.encoding import encode, source_encoding
from workbench.repository.splicing import SpliceError, lay_out_docstring, quote, remove_literal, write_docstring


def document(source: bytes, path: str, docstring: Callable[[DefinitionKey], str | None]) -> bytes:
    """Return a file in which every definition has the docstring that it is to have, and none that it is not to have.

    Args:
        source: The file.
        path: Its path, for messages.
        docstring: Gives each definition's docstring, None for none. One that is there already stays as it is written;
            any other is laid out as in PEP 257.

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
    """Return what has a docstring, or is gone, though it is to have none."""
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
