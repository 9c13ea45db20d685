"""Which of some wanted words are in a text of megabytes, and where one spelling stands in it exactly.

A text is cut into words by two passes in C (``bytes.translate`` and ``bytes.split``): a tenth of what a regular expression
takes. Only where all words of a spelling are there is the spelling itself looked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_IS_WORD = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_TABLE = bytes(code if code in _IS_WORD or code >= 0x80 else 0x20 for code in range(256))
_WORD = re.compile(r"[A-Za-z0-9_\x80-\U0010ffff]+")


def words_of(spelling: str) -> frozenset[bytes]:
    """Return the words that any text with this spelling has."""
    return frozenset(word.encode("utf-8", "surrogatepass") for word in _WORD.findall(spelling))


def present(text: bytes, wanted: frozenset[bytes]) -> frozenset[bytes]:
    """Return those of the wanted words that a text has."""
    return wanted.intersection(text.translate(_TABLE).split())


_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_DIGITS = frozenset(b"0123456789")
_WORDS = frozenset(_IS_WORD) | frozenset(range(0x80, 0x100))
_DASH, _DOT, _V = b"-.v"
# What may not stand right before and right behind a spelling, and what may not follow a dot or dash behind it.
_BEFORE = {"option": {*_WORDS, _DASH}, "path": {*_WORDS, _DASH}, "command": {*_WORDS, _DASH}, "attribute": set(),
           "dependency": {*_WORDS, _DASH, _DOT}, "number": {*_WORDS, _DOT}}  # fmt: skip
_BEHIND = {
    "option": {*_WORDS, _DASH},
    "path": {*_WORDS, _DASH},
    "command": {*_WORDS, _DASH},
    "number": {*_DIGITS, ord("_")},
}
_AFTER_DOT = {"path": _WORDS, "dependency": _LETTERS, "number": _DIGITS}
_AFTER_DASH = {"dependency": _WORDS}


def places_of(kind: str, spelling: str, text: bytes) -> Iterator[tuple[int, int]]:
    """Yield where a spelling stands as a whole: ``--top`` is not in ``--topmost``, ``3.1`` not in ``3.11``.

    ``bytes.find`` and a look at two bytes: a pattern with a look-behind tries every place of the text.
    """
    exact = spelling.encode("utf-8", "surrogatepass")
    before, behind = _BEFORE.get(kind, _WORDS), _BEHIND.get(kind, _WORDS)
    after_dot, after_dash = _AFTER_DOT.get(kind, frozenset()), _AFTER_DASH.get(kind, frozenset())
    at = text.find(exact)
    while at >= 0:
        end = at + len(exact)
        first = at - 1
        if kind == "number" and first >= 0 and text[first] == _V:
            first -= 1
        if (first < 0 or text[first] not in before) and (end >= len(text) or text[end] not in behind):
            after = text[end + 1] if end + 1 < len(text) else -1
            mark = text[end] if end < len(text) else -1
            if not ((mark == _DOT and after in after_dot) or (mark == _DASH and after in after_dash)):
                yield at, end
        at = text.find(exact, at + 1)


def has_beginning(text: bytes, stems: frozenset[str]) -> bool:
    """Tell whether a word, or a part of a name, begins with one of some stems; a text of a few lines."""
    low = text.lower()
    for stem in stems:
        exact = stem.encode("utf-8", "surrogatepass")
        at = low.find(exact)
        while at >= 0:
            if at == 0 or low[at - 1] not in _LETTERS:
                return True
            at = low.find(exact, at + 1)
    return False


def line_of(text: bytes, at: int) -> int:
    """Return the line (from 1) of a byte."""
    return text.count(b"\n", 0, at) + 1


def union(parts: Iterable[frozenset[bytes]]) -> frozenset[bytes]:
    """Return all words of several sets."""
    return frozenset().union(*parts)
