"""Decode and encode Python sources: encoding cookies, byte order marks, and bytes that are not valid text."""

from __future__ import annotations

import codecs
import re

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


def source_encoding(source: bytes) -> str:
    """Return the codec of ``source`` according to PEP 263; UTF-8 where the cookie is missing or unknown."""
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


def decode(source: bytes, encoding: str) -> str:
    """Decode without loss: undecodable bytes become lone surrogates, as in file names."""
    try:
        return source.decode(encoding, "surrogateescape")
    except (UnicodeError, LookupError):
        return source.decode("utf-8", "surrogateescape")


def encode(text: str, encoding: str) -> bytes:
    """Encode text as the inverse of ``decode``. UnicodeEncodeError: the file's encoding lacks a character."""
    return text.encode(encoding, "surrogateescape")


def ascii_shadow(source: bytes, encoding: str) -> bytes:
    r"""Return bytes of the same length for tree-sitter, which reads UTF-8 and ends lines at ``\n`` and ``\r\n`` only.

    In other encodings each byte of a letter beyond ASCII becomes an ``x``, so that every offset stays true.
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
    # With a stateful codec the lengths may not add up; masking byte by byte is always safe.
    return shadow if len(shadow) == len(source) else re.sub(rb"[\x80-\xff]", b"x", source)
