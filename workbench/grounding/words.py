"""Which of some wanted words are in a text of megabytes, and where one spelling stands in it exactly.

A text is cut into words by two passes in C (``bytes.translate`` and ``bytes.split``): a tenth of what a regular expression
takes. Only where all words of a spelling are there is the spelling itself looked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_IS_WORD = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_TABLE = bytes(code if code in _IS_WORD or code >= 0x80 else 0x20 for code in range(256))
_WORD = re.compile(r"[A-Za-z0-9_\x80-\U0010ffff]+")


def words_of(spelling: str) -> frozenset[bytes]:
    """Return the words that any text with this spelling has."""
    return frozenset(word.encode("utf-8", "surrogatepass") for word in _WORD.findall(spelling))


def present(text: bytes, wanted: frozenset[bytes]) -> frozenset[bytes]:
    """Return those of the wanted words that a text has."""
    return wanted.intersection(text.translate(_TABLE).split())


@lru_cache(maxsize=4_000)
def pattern(kind: str, spelling: str) -> re.Pattern[bytes]:
    """Return what finds a spelling as a whole: ``--top`` is not in ``--topmost``, ``3.1`` not in ``3.11``."""
    exact = re.escape(spelling.encode("utf-8", "surrogatepass"))
    match kind:
        case "option":
            return re.compile(rb"(?<![\w-])" + exact + rb"(?![\w-])")
        case "number":
            return re.compile(rb"(?<![\w.])v?" + exact + rb"(?![0-9_]|\.[0-9])")
        case "path":
            return re.compile(rb"(?<![\w-])" + exact + rb"(?![\w-]|\.\w)")
        case "attribute":
            return re.compile(exact + rb"(?!\w)")
        case "dependency":
            return re.compile(rb"(?<![\w.-])" + exact + rb"(?![\w]|-\w|\.[A-Za-z])", re.I)
        case "command":
            return re.compile(rb"(?<![\w-])" + exact + rb"(?![\w-])")
        case _:
            return re.compile(rb"(?<!\w)" + exact + rb"(?!\w)")


def line_of(text: bytes, at: int) -> int:
    """Return the line (from 1) of a byte."""
    return text.count(b"\n", 0, at) + 1


def lines_around(text: bytes, at: int, end: int, lines: int = 1) -> bytes:
    """Return the line of a place with ``lines`` more on each side."""
    first, last = at, end
    for _ in range(lines + 1):
        first = text.rfind(b"\n", 0, max(first, 0))
        last_found = text.find(b"\n", last + 1)
        last = len(text) if last_found < 0 else last_found
        if first < 0:
            first = 0
            break
    return text[max(first, at - 400) : min(last, end + 400)]


def union(parts: Iterable[frozenset[bytes]]) -> frozenset[bytes]:
    """Return all words of several sets."""
    return frozenset().union(*parts)
